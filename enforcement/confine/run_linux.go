package confine

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Run runs a command confined, on this process's own standard streams, and
// returns its exit status: 128+n where signal n ended it. What it has to say it
// writes to notes, one line each.
//
// The command runs in this process's group. Signals sent to this process alone
// are passed on. The error is nil where the command ran; ExitFor gives the
// status for others.
func Run(o Options, notes io.Writer) (exit int, err error) {
	if err := o.check(); err != nil {
		return ExitUsage, err
	}
	parent := os.Getppid()
	// What this process makes until the command starts is less than collecting
	// it would cost; while it only waits there is nothing to collect.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	abi, why := Supported()
	if abi == 0 && !o.BestEffort {
		return ExitUnsupported, fmt.Errorf("%w: %s", ErrUnsupported, why)
	}
	l := limitsOf(o)
	program, err := find(o)
	if err != nil {
		return ExitFor(err), err
	}
	var rules *ruleset
	if abi == 0 {
		say(notes, "not confined, "+why+"; what it changes is only compared afterwards")
	} else {
		if rules, err = newRuleset(abi); err != nil {
			return ExitFor(err), err
		}
		defer rules.close()
		if err := rules.fill(l); err != nil {
			return ExitFor(err), err
		}
	}
	guard := Guard(o.Project, o.Lock)
	defer guard.Close()
	if o.Whole {
		if err := adopt(); err != nil {
			return ExitFor(err), err
		}
	}
	signals := catch() // before the command can be heard of, so that none is lost
	process, err := start(rules, program, o.Args, &syscall.ProcAttr{
		Dir: o.Dir, Env: environment(o.Vars, l.vars), Files: []uintptr{0, 1, 2},
		// What ends this process outright would have ended the command.
		Sys: &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		return ExitFor(err), fmt.Errorf("confine: %s: %w", o.Args[0], err)
	}
	if o.Whole {
		signals = endOnTerm(signals)
		go endWithParent(parent)
	}
	exit = wait(process, signals)
	if o.Whole && endAll() {
		say(notes, "what the command left running in the background was ended")
	}
	report(notes, o, l.notes, guard.Restore(), exit)
	return exit, nil
}

// start starts a program from a thread that is confined first: a new process
// inherits the limits of the thread that made it, and no other thread of this
// one has them. The thread is kept, idle, until this process ends, because the
// program dies with the thread that started it.
//
// A process may trace those with limits that include its own, so the command
// could take hold of that thread, and through its memory of the whole process.
// That it cannot, this process is made untraceable, and apply takes from root
// what overrides that.
func start(rules *ruleset, program string, args []string, attr *syscall.ProcAttr) (pid int, err error) {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return 0, fmt.Errorf("confine: make this process untraceable: %w", err)
	}
	type started struct {
		pid int
		err error
	}
	result := make(chan started)
	go func() {
		runtime.LockOSThread()
		var s started
		if rules != nil {
			s.err = rules.apply()
		}
		if s.err == nil {
			s.pid, s.err = syscall.ForkExec(program, args, attr)
		}
		result <- s
		select {}
	}()
	s := <-result
	return s.pid, s.err
}

// environment is vars with those of more in their place: of two with one name
// most programs take the first.
func environment(vars, more []string) []string {
	vars = slices.Clone(vars)
	for _, add := range more {
		name := add[:strings.IndexByte(add, '=')+1]
		vars = append(slices.DeleteFunc(vars, func(v string) bool { return strings.HasPrefix(v, name) }), add)
	}
	return vars
}

// find looks a program up as a shell would.
func find(o Options) (string, error) {
	name := o.Args[0]
	if strings.Contains(name, "/") {
		return name, nil
	}
	for _, dir := range filepath.SplitList(o.getenv("PATH")) {
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(o.Dir, dir)
		}
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	return "", fmt.Errorf("confine: %s: %w", name, exec.ErrNotFound)
}

// passed are the signals that are sent to one process to tell it something.
// Those of the keyboard reach the whole group, so they are only kept from
// ending this process before the command.
var passed = []os.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGINT, syscall.SIGQUIT}

// catch keeps the signals that are to be passed on.
func catch() <-chan os.Signal {
	signals := make(chan os.Signal, 8)
	for _, s := range passed {
		// One that was ignored stays so, as nohup wants it.
		if !signal.Ignored(s) {
			signal.Notify(signals, s)
		}
	}
	return signals
}

// wait passes signals on until the command ends.
func wait(pid int, signals <-chan os.Signal) (exit int) {
	keyboard := hasKeyboard()
	go func() {
		for s := range signals {
			if number, ok := s.(syscall.Signal); ok && !(keyboard && (number == syscall.SIGINT || number == syscall.SIGQUIT)) {
				_ = syscall.Kill(pid, number)
			}
		}
	}()
	var status syscall.WaitStatus
	for {
		_, err := syscall.Wait4(pid, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return ExitUnsupported
		case status.Signaled():
			return 128 + int(status.Signal())
		case status.Exited():
			return status.ExitStatus()
		}
	}
}

// hasKeyboard reports whether this process's group gets the keyboard's signals.
func hasKeyboard() bool {
	tty, err := unix.Open("/dev/tty", unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
	if err != nil {
		return false
	}
	defer func() { _ = unix.Close(tty) }() // nothing is buffered
	group, err := unix.IoctlGetInt(tty, unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}
