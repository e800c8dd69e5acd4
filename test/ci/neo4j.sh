#!/usr/bin/env bash
# The mirror in Neo4j against a real Neo4j 5: builds the harness with Maven
# (Java 17 or newer), starts it in a JVM of at most 1 GB, runs the tests, stops
# it. neo4j.sh bench measures 10,000 nodes and 50,000 edges instead.
set -euo pipefail
cd "$(dirname "$0")/../.."
for program in java mvn; do
	if ! command -v "$program" >/dev/null; then
		echo "neo4j: skipped, $program is not installed and Neo4j needs Java and Maven"
		exit 0
	fi
done
harness=test/neo4j
# Both run too briefly for the optimising compiler and parallel collection to pay.
if ! MAVEN_OPTS="${MAVEN_OPTS:-} -XX:+UseSerialGC -XX:TieredStopAtLevel=1" mvn -q -B -f "$harness/pom.xml" compile >&2; then
	if ! curl -sSf -m 20 -o /dev/null https://repo.maven.apache.org/maven2/ 2>/dev/null; then
		echo "neo4j: skipped, Maven's repository cannot be reached and Neo4j is not in the local one"
		exit 0
	fi
	exit 1
fi

# The harness runs until its standard input ends, so it ends with this script,
# however that ends.
work=$(mktemp -d)
password="writ-test-$RANDOM$RANDOM"
mkfifo "$work/in"
NEO4J_PASSWORD=$password HARNESS_DIR=$work/data java -Xmx1g -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$harness/target/classes:$(cat "$harness/target/classpath")" \
	writ.Harness 0 <"$work/in" >"$work/out" 2>"$work/err" &
server=$!
exec 9>"$work/in"
finish() {
	exec 9>&-
	wait "$server" || true
	rm -rf "$work"
}
trap finish EXIT
for _ in $(seq 120); do
	if grep -q '^bolt://' "$work/out"; then break; fi
	if ! kill -0 "$server" 2>/dev/null; then break; fi
	sleep 1
done
url=$(grep -m 1 '^bolt://' "$work/out" || true)
if [ -z "$url" ]; then
	echo "neo4j: the harness did not start:" >&2
	tail -n 20 "$work/err" >&2
	exit 1
fi
echo "neo4j: a Neo4j listens on $url"

WRIT_TEST_NEO4J=${url%/}
WRIT_TEST_NEO4J_PASSWORD=$password
export WRIT_TEST_NEO4J WRIT_TEST_NEO4J_PASSWORD
if [ "${1:-}" = bench ]; then
	go test ./projections/neo4jmirror -count=1 -run '^$' -bench Push -benchtime 1x -count 3 9>&-
else
	# One package after the other: they share the database.
	go test -p 1 ./projections/neo4jmirror ./test/neo4j -count=1 -timeout 15m 9>&-
fi
