package confine

import (
	"errors"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"syscall"
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
	above := os.Getppid()
	abi, why := Supported()
	if abi == 0 && !o.BestEffort {
		return ExitUnsupported, because(ErrUnsupported, why)
	}
	program, err := find(o)
	if err != nil {
		return ExitFor(err), err
	}
	if abi == 0 {
		say(notes, "not confined, "+why+"; what it changes is only compared afterwards")
	}
	command := prepare(o, abi, program)
	guard := Guard(o.Project, o.Lock)
	defer guard.Close()
	if o.Whole {
		if err := adopt(); err != nil {
			command.drop()
			return ExitFor(err), err
		}
	}
	caught := make(chan os.Signal, 8)
	catch(caught, passed) // before the command can be heard of, so that none is lost
	if err := command.start(); err != nil {
		return ExitFor(err), err
	}
	catch(caught, typed)
	var signals <-chan os.Signal = caught
	if o.Whole {
		signals = endOnTerm(signals)
		go endWithParent(above)
	}
	exit = wait(command.pid, signals)
	if o.Whole && endAll() {
		say(notes, "what the command left running in the background was ended")
	}
	report(notes, o, command.limits.notes, guard.Restore(), exit)
	return exit, nil
}

// command is a program that is about to run confined.
type command struct {
	limits limits
	pid    int
	goes   chan bool // closed unsent, or sent true: it may start
	ended  chan error
}

// prepare begins to make a command's limits, on a thread that is confined to
// them before it starts the program: a new process inherits the limits of the
// thread that made it, and no other thread of this one has them. The thread is
// kept, idle, until this process ends, because the program dies with the thread
// that started it.
//
// A process may trace those with limits that include its own, so the command
// could take hold of that thread, and through its memory of the whole process.
// That it cannot, this process is made untraceable, and apply takes from root
// what overrides that.
func prepare(o Options, abi int, program string) *command {
	c := &command{goes: make(chan bool, 1), ended: make(chan error, 1)}
	go func() {
		runtime.LockOSThread()
		c.ended <- c.run(o, abi, program)
		select {}
	}()
	return c
}

// start lets the command go and returns when it runs.
func (c *command) start() error {
	c.goes <- true
	return <-c.ended
}

// drop lets go of a command that is not started.
func (c *command) drop() { close(c.goes) }

func (c *command) run(o Options, abi int, program string) error {
	c.limits = limitsOf(o)
	var rules *ruleset
	if abi > 0 {
		var err error
		if rules, err = newRuleset(abi); err != nil {
			return err
		}
		defer rules.close()
		if err := rules.fill(c.limits); err != nil {
			return err
		}
	}
	if !<-c.goes {
		return nil
	}
	if err := prctl(prSetDumpable, 0); err != nil {
		return wrong("confine: make this process untraceable", err)
	}
	if rules != nil {
		if err := rules.apply(); err != nil {
			return err
		}
	}
	pid, err := syscall.ForkExec(program, o.Args, &syscall.ProcAttr{
		Dir: o.Dir, Env: environment(o.Vars, c.limits.vars), Files: []uintptr{0, 1, 2},
		// What ends this process outright would have ended the command.
		Sys: &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		return wrong("confine: "+o.Args[0], err)
	}
	c.pid = pid
	return nil
}

// environment is vars with those of more in their place: of two with one name
// most programs take the first.
func environment(vars, more []string) []string {
	vars = slices.Clone(vars)
	for _, add := range more {
		name := add[:indexByte(add, '=')+1]
		vars = append(slices.DeleteFunc(vars, func(v string) bool { return hasPrefix(v, name) }), add)
	}
	return vars
}

// find looks a program up as a shell would.
func find(o Options) (string, error) {
	name := o.Args[0]
	if indexByte(name, '/') >= 0 {
		return name, nil
	}
	for _, dir := range lists(o.getenv("PATH")) {
		if !absolute(dir) {
			dir = join(o.Dir, dir)
		}
		path := join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	return "", wrong("confine: "+name, ErrNotFound)
}

// passed are the signals that are sent to one process to tell it something.
var passed = []os.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGUSR1}

// typed are those of the keyboard, which reach the whole group, so that they are
// only kept from ending this process before the command, and one that little is
// told by. Each that is caught takes time, so these are while the command starts:
// one that comes before ends both, as it would end the command.
var typed = []os.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGUSR2}

// catch keeps signals that are to be passed on.
func catch(signals chan os.Signal, which []os.Signal) {
	for _, s := range which {
		// One that was ignored stays so, as nohup wants it.
		if !signal.Ignored(s) {
			signal.Notify(signals, s)
		}
	}
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
	tty, err := syscall.Open("/dev/tty", syscall.O_RDONLY|syscall.O_CLOEXEC|syscall.O_NOCTTY, 0)
	if err != nil {
		return false
	}
	defer func() { _ = syscall.Close(tty) }() // nothing is buffered
	group, err := foreground(tty)
	return err == nil && group == syscall.Getpgrp()
}
