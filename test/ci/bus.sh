#!/usr/bin/env bash
# The examples of bus/examples, in Python and Node, against a daemon of their own:
# what bus/help/bus.md promises to other people's programs. WRIT_TEST_BIN names a
# folder with both programs; without it they are built.
set -euo pipefail
cd "$(dirname "$0")/../.."
NATS_PY=nats-py==2.16.0
NATS_JS=nats@2.29.3
if ! command -v python3 >/dev/null || ! python3 -m venv --help >/dev/null 2>&1; then
	echo "bus: skipped, python3 with venv is not installed"
	exit 0
fi
cache=${XDG_CACHE_HOME:-$HOME/.cache}/writ-tools/bus
python=$cache/${NATS_PY/==/-}/bin/python
if [ ! -x "$python" ]; then
	if ! { python3 -m venv "${python%/bin/python}" && "$python" -m pip install --quiet --disable-pip-version-check "$NATS_PY"; } then
		rm -rf "${python%/bin/python}"
		echo "bus: skipped, $NATS_PY cannot be installed"
		exit 0
	fi
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/writ-bus.XXXXXX")
export WRIT_HOME=$work/data WRIT_DURABILITY=interval PYTHONDONTWRITEBYTECODE=1
trap 'writ down >/dev/null 2>&1 || true; rm -rf "$work"' EXIT
bin=${WRIT_TEST_BIN:-$work/bin}
if [ -z "${WRIT_TEST_BIN:-}" ]; then
	mkdir "$bin"
	go build -o "$bin" ./cmd/writ ./cmd/writd
fi
export PATH=$bin:$PATH
writ up --detach >/dev/null

expect() { # expect WHAT TEXT < OUTPUT
	local out
	out=$(cat)
	if ! grep -q -- "$2" <<<"$out"; then
		printf 'bus: %s did not say "%s":\n%s\n' "$1" "$2" "$out" >&2
		exit 1
	fi
	echo "bus: $1 ok"
}
example() { "$python" "bus/examples/$1.py" "${@:2}"; }

example rules "retry a payment request" | expect rules.py '^HTTP-RETRY'
if command -v npm >/dev/null; then
	cp bus/examples/rules.mjs "$work"
	if (cd "$work" && npm install --silent --no-audit --no-fund --ignore-scripts "$NATS_JS" >/dev/null 2>&1); then
		node "$work/rules.mjs" "retry a payment request" | expect rules.mjs '^HTTP-RETRY'
	else
		echo "bus: rules.mjs skipped, $NATS_JS cannot be installed"
	fi
else
	echo "bus: rules.mjs skipped, npm is not installed"
fi

# The one in the document itself, word for word.
sed -n '/^```py$/,/^```$/p' bus/help/bus.md | sed '1d;$d' >"$work/document.py"
"$python" "$work/document.py" | expect "the document's" '^HTTP-RETRY'

example emit session-1 build-finished status=failed | expect emit.py '^recorded as WRIT_SESSIONS'

# A follower is there before what it is to see.
mkdir -p "$work/project/.writ"
touch "$work/project/.writ/config.yaml"
example follow --count 1 >"$work/followed" &
follower=$!
tries=0
until grep -q following "$work/followed"; do
	tries=$((tries + 1))
	[ "$tries" -lt 600 ] || { echo "bus: follow.py did not begin" >&2; exit 1; }
	sleep 0.1
done
printf '{"session_id":"session-1","cwd":"%s","hook_event_name":"PreToolUse","tool_name":"Write","tool_use_id":"t1","tool_input":{"file_path":"%s/a.go","content":"x"}}' "$work/project" "$work/project" |
	(cd "$work/project" && writ hook claude PreToolUse >/dev/null 2>&1) || true
wait "$follower"
expect follow.py '^refused: ENF-GATE-MODE' <"$work/followed"

example table "$work/log.db" | expect table.py '1 hook.observed'
"$python" -c "import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute('select session, data from events where type = ?', ('hook.observed',)).fetchall())" "$work/log.db" |
	expect "the table" "session-1.*build-finished"

# What a misspelt field and a role without the right get.
misspelt=$("$python" - <<'PYTHON' 2>&1 || true
import asyncio, sys
sys.path.insert(0, "bus/examples")
from connect import ask, connect


async def main():
    await ask(await connect("hook"), "writ.svc.retrieve", quary="retry")


asyncio.run(main())
PYTHON
)
expect "a misspelt field" 'there is no field "quary"; it takes' <<<"$misspelt"
