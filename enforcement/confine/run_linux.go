package confine

import (
	"errors"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
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
	if abi > 0 && !o.Whole && o.Above == 0 {
		return runKept(o, notes)
	}
	if abi == 0 {
		say(notes, "not confined, "+why+"; what it changes is only compared afterwards")
	}
	made := place(o)
	defer made.remove()
	command := prepare(o, abi, program)
	guard := Guard(o.Project, nil)
	defer guard.Close()
	if o.Whole || o.Above > 0 {
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
	if command.keeper != nil {
		if path := command.keeper.told(); path != "" {
			say(notes, "the socket "+path+" was refused: what listens there acts outside of the command's limits. The user runs what needs it.")
		}
	}
	report(notes, o, command.limits.notes, guard.Restore(nil), exit)
	switch {
	case o.Above == 0:
	case childless():
		tellStatus(exit)
	default:
		stay(exit)
	}
	return exit, nil
}

// command is a program that is about to run confined.
type command struct {
	limits limits
	pid    int
	goes   chan bool // closed unsent, or sent true: it may start
	ended  chan error
	thread int      // that has the command's limits
	keeper *keeper  // nil without confinement
	gate   *os.File // closed when that thread is gone; nil for a program that does not wait
}

// prepare begins to make a command's limits, on a thread that is confined to
// them before it starts the program: a new process inherits the limits of the
// thread that made it, and no other thread of this one has them.
//
// That thread ends once the program is started. A signal reaches all that share
// its sender's limits, and through one thread its whole process: the command
// could end what has to put back what it changed. And a process may trace those
// with limits that include its own, so the command could take hold of that
// thread, and through its memory of the whole process: against that, this
// process is made untraceable besides, and apply takes from root what overrides
// it.
func prepare(o Options, abi int, program string) *command {
	c := &command{goes: make(chan bool, 1), ended: make(chan error, 1)}
	go onThreadThatEnds(func() {
		c.thread = syscall.Gettid()
		c.ended <- c.run(o, abi, program)
	})
	return c
}

// onThreadThatEnds calls a function on a thread of its own, which ends with it. The
// first thread of a process does not end, so there it keeps that one busy and
// takes another.
func onThreadThatEnds(f func()) {
	runtime.LockOSThread()
	if syscall.Gettid() != os.Getpid() {
		f()
		return
	}
	done := make(chan bool)
	go func() {
		defer close(done)
		onThreadThatEnds(f)
	}()
	<-done
	runtime.UnlockOSThread()
}

// start lets the command go and returns when it runs.
func (c *command) start() error {
	c.goes <- true
	err := <-c.ended
	if c.gate == nil || err != nil {
		return err
	}
	for waited := 0; alive(c.thread); waited++ {
		switch {
		case waited < spins:
			runtime.Gosched()
		case waited < spins+patience:
			pause(1)
		default:
			_ = syscall.Kill(c.pid, syscall.SIGKILL) // it has not begun
			return because(ErrUnsupported, "the thread that has the command's limits does not end")
		}
	}
	// Its end alone would not do: that comes where this process ends, too.
	_, err = c.gate.WriteString("\n")
	_ = c.gate.Close()
	if err != nil && !errors.Is(err, syscall.EPIPE) { // of one that has ended already
		_ = syscall.Kill(c.pid, syscall.SIGKILL) // it has not begun
		return wrong("confine: let the command begin", err)
	}
	return nil
}

// A thread that is about to end is looked at so often at once, and then for so many
// milliseconds.
const spins, patience = 200, 5000

// alive reports whether a thread of this process has not ended.
func alive(thread int) bool {
	_, err := os.Lstat("/proc/self/task/" + strconv.Itoa(thread))
	return err == nil
}

// drop lets go of a command that is not started.
func (c *command) drop() { close(c.goes) }

// waiting is the shell that runs a program when it may go on. A system without it
// starts the program at once.
const waiting = "/bin/sh"

func (c *command) run(o Options, abi int, program string) error {
	c.limits = limitsOf(o)
	var rules *ruleset
	var err error
	if abi > 0 {
		if rules, err = newRuleset(abi, o.Profile == Implementation); err != nil {
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
	closeOnExec(3)
	if rules != nil {
		began := FileClock()
		if err := rules.apply(); err != nil {
			return err
		}
		if c.keeper, err = keep(o, c.limits, began); err != nil {
			return err
		}
	}
	files := []uintptr{0, 1, 2}
	args := o.Args
	if _, err := os.Stat(waiting); err == nil || o.Waits {
		waits, gate, err := os.Pipe()
		if err != nil {
			return wrong("confine: a pipe", err)
		}
		defer func() { _ = waits.Close() }() // nothing is read
		files, c.gate = append(files, waits.Fd()), gate
		if !o.Waits {
			program, args = waiting, append([]string{waiting, "-c", `read WRIT_GO <&3 || exit 125; unset WRIT_GO; exec 3<&-; exec "$@"`, waiting, program}, args[1:]...)
		}
	}
	pid, err := syscall.ForkExec(program, args, &syscall.ProcAttr{
		Dir: o.Dir, Env: environment(o.Vars, c.limits.vars), Files: files, Sys: &syscall.SysProcAttr{},
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
	if o.Program != "" {
		return o.Program, nil
	}
	if indexByte(name, '/') >= 0 {
		info, err := os.Stat(join(o.Dir, name))
		if absolute(name) {
			info, err = os.Stat(name)
		}
		switch {
		case err != nil:
			return "", wrong("confine: "+name, err)
		case !info.Mode().IsRegular() || info.Mode()&0o111 == 0:
			return "", wrong("confine: "+name, os.ErrPermission)
		}
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
	go pass(pid, signals)
	return ending(pid)
}

// pass hands signals on to a process, but those that the keyboard sends it as well.
func pass(pid int, signals <-chan os.Signal) {
	keyboard := hasKeyboard()
	for s := range signals {
		if number, ok := s.(syscall.Signal); ok && !(keyboard && (number == syscall.SIGINT || number == syscall.SIGQUIT)) {
			_ = syscall.Kill(pid, number)
		}
	}
}

// ending waits for the end of a child.
func ending(pid int) (exit int) {
	var status syscall.WaitStatus
	for {
		ended, err := syscall.Wait4(-1, &status, 0, nil) // or one that lost its parent
		switch {
		case errors.Is(err, syscall.EINTR), err == nil && ended != pid:
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
