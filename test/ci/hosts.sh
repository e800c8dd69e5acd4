#!/usr/bin/env bash
# Real coding agents against a scripted model: from the npm registry, of these
# versions, into a cache outside the repository. No model provider is needed.
set -euo pipefail
cd "$(dirname "$0")/../.."
AGENTS=(
	claude=@anthropic-ai/claude-code@2.1.332
	codex=@openai/codex@0.171.0
	gemini=@google/gemini-cli@0.61.0
	copilot=@github/copilot@1.0.102
	opencode=opencode-ai@1.18.33
)
for program in node npm git script; do
	if ! command -v "$program" >/dev/null; then
		echo "hosts: skipped, $program is not installed"
		exit 0
	fi
done
cache=${WRIT_TEST_HOSTS:-${XDG_CACHE_HOME:-$HOME/.cache}/writ-hosts}
mkdir -p "$cache"
install() { # install NAME PACKAGE@VERSION
	local dir=$cache/$1
	if [ "$(cat "$dir/.version" 2>/dev/null)" = "$2" ]; then
		return
	fi
	rm -rf "${dir:?}"
	mkdir -p "$dir"
	# Their programs come with scripts that put them in place.
	if HOME=$dir npm install --silent --no-audit --no-fund --prefix "$dir" "$2" >"$dir/log" 2>&1; then
		echo "$2" >"$dir/.version"
	else
		echo "hosts: $2 cannot be installed: $(tail -n 1 "$dir/log")"
	fi
}
for agent in "${AGENTS[@]}"; do
	install "${agent%%=*}" "${agent#*=}"
done
if [ -z "${WRIT_TEST_BIN:-}" ]; then
	WRIT_TEST_BIN=$(mktemp -d)
	trap 'rm -rf "$WRIT_TEST_BIN"' EXIT
	CGO_ENABLED=0 go build -o "$WRIT_TEST_BIN" ./cmd/writ ./cmd/writd
fi
echo "hosts: ${AGENTS[*]#*=} on node $(node --version)"
GOCACHE=$(go env GOCACHE) # the agents have homes of their own
export GOCACHE WRIT_TEST_BIN
WRIT_TEST_HOSTS=$cache go test ./test/hosts -count=1 -timeout 60m -v ${HOSTS_RUN:+-run "$HOSTS_RUN"}
