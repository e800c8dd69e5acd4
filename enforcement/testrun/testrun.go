// Package testrun finds out how a project's tests are run in the project's own
// environment, which of them a change can reach, and runs these for a hook, as long
// as they may take. Failures that the last commit before the session has too are
// told apart, by running them alone in a copy of that commit.
//
// It guarantees that Run returns within the run's time and a grace of two
// seconds, that everything in the command's process group is killed when it
// does, and that no more than the end of the output is kept.
//
// It does not decide what becomes of the result, and confines nothing itself:
// that is the command's own doing, by `writ confine`. Which files are tests is
// said by package skeleton.
package testrun

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/writbus/writ/schemas"
)

const (
	// grace is how long a command that was told to end has for that, and how long
	// its output is waited for: a process that left the group may hold it open.
	grace = 2 * time.Second
	// maxOutput is how much of the output's end is reported, in bytes.
	maxOutput = 3000
	// notFound and cannotRun are a shell's statuses for a program that is not
	// there, or cannot be started (POSIX, 2.8.2).
	notFound, cannotRun = 127, 126
	// noConfinement is the status of `writ confine` where nothing ran.
	noConfinement = 125
)

// World is what a run needs of the process that makes it.
type World struct {
	Writ string   // the client's path, for `writ confine`
	Vars []string // environment, in the form of os.Environ
}

// Run runs the tests and says how they ended. It never fails: what goes wrong
// is in the result.
func Run(ctx context.Context, r schemas.TestRun, w World) schemas.TestResult {
	// The command dies with the thread that started it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	result := schemas.TestResult{ID: r.ID}
	if r.Command != "" || len(r.Changed) > 0 {
		result = reached(ctx, r, w)
	}
	if len(r.Files) > 0 {
		result.Files = see(ctx, r, w)
	}
	return result
}

// process is a command to be run.
type process struct {
	command   string   // for a POSIX shell
	confine   []string // options of `writ confine`, none for a command that nothing holds
	dir       string
	out, errs io.Writer
}

// execute runs a command until it ends, and then kills what it left running.
func execute(ctx context.Context, p process, w World) (status int, err error) {
	name, args := "/bin/sh", []string{"-c", p.command}
	if len(p.confine) > 0 {
		name, args = w.Writ, append(append([]string{"confine"}, p.confine...), "-c", p.command)
	}
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = p.dir, append(w.Vars[:len(w.Vars):len(w.Vars)], "CI=1"), p.out, p.errs
	cmd.WaitDelay = grace
	group(cmd)
	err = cmd.Run()
	killGroup(cmd) // what the tests left running
	var exit *exec.ExitError
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay):
		return 0, nil
	case errors.As(err, &exit):
		return exit.ExitCode(), nil
	case errors.Is(err, fs.ErrNotExist):
		return 0, errors.New(name + " is not there")
	}
	return 0, err
}

// end keeps the end of what is written to it.
type end struct {
	most int
	kept []byte
	cut  bool
}

func (e *end) Write(p []byte) (int, error) {
	e.kept = append(e.kept, p...)
	if len(e.kept) > 2*e.most {
		e.kept = append(e.kept[:0], e.kept[len(e.kept)-e.most:]...)
		e.cut = true
	}
	return len(p), nil
}

// String is the end, from a line's start where some of it was left out.
func (e *end) String() string {
	kept := e.kept
	if len(kept) > e.most {
		kept, e.cut = kept[len(kept)-e.most:], true
	}
	text := strings.ToValidUTF8(string(kept), "\uFFFD")
	if !e.cut {
		return strings.TrimRight(text, "\n")
	}
	if at := strings.IndexByte(text, '\n'); at >= 0 && at < len(text)-1 {
		text = text[at+1:]
	}
	return "…\n" + strings.TrimRight(text, "\n")
}
