#!/usr/bin/env bash
# What test/FIGURES.md states, measured here and now. WRIT_BENCH_EVENTS sets the
# size of the log (1,000,000 by default).
set -euo pipefail
cd "$(dirname "$0")/../.."
run() { go test ./test -run '^$' -timeout 30m "$@" | grep -E '^(Benchmark|cpu|---|FAIL|ok)|    '; }
run -bench 'HookProcess' -benchtime 200x
run -bench 'Confinement' -benchtime 300x
go test ./enforcement/confine/worktree -run '^$' -bench AfterCheck -benchtime 20x | grep -E '^(Benchmark|ok|FAIL)'
run -bench 'Decision$' -benchtime 2000x
run -bench 'Decisions' -benchtime 1x
run -bench 'Flood' -benchtime 1x
run -bench 'Replay' -benchtime 3x
run -bench 'DaemonStart' -benchtime 5x
go test ./cmd/writd/daemon -run '^$' -bench 'Rebuild$' -benchtime 1x | grep -E '^(Benchmark|ok|FAIL)'
run -bench 'BinarySize' -benchtime 1x
run -bench 'Idle' -benchtime 1x
run -bench 'Audit/verify' -benchtime 5x
run -bench 'Audit/prove' -benchtime 2000x
run -bench 'WhatIf' -benchtime 3x
go test ./cmd/writd/daemon -run '^$' -bench RetrieveOverNATS -benchtime 5000x | grep -E '^(Benchmark|ok|FAIL)'
go test ./retrieval -run '^$' -bench . -benchtime 2s | grep -E '^(Benchmark|ok|FAIL)'
go test ./enforcement/shell -run '^$' -bench . | grep -E '^(Benchmark|ok|FAIL)'
go test ./observer/agent/scanner -run '^$' -bench . | grep -E '^(Benchmark|ok|FAIL)'
go test ./cmd/writd/daemon -run '^$' -bench AgentsInParallel -benchtime 1x | grep -E '^(Benchmark|ok|FAIL)'
go test ./retrieval/artifact/chunk -run '^$' -bench . -benchtime 3x | grep -E '^(Benchmark|ok|FAIL)'
go test ./retrieval/files -run '^$' -bench . -benchtime 3x | grep -E '^(Benchmark|ok|FAIL)'
go test ./projections/audit/... -run '^$' -bench . | grep -E '^(Benchmark|ok|FAIL)'
go test ./enforcement/whatif -run '^$' -bench . -benchtime 5000x | grep -E '^(Benchmark|ok|FAIL)'
go test ./cmd/writd/daemon -run '^$' -bench ArtifactSearch -benchtime 1500x | grep -E '^(Benchmark|ok|FAIL)'
go test ./retrieval/artifact/search -run '^$' -bench '/documents=10000' -timeout 30m | grep -E '^(Benchmark|ok|FAIL)'
go test ./cmd/writd/daemon -run '^$' -bench 'Observe$' -benchtime 20000x | grep -E '^(Benchmark|ok|FAIL)'
go test ./cmd/writd/daemon -run '^$' -bench 'Recall(Of100000|AfterObserving)' -benchtime 5000x | grep -E '^(Benchmark|ok|FAIL)'
go test ./cmd/writd/daemon -run '^$' -bench 'MemoryIndex' -benchtime 3x | grep -E '^(Benchmark|ok|FAIL)'
go test ./projections -run '^$' -bench 'Replay/(observations|verdicts)' -benchtime 1x | grep -E '^(Benchmark|ok|FAIL)'
# The dashboard's first paint, and a thousand events a second, in a real Chromium.
if chromium=$(command -v chromium || command -v google-chrome); then
	WRIT_TEST_CHROMIUM=$chromium WRIT_TEST_SECONDS=25 go test -count=1 -v -tags browser -run 'FirstPaint|ManyEvents' ./test/browser | grep -E 'load_test|^ok|FAIL'
else
	echo "the dashboard was not measured: there is no Chromium (test/ci/browser.sh installs one)"
fi
