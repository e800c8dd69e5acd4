#!/usr/bin/env bash
# The long simulations: kills and power cuts at random points under load, random command
# sequences against the gate's invariants, made-up shell commands against what
# they did, random histories of observations. SIM_KILLS, SIM_COMMANDS, SIM_SHELLS
# and SIM_HISTORIES set how many, SIM_FLIPS how many bits are flipped (else as many as kills),
# SIM_SOAK for how many minutes a daemon is soaked; a failing run prints its seed.
set -euo pipefail
cd "$(dirname "$0")/../.."
kills=${SIM_KILLS:-500}
commands=${SIM_COMMANDS:-1000000}
shells=${SIM_SHELLS:-5000}
histories=${SIM_HISTORIES:-10000}
flips=${SIM_FLIPS:-$kills}
soak=${SIM_SOAK:-60}
export WRIT_INTEGRATION=1

programs=$(mktemp -d "${TMPDIR:-/tmp}/writ-sim.XXXXXX")
trap 'rm -rf "$programs"' EXIT

# simulate PACKAGE TESTS [FLAG…]: that no test bears the name is a failure. The tests
# of a package are linked once.
simulate() {
	local said program=$programs/${1//\//_}
	[ -x "$program" ] || go test -c -ldflags "-s -w" -o "$program" "$1"
	said=$(cd "$1" && "$program" -test.timeout 90m -test.run "$2" "${@:3}" 2>&1) || { echo "$said"; return 1; }
	echo "$said"
	! grep -F 'no tests to run' <<<"$said"
}

echo "kill -9 at $kills random points, in each durability"
WRIT_KILL_ROUNDS="$kills" simulate ./bus '^TestKillLosesNothing$'
echo "daemons under hooks, killed $((kills / 5 + 1)) times in each durability"
WRIT_KILL_ROUNDS="$((kills / 5 + 1))" simulate ./test '^TestKilledDaemon$'
echo "daemons under hooks on a disk of its own, its power cut $((kills / 5 + 1)) times in each durability (as root)"
[ "$(uname)" != Linux ] || WRIT_POWER_CUTS="$((kills / 5 + 1))" simulate ./test '^TestPowerCut$' -test.v
echo "$commands random commands against the gate's invariants"
WRIT_MODEL_COMMANDS="$commands" simulate ./enforcement '^TestModel$'
echo "$shells made-up shell commands, run and compared with what was foretold"
WRIT_DIFFERENTIAL="$shells" simulate ./enforcement/shell '^TestDifferential$'
echo "100 processes, the same corpus in other orders"
WRIT_PROCESSES=100 simulate ./retrieval '^TestProcessesAnswerAlike$'
echo "$histories random histories of observations"
simulate ./observer/observation '^TestModel$' -rapid.checks="$histories"
echo "$flips flipped bits over every file of a data folder, each healed or told with a remedy that works"
WRIT_FLIPS="$flips" simulate ./test '^TestFlips$'
echo "two daemons at a hub of three servers, disturbed $((kills * 2 / 5)) times"
WRIT_TEAM_ROUNDS="$((kills * 2 / 5))" simulate ./test '^TestTeam$'
echo "two daemons whose logs lie on a cluster of three servers, moved there and back, disturbed $((kills / 5 + 3)) times (from 100 kills on)"
# A conversation whose daemon is killed before one step alone, a full disk, a member
# without a wire, and many members, in the night.
[ "$kills" -lt 100 ] || WRIT_CONVERSATIONS=100 simulate ./test '^TestConversationSurvivesKillAtAnyStep$'
if [ "$(uname)" = Linux ] && [ "$kills" -ge 100 ]; then
	WRIT_TEAM_ROUNDS=1 simulate ./test '^TestAFullDiskOnOneNode$' -test.v
	WRIT_TEAM_CUT=3600 simulate ./test '^TestMembersInNamespaces$' -test.v
	WRIT_TEAM_MEMBERS=50 simulate ./projections/hub '^TestManyMembers$' -test.v
fi
[ "$(uname)" != Linux ] || [ "$kills" -lt 100 ] || WRIT_DIRECT_ROUNDS="$((kills / 5 + 3))" simulate ./test '^TestDirect$' -test.v
echo "repairs, restores and backups, killed $((kills / 10 + 1)) times each"
WRIT_MENDING_KILLS="$((kills / 10 + 1))" simulate ./test '^TestKilledInTheMiddle$'
[ "$soak" != 0 ] || exit 0
echo "a daemon at work for $soak minutes, stopped, killed and backed up meanwhile"
WRIT_SOAK="$soak" simulate ./test '^TestSoak$' -test.v
