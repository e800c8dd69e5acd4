package shell

import (
	"fmt"
	"strings"
	"testing"
)

// TestRuns reads the programs of command lines; a star marks those that decide.
func TestRuns(t *testing.T) {
	for command, want := range map[string]string{
		"go test ./...":                                   "*go test ./...",
		"cd /p && go test ./...":                          "*cd /p | *go test ./...",
		"go build ./... && go test ./... 2>&1":            "*go build ./... | *go test ./...",
		"go test ./... 2>&1 | tail -20":                   "go test ./... | *tail -20",
		"set -o pipefail; go test ./... | tail -20":       "set -o pipefail | *go test ./... | *tail -20",
		"go test ./... || true":                           "go test ./... | true",
		"go test ./...; echo done":                        "go test ./... | *echo done",
		"! go test ./...":                                 "go test ./...",
		"go test ./... &":                                 "go test ./...",
		"(cd a && npm test)":                              "*cd a | *npm test",
		"time go test":                                    "*go test",
		"CI=1 timeout -k 5 60 env A=b npx --yes jest a":   "*jest a",
		"uv run --with x pytest -q":                       "*pytest -q",
		"bundle exec rspec":                               "*rspec",
		"bash -lc 'cd x && make test'":                    "*cd x | *make test",
		"bash -c 'make test' || :":                        "make test | :",
		"if go vet; then go test; fi":                     "go vet | go test",
		"for d in a b; do (cd $d && cargo test); done":    "cd  | cargo test",
		"f() { go test; }; f":                             "go test | *f",
		"$RUNNER test":                                    "",
		"./node_modules/.bin/jest":                        "*jest",
		"go test ./... -run \"$NAME\"":                    "*go test ./... -run ",
		"if then":                                         "",
		"sudo -u me timeout":                              "",
		"{ go vet && go test; } > out 2>&1":               "*go vet | *go test",
		"go test ./a \\\n  ./b":                           "*go test ./a ./b",
		"python -m pytest tests/ -q && echo 'all passed'": "*python -m pytest tests/ -q | *echo all passed",
	} {
		var got []string
		for _, run := range Runs(command) {
			mark := ""
			if run.Decides {
				mark = "*"
			}
			got = append(got, mark+strings.Join(run.Words, " "))
		}
		if is := strings.Join(got, " | "); is != want {
			t.Errorf("%q: %q, want %q", command, is, want)
		}
	}
}

func TestRunsAreBounded(t *testing.T) {
	long := strings.Repeat("go test;", 1500)
	if n := len(Runs(long)); n == 0 || n > maxFields {
		t.Error(n)
	}
	if n := len(Runs(strings.Repeat("a;", maxPlain))); n != 0 {
		t.Error(n)
	}
	nested := "go test"
	for range 10 {
		nested = fmt.Sprintf("bash -c %q", nested)
	}
	_ = Runs(nested)
}
