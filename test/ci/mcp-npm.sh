#!/usr/bin/env bash
# /mcp with a server that is not ours: the filesystem server of the protocol's
# own project, from the npm registry, into a folder that is deleted afterwards.
set -euo pipefail
cd "$(dirname "$0")/../.."
SERVER=@modelcontextprotocol/server-filesystem@2026.8.31
for program in node npm; do
	if ! command -v "$program" >/dev/null; then
		echo "mcp-npm: skipped, $program is not installed"
		exit 0
	fi
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if ! npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$work" "$SERVER" >"$work/log" 2>&1; then
	if ! npm view "$SERVER" version >/dev/null 2>&1; then
		echo "mcp-npm: skipped, the npm registry cannot be reached"
		exit 0
	fi
	cat "$work/log" >&2
	exit 1
fi
echo "mcp-npm: $SERVER on node $(node --version)"
WRIT_TEST_MCP_NPM="node $work/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js" \
	go test ./observer/agent/verbs/federation -count=1 -run NPM -v
