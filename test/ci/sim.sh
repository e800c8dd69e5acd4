#!/usr/bin/env bash
# The long simulations: kills at random points under load, random command
# sequences against the gate's invariants, made-up shell commands against what
# they did, random histories of observations. SIM_KILLS, SIM_COMMANDS, SIM_SHELLS
# and SIM_HISTORIES set how many; a failing run prints its seed.
set -euo pipefail
cd "$(dirname "$0")/../.."
kills=${SIM_KILLS:-500}
commands=${SIM_COMMANDS:-1000000}
shells=${SIM_SHELLS:-5000}
histories=${SIM_HISTORIES:-100}
echo "kill -9 at $kills random points, in each durability"
WRIT_KILL_ROUNDS=$kills go test ./bus -count=1 -timeout 30m -run 'TestKill'
echo "$commands random commands against the gate's invariants"
WRIT_MODEL_COMMANDS=$commands go test ./enforcement -count=1 -timeout 30m -run 'Model'
echo "$shells made-up shell commands, run and compared with what was foretold"
WRIT_DIFFERENTIAL=$shells go test ./enforcement/shell -count=1 -timeout 30m -run 'TestDifferential'
echo "100 processes, the same corpus in other orders"
WRIT_PROCESSES=100 go test ./retrieval -count=1 -timeout 30m -run 'TestProcessesAnswerAlike'
echo "$histories random histories of observations"
WRIT_MEMORY_HISTORIES=$histories go test ./cmd/writd/daemon -count=1 -timeout 60m -run 'WhatIsKeptBack'
