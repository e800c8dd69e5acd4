#!/usr/bin/env bash
# Style, layers and known vulnerabilities, with pinned tools that are built on
# first use into the user's cache.
set -euo pipefail
cd "$(dirname "$0")/../.."

GOLANGCI=v2.15.0
GOVULNCHECK=v1.1.4
tools=${XDG_CACHE_HOME:-$HOME/.cache}/writ-tools
mkdir -p "$tools"

tool() { # tool NAME MODULE VERSION
	local dir="$tools/$1-$3"
	if [ ! -x "$dir/$1" ]; then
		echo "building $1 $3 (once)" >&2
		GOGC=400 GOFLAGS='' GOBIN="$dir" go install -ldflags "-s -w" "$2@$3" >&2
	fi
	echo "$dir/$1"
}

unformatted=$(gofmt -l $(git ls-files -- '*.go' ':!:**/testdata/**'))
if [ -n "$unformatted" ]; then
	printf 'gofmt would change:\n%s\n' "$unformatted" >&2
	exit 1
fi
# Its linters include vet. With rare collections of garbage they take half as long.
GOGC=400 GOMEMLIMIT=4GiB "$(tool golangci-lint github.com/golangci/golangci-lint/v2/cmd/golangci-lint $GOLANGCI)" run ./...

# The code of a copied process may not grow its stack; only a linker measures that,
# and frames are largest on arm64.
held=$(mktemp -d)
trap 'rm -rf "$held"' EXIT
printf 'package main\n\nimport _ "github.com/writbus/writ/cmd/writ/early"\n\nfunc main() {}\n' >"$held/main.go"
GOOS=linux GOARCH=arm64 go build -o /dev/null "$held/main.go"

# The vulnerability database is on the network; without it the check says so
# and the rest still counts.
vuln=$(tool govulncheck golang.org/x/vuln/cmd/govulncheck $GOVULNCHECK)
if report=$("$vuln" ./... 2>&1); then
	echo "govulncheck: no known vulnerability is called"
elif grep -qE 'vuln\.go\.dev|no such host|connection refused|fetching vulnerabilities|Forbidden' <<<"$report"; then
	echo "govulncheck: skipped, the vulnerability database cannot be reached"
else
	printf '%s\n' "$report" >&2
	exit 1
fi
