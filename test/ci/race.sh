#!/usr/bin/env bash
# Every test under the race detector, which needs a C compiler.
set -euo pipefail
cd "$(dirname "$0")/../.."
if ! command -v "$(go env CC)" >/dev/null; then
	echo "race: skipped, $(go env CC) is not installed and the race detector needs it"
	exit 0
fi
CGO_ENABLED=1 go test -race ./...
