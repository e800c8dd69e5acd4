//go:build unix

package testrun

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/writbus/writ/schemas"
)

func run(t *testing.T, command string, limit time.Duration) schemas.TestResult {
	t.Helper()
	return Run(t.Context(), schemas.TestRun{ID: "r", Command: command, Project: t.TempDir(), Millis: limit.Milliseconds()}, World{Vars: os.Environ()})
}

func TestRunSaysHowItEnded(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]schemas.TestResult{
		"echo fine":                             {Output: "fine"},
		"echo out; echo bad >&2":                {Output: "out\nbad"},
		"echo FAIL; exit 3":                     {Output: "FAIL", Exit: 3},
		"kill -9 $$":                            {Exit: -1},
		"cat":                                   {}, // its input is empty, not the hook's
		"printf 'a\\377b'":                      {Output: "a\uFFFDb"},
		"test \"$CI\" = 1 && pwd -P >/dev/null": {},
	} {
		got := run(t, command, time.Minute)
		got.Millis, want.ID, want.Command = 0, "r", command
		if want.Exit != 0 {
			want.New, want.Uncompared = []string{command}, "when the session began is not known"
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", command, got, want)
		}
	}
	if r := run(t, "no-such-program-anywhere", time.Minute); r.NotRun == "" || !strings.Contains(r.NotRun, "no-such-program") {
		t.Errorf("%+v", r)
	}
	r := Run(t.Context(), schemas.TestRun{Command: "true", Project: t.TempDir(), Confine: []string{"--profile", "x"}, Millis: 60_000}, World{Writ: "/no/writ"})
	if !strings.Contains(r.NotRun, "/no/writ") {
		t.Errorf("%+v", r)
	}
}

func TestOutputIsItsEnd(t *testing.T) {
	t.Parallel()
	r := run(t, "i=0; while [ $i -lt 3000 ]; do echo line $i; i=$((i+1)); done; echo last", time.Minute)
	if len(r.Output) > maxOutput+8 || !strings.HasPrefix(r.Output, "…\nline ") || !strings.HasSuffix(r.Output, "\nline 2999\nlast") {
		t.Errorf("%d bytes: %.40q … %q", len(r.Output), r.Output, r.Output[max(0, len(r.Output)-30):])
	}
}

// TestWhatTakesTooLongIsKilledWhole: the shell, what it waits for, and what it
// left in the background.
func TestWhatTakesTooLongIsEnded(t *testing.T) {
	t.Parallel()
	if r := Run(t.Context(), schemas.TestRun{Command: "sleep 1000", Project: t.TempDir(), Millis: 50}, World{Vars: os.Environ()}); !r.TimedOut {
		t.Errorf("%+v", r)
	}
}

func TestWhatIsEndedIsKilledWhole(t *testing.T) {
	t.Parallel()
	dir, begun, gone := watched(t)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-begun
		cancel()
	}()
	r := Run(ctx, schemas.TestRun{
		Command: "exec 9>held; echo started; echo >&9; sleep 1000 & sleep 1000", Project: dir, Millis: 600_000,
	}, World{Vars: os.Environ()})
	if !r.TimedOut || !strings.Contains(r.Output, "started") {
		t.Errorf("%+v", r)
	}
	<-gone
}

func TestWhatIsLeftRunningIsKilled(t *testing.T) {
	t.Parallel()
	dir, _, gone := watched(t)
	r := Run(t.Context(), schemas.TestRun{Command: "exec 9>held; sleep 1000 >/dev/null 2>&1 &", Project: dir, Millis: 60_000}, World{Vars: os.Environ()})
	if r.TimedOut || r.Exit != 0 {
		t.Errorf("%+v", r)
	}
	<-gone
}

func TestACallerThatEndsEndsTheTests(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r := Run(ctx, schemas.TestRun{Command: "sleep 1000", Project: t.TempDir(), Millis: 600_000}, World{Vars: os.Environ()}); r.Exit == 0 && !r.TimedOut {
		t.Errorf("%+v", r)
	}
}

// watched is a folder with a pipe named held, and two channels: one that is
// closed when somebody wrote to the pipe, and one when everybody who opened it for
// writing is gone.
func watched(t *testing.T) (dir string, begun, gone <-chan struct{}) {
	t.Helper()
	dir = t.TempDir()
	pipe := filepath.Join(dir, "held")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	wrote, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		f, err := os.Open(pipe)
		if err != nil {
			return
		}
		defer func() { _ = f.Close() }()
		if _, err := f.Read(make([]byte, 1)); err == nil {
			close(wrote)
		}
		_, _ = io.Copy(io.Discard, f)
	}()
	return dir, wrote, done
}
