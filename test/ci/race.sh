#!/usr/bin/env bash
# The tests of every package that shares memory, as `go test` has them, under the race
# detector, which needs a C compiler. A package without goroutines, locks, channels and
# atomics of its own has nothing to race, nor has a long computation by itself, nor has test/,
# which runs the programs as they are shipped; "all" as an argument takes those too.
# The client's tests drive the rooms below theirs. What vet has to say,
# test/ci/lint.sh says.
set -euo pipefail
cd "$(dirname "$0")/../.."
if ! command -v "$(go env CC)" >/dev/null; then
	echo "race: skipped, $(go env CC) is not installed and the race detector needs it"
	exit 0
fi
if [ "${1:-}" = all ]; then
	WRIT_INTEGRATION=1 CGO_ENABLED=1 exec go test -tags pebblegozstd -vet=off -race -timeout 30m ./...
fi
# Long, and either on one goroutine or on those that quicker tests drive, too.
long='TestCompressIsRepeatable|TestTheShippedCorpusIsClean|TestBootstrap|TestVectorsHelpOnTheShippedCorpus'
long+='|TestTheBlockNeverExceedsItsBudget|TestEveryHitPassesTheFilters|TestExclusionsNeverAddHits|TestPreviousIndexesDoNotShow'
long+='|TestQualityOnTheShippedCorpus|TestProcessesAnswerAlike|TestRecallOfTheScan|TestGrownRulesAreDistinct'
long+='|TestExportGivesBackTheBytes|TestExportAndImportAreTheSame|TestUpdatesDoNotShow'
long+='|TestEmbedderIsASetting|TestEveryMandatoryNodeReachesTheAgent|TestObservationsComeBackByteForByte|TestSearchingIsLookingAtEverything'
long+='|TestShippedRulesAreBackWhenTheSettingIsGone|TestALongerQueryNeverLowersAHit|TestScoresAreTextbookBM25|TestFoldKeepsAndEvicts'
long+='|TestTenRulesMoreOrLessMoveNoDecision|TestTalkIsGivenNothing|TestSmallTalkInjectsNothing|TestASecondRuleInFullLeavesRoomForLines'
long+='|TestARuleOfAnotherFrameworkIsLessLikely|TestTechnologiesThatAProjectHasNotAreLeftOut|TestWhatWasGivenIsNotGivenAgain'
long+='|TestWreckedRecords|TestDamage'
long+='|TestNobodyFloodsWhatWasQueued|TestDecisionTable|TestModel|TestResolveBoundsLongPaths|TestOnlyWhatTheGatesAskForIsDemanded'
long+='|TestHookSeesWhatIsTooLarge|TestHookJudgesBrokenPayloadsByTheirEvent|TestEverythingFits|TestCommandLinesParse|TestReadingARuleIsAnOutcome'
shares='^[[:space:]]*go (func\b|[[:alpha:]_][[:alnum:]_.]*\()|\bsync\.(Mutex|RWMutex|WaitGroup|Map|Pool|Cond)\b|"sync/atomic"|\bchan\b|\.Go\('
sharing=()
while read -r package folder; do
	if [ "$folder" = "$PWD/cmd/writ/cli" ] ||
		grep -lsE "$shares" "$folder"/*.go | grep -qv _test.go; then
		sharing+=("$package")
	fi
done < <(go list -f '{{.ImportPath}} {{.Dir}}' ./...)
echo "race: ${#sharing[@]} packages share memory; left out here, for test/ci/race.sh all, are the others and these long tests:"
tr '|' ' ' <<<"$long" | fold -s -w 120
# -short takes fewer random cases: a race is a matter of interleavings, not of values.
# The detector waits a second at the end of each process for reports of others;
# the programs that tests start are many.
# Pebble's compressor in C, as many lines as a server has, is not what races.
# Much of the time of these tests is waiting for disks and processes: one more package at once fills it.
GORACE=atexit_sleep_ms=0 CGO_ENABLED=1 go test -p $(($(getconf _NPROCESSORS_ONLN) + 1)) -short -tags pebblegozstd -vet=off -race -timeout 30m -skip "^($long)\$" "${sharing[@]}"
