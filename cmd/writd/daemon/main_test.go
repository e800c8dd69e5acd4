package daemon

import (
	"flag"
	"os"
	"runtime/debug"
	"strconv"
	"testing"

	"github.com/writbus/writ/bus/embedded/hubtest"
)

// testsPercent is the garbage that may gather while tests run, in percent of
// what is in use.
const testsPercent = 400

// TestMain lets the many daemons of these tests share what a process has: none
// gives back what the others are using, and garbage is collected less often.
// Benchmarks measure the daemon as it is.
func TestMain(m *testing.M) {
	hubtest.Main()
	flag.Parse()
	if flag.Lookup("test.bench").Value.String() == "" {
		relieve = func() {}
		if os.Getenv("GOGC") == "" {
			debug.SetGCPercent(testsPercent)
			if err := os.Setenv("GOGC", strconv.Itoa(testsPercent)); err != nil { // the daemon then leaves it alone
				panic(err)
			}
		}
	}
	code := m.Run()
	if imported.dir != "" {
		_ = os.RemoveAll(imported.dir)
	}
	os.Exit(code)
}
