// Package integration tells tests that start many processes or try many cases whether
// all of them run, as in .ci/run, or the few that stand for the others, as in a plain
// go test ./...
package integration

import (
	"flag"
	"os"
	"testing"
)

// Wanted says whether all of them run.
func Wanted() bool { return os.Getenv("WRIT_INTEGRATION") != "" }

// Only skips a test where not all of them run; instead names what stands for it there.
func Only(t testing.TB, instead string) {
	t.Helper()
	if !Wanted() {
		t.Skip("WRIT_INTEGRATION=1 and .ci/run run it; elsewhere stands for it: " + instead)
	}
}

// Rounds is how often something random is tried: more often where all of them run.
func Rounds(few, many int) int {
	if Wanted() {
		return many
	}
	return few
}

// Checks has rapid try a quarter of its cases in a test where not all of them run, unless
// its flag says how many.
func Checks(t testing.TB) {
	if f := flag.Lookup("rapid.checks"); !Wanted() && f.Value.String() == f.DefValue && f.Value.Set("25") == nil {
		t.Cleanup(func() { _ = f.Value.Set(f.DefValue) })
	}
}
