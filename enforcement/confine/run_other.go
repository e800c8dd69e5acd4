//go:build !linux

package confine

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
)

// Supported returns 0 and why: only Linux has Landlock.
func Supported() (abi int, why string) {
	return 0, "confinement needs Linux and its Landlock; this is " + runtime.GOOS
}

// Run runs a command unconfined where the caller asks for best effort, with
// the protected files restored after it, and refuses otherwise. What it has to
// say it writes to notes, one line each.
func Run(o Options, notes io.Writer) (exit int, err error) {
	if err := o.check(); err != nil {
		return ExitUsage, err
	}
	_, why := Supported()
	if !o.BestEffort {
		return ExitUnsupported, because(ErrUnsupported, why)
	}
	say(notes, "not confined, "+why+"; what it changes is only compared afterwards")
	guard := Guard(o.Project, nil)
	defer guard.Close()
	command := exec.Command(o.Args[0], o.Args[1:]...)
	command.Dir, command.Env = o.Dir, o.Vars
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = command.Run()
	if command.ProcessState == nil {
		if errors.Is(err, exec.ErrNotFound) {
			err = ErrNotFound
		}
		return ExitFor(err), wrong("confine: "+o.Args[0], err)
	}
	exit = command.ProcessState.ExitCode()
	report(notes, o, nil, guard.Restore(nil), exit)
	return exit, nil
}

// changeOf knows of no change times here, so contents are compared.
func changeOf(fs.FileInfo) (ctime int64, ino uint64) { return 0, 0 }

// FileClock knows of no such clock here.
func FileClock() int64 { return 0 }

const keeps = false

// Left knows of nothing that is held here.
func Left(string) []int { return nil }

// EndLeft has nothing to end here.
func EndLeft([]int) {}
