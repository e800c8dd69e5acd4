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
	"unsafe"
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
	if o.Since > 0 {
		keepLeft(o)
		return 0, nil
	}
	runtime.LockOSThread() // a copy is told when the thread ends that made it
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
	made := place(o)
	defer made.remove()
	guard := Guard(o.Project, nil)
	defer guard.Close()
	caught := make(chan os.Signal, 8)
	catch(caught, passed) // before the command can be heard of, so that none is lost
	c := &command{}
	if err := c.start(o, abi, program); err != nil {
		return ExitFor(err), err
	}
	catch(caught, typed)
	if o.Whole {
		go endWithParent(above, c.copy)
	}
	exit, err = c.ending(caught, o.Whole)
	if err != nil {
		return ExitFor(err), wrong("confine: "+o.Args[0], err)
	}
	if c.ended {
		say(notes, holdEnded)
		return ExitUnsupported, nil
	}
	if o.Whole && c.left && endAll(c.copy) {
		say(notes, "what the command left running in the background was ended")
	}
	if path := c.keeper.told(); path != "" {
		say(notes, "the socket "+path+" was refused: what listens there acts outside of the command's limits. The user runs what needs it.")
	}
	if c.dispersed {
		say(notes, "the command had started more than "+strconv.Itoa(crowd())+" processes and threads, so it was ended: the machine has to answer others as well.")
	}
	report(notes, o, c.limits.notes, guard.Restore(nil), exit)
	if c.left && !o.Whole {
		c.keeper.handOver()
		return exit, nil
	}
	for err := error(syscall.EINTR); errors.Is(err, syscall.EINTR); { // nobody is to find the copy in the command's group
		_, err = syscall.Wait4(c.copy, nil, 0, nil)
	}
	return exit, nil
}

// holdEnded is said where the process above the command ended without a word.
const holdEnded = "the process that held the command ended by itself, so what the command had started was ended as well. " +
	"Where the system can make no more processes (`ulimit -u`, pids.max of a container), end some before you run it again."

// command is a program that runs confined.
type command struct {
	limits  limits
	keeper  *keeper
	copy    int    // the process between this one and the command
	ends    int32  // a descriptor that tells its end
	reports [2]int // what it tells
	left    bool   // something runs that the command started

	ended     bool // that process did, without a word
	dispersed bool // all was ended, since there was too much of it
}

// start makes a command's limits, and the copy of this process under which it begins.
func (c *command) start(o Options, abi int, program string) error {
	if err := adopt(); err != nil { // in case that the copy ends
		return err
	}
	c.limits = limitsOf(o)
	began := FileClock()
	c.keeper = newKeeper(o, c.limits, began)
	var rules *ruleset
	if abi > 0 {
		var err error
		if rules, err = newRuleset(abi, o.Profile == Implementation); err != nil {
			return err
		}
		if err := rules.fill(c.limits, o.Profile == Implementation); err != nil {
			return err
		}
	}
	s, err := prepared(o, c.limits, rules, program, began)
	if err != nil {
		return err
	}
	closeOnExec(3)
	if err := syscall.Pipe2(c.reports[:], syscall.O_CLOEXEC); err != nil {
		return wrong("confine: a pipe", err)
	}
	s.report, s.listener, s.legacy = uintptr(c.reports[1]), ^uintptr(0), ^uintptr(0)
	if abi > 0 {
		if s.listener, s.legacy, err = c.keeper.bequeath(); err != nil {
			return wrong("confine: descriptors for what the command may leave running", err)
		}
	}
	syscall.ForkLock.Lock()
	pid, ends, errno := fork(s)
	syscall.ForkLock.Unlock()
	runtime.KeepAlive(s)
	_ = prctl(prSetDumpable, 0) // nobody needs to look into it
	if errno != 0 {
		return wrong("confine: start the process that keeps the command", errno)
	}
	c.copy, c.ends = pid, ends
	return nil
}

// hear waits for what the copies tell. ok is false once the one that stays has ended.
func (c *command) hear() (what uint32, number int, ok bool) {
	look, most := []looked{{fd: int32(c.reports[0]), want: pollIn}, {fd: c.ends, want: pollIn}}, watching
	for {
		switch errno := poll(look, most); {
		case errno == syscall.EINTR:
			continue
		case errno != 0:
			return 0, 0, false
		case look[0].found == 0 && most == 0:
			return 0, 0, false
		case look[0].found == 0:
			if ended, _ := syscall.Wait4(c.copy, nil, syscall.WNOHANG, nil); ended == c.copy {
				most = 0 // what it told last may have come after this look
			}
			if look[1].found != 0 { // Linux 5.2 has such descriptors, and they tell nothing
				look[1].fd, look[1].found = -1, 0
			}
			c.dispersed = disperse(c.copy) || c.dispersed
			continue
		}
		var word [2]uint32
		n, err := syscall.Read(c.reports[0], (*[8]byte)(unsafe.Pointer(&word))[:])
		if err == nil && n == len(word)*4 {
			return word[0], int(word[1]), true
		}
	}
}

// ending passes signals on until the command ends.
func (c *command) ending(signals <-chan os.Signal, whole bool) (exit int, err error) {
	for {
		what, number, ok := c.hear()
		switch {
		case !ok && err == nil:
			c.ended = true
			for !childless() {
				kill(descendantsOf(os.Getpid()))
				pause(1)
			}
			return 0, nil
		case !ok:
			return 0, err
		case what == toldBegun:
			go c.pass(number, signals, whole)
		case what == toldLaid:
			c.keeper.above = c.copy
			c.keeper.begin()
		case what == toldEnded || what == toldLeft:
			c.left = what == toldLeft
			return exitOf(syscall.WaitStatus(number)), err
		case what == toldNoHold && syscall.Errno(number) == syscall.E2BIG:
			err = wrong("sixteen confinements are around this one already", syscall.E2BIG)
		case what == toldNoHold:
			err = wrong("lay the limits", syscall.Errno(number))
		default:
			err = syscall.Errno(number)
		}
	}
}

func exitOf(status syscall.WaitStatus) int {
	if status.Signaled() {
		return 128 + int(status.Signal())
	}
	return status.ExitStatus()
}

// pass hands signals on to the command, but those that the keyboard sends it as well.
// Where nothing of it may be left, SIGTERM ends all.
func (c *command) pass(pid int, signals <-chan os.Signal, whole bool) {
	for s := range signals {
		number, ok := s.(syscall.Signal)
		switch {
		case !ok || (number == syscall.SIGINT || number == syscall.SIGQUIT) && hasKeyboard():
		case whole && number == syscall.SIGTERM:
			kill(descendantsOf(c.copy))
		default:
			_ = syscall.Kill(pid, number)
		}
	}
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
