#!/usr/bin/env bash
# Real Gradle builds under the reader of test runs, with the Gradle and the JUnit of
# Debian's packages, which it installs as root where CI asks.
set -euo pipefail
cd "$(dirname "$0")/../.."
there() { command -v gradle >/dev/null && ls /usr/share/java/junit4.jar /usr/share/java/hamcrest-core.jar >/dev/null 2>&1; }
if ! there && [ -n "${CI:-}" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
	{ apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends gradle junit4 libhamcrest-java; } >/dev/null 2>&1 || true
fi
if ! there; then
	echo "gradle: skipped, there is no gradle with junit4.jar and hamcrest-core.jar in /usr/share/java (on Debian: apt-get install gradle junit4)"
	exit 0
fi
WRIT_TEST_GRADLE=1 go test -count=1 -run '(TestRealRunnersAreReadFileByFile|TestOnlyWhatFailsAnewIsAFailure)/^gradle$' -v ./enforcement/testrun
