//go:build !linux

package confine

import (
	"fmt"
	"io"
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
		return ExitUnsupported, fmt.Errorf("%w: %s", ErrUnsupported, why)
	}
	say(notes, "not confined, "+why+"; what it changes is only compared afterwards")
	guard := Guard(o.Project, o.Lock)
	defer guard.Close()
	command := exec.Command(o.Args[0], o.Args[1:]...)
	command.Dir, command.Env = o.Dir, o.Vars
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = command.Run()
	if command.ProcessState == nil {
		return ExitFor(err), fmt.Errorf("confine: %s: %w", o.Args[0], err)
	}
	exit = command.ProcessState.ExitCode()
	report(notes, o, nil, guard.Restore(), exit)
	return exit, nil
}
