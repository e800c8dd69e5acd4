#!/usr/bin/env bash
# What holds on every system: all packages build, vet finds nothing, and the
# tests pass that need neither Linux nor, on Windows, paths and programs of POSIX.
#   test/ci/portable.sh          on the system it runs on
#   test/ci/portable.sh --cross  vets for macOS and Windows from any system
set -euo pipefail
cd "$(dirname "$0")/../.."

everywhere=(
	./schemas ./schemas/filelock ./schemas/glob ./schemas/jsonschema
	./enforcement/phrase ./enforcement/plan ./enforcement/redact ./enforcement/skeleton ./enforcement/session/statediff
	./observer/agent/egress
	./retrieval/bm25 ./retrieval/curation ./retrieval/lexical ./retrieval/rule ./retrieval/tune ./retrieval/vector
	./retrieval/embed/number ./retrieval/embed/static
	./retrieval/artifact ./retrieval/artifact/glyph ./retrieval/artifact/inject ./retrieval/artifact/mention ./retrieval/artifact/strategy
	./observer/agent/scanner ./observer/classify ./observer/model ./observer/observation
	./projections/audit/evidence
)
posix=(
	./schemas/atomicfile ./schemas/gitignore ./schemas/lexer
	./bus/... ./projections/...
	./enforcement ./enforcement/check ./enforcement/dialect/... ./enforcement/host/... ./enforcement/session ./enforcement/whatif
	./retrieval ./retrieval/corpus/... ./retrieval/fulltext ./retrieval/mapped ./retrieval/rulebook/... ./retrieval/artifact/...
	./observer/agent ./observer/agent/vocabulary/... ./observer/dashboard ./observer/metrics
)

case "${1:-}" in
--cross)
	for system in darwin windows; do
		echo "vet for $system"
		GOOS=$system go vet ./...
	done
	exit
	;;
"") ;;
*)
	echo "usage: test/ci/portable.sh [--cross]" >&2
	exit 2
	;;
esac

go build ./...
go vet ./...
packages=("${everywhere[@]}")
if [ "$(go env GOOS)" != windows ]; then packages+=("${posix[@]}"); fi
WRIT_INTEGRATION=1 go test "${packages[@]}"
