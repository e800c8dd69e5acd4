#!/usr/bin/env bash
# Fuzz every target of the project for a while each: fuzz.sh [TIME].
set -euo pipefail
cd "$(dirname "$0")/../.."
time=${1:-20s}
grep -rlE '^func Fuzz' --include='*_test.go' . | while read -r file; do
	package=$(dirname "$file")
	grep -oE '^func Fuzz[A-Za-z0-9_]+' "$file" | sed 's/^func //' | while read -r target; do
		echo "fuzz $package $target for $time"
		go test "$package" -run '^$' -fuzz "^$target\$" -fuzztime "$time" | tail -n 2
	done
done
