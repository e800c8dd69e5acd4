#!/usr/bin/env bash
# Every test of a package that shares memory under the race detector, which
# needs a C compiler. A package without goroutines, locks, channels and parallel
# tests of its own has nothing to race; "all" as an argument takes those too.
set -euo pipefail
cd "$(dirname "$0")/../.."
if ! command -v "$(go env CC)" >/dev/null; then
	echo "race: skipped, $(go env CC) is not installed and the race detector needs it"
	exit 0
fi
if [ "${1:-}" = all ]; then
	CGO_ENABLED=1 exec go test -race ./...
fi
sharing=()
while read -r package folder; do
	if grep -qsE '^[[:space:]]*go (func\b|[[:alpha:]_][[:alnum:]_.]*\()|"sync(/atomic)?"|\bchan\b|\.Parallel\(\)|\.Go\(' "$folder"/*.go; then
		sharing+=("$package")
	fi
done < <(go list -f '{{.ImportPath}} {{.Dir}}' ./...)
echo "race: ${#sharing[@]} packages share memory; test/ci/race.sh all runs the others too"
CGO_ENABLED=1 go test -race "${sharing[@]}"
