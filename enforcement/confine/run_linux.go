package confine

import (
	"errors"
	"io"
	"os"
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
	guard := &Guarded{} // of nothing, where the kernel has nothing of the project written
	if o.Profile == Implementation || o.Git || len(o.Write)+len(o.Make) > 0 || abi < abiScoped || !keeps {
		guard = Guard(o.Project, nil)
	}
	defer guard.Close()
	c := &command{whole: o.Whole, calls: -1, signals: int32(catch(caught))} // before the command can be heard of, so that none is lost
	if err := c.start(o, abi, program); err != nil {
		return ExitFor(err), err
	}
	if o.Whole {
		go endWithParent(above, c.copy)
	}
	exit, err = c.ending()
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
	calls   int32  // one that tells of the command's first call to the keeper, -1 before and after it
	signals int32  // one that the signals to pass on are read from
	reports [2]int // what it tells
	begun   int    // the command's process, 0 before it is told
	whole   bool
	left    bool // something runs that the command started

	ended     bool // that process did, without a word
	dispersed bool // all was ended, since there was too much of it
}

// copies are what those of this process work in. Where they share its memory nothing of it
// may be used again.
var copies []*startup

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
	copies = append(copies, s)
	if errno != 0 {
		return wrong("confine: start the process that keeps the command", errno)
	}
	c.copy, c.ends = pid, ends
	return nil
}

// hear waits for what the copies tell. ok is false once the one that stays has ended.
func (c *command) hear() (what uint32, number int, ok bool) {
	for gone := false; ; {
		look := []looked{{fd: int32(c.reports[0]), want: pollIn}, {fd: c.ends, want: pollIn}, {fd: c.calls, want: pollIn}, {fd: -1, want: pollIn}}
		if c.begun != 0 {
			look[3].fd = c.signals
		}
		most := watching
		if gone {
			most = 0
		}
		switch errno := poll(look, most); {
		case errno == syscall.EINTR:
			continue
		case errno != 0:
			return 0, 0, false
		}
		if look[2].found&pollIn != 0 {
			c.keeper.begin()
		}
		if look[2].found != 0 { // or everybody is gone
			c.calls = -1
		}
		if look[3].found != 0 {
			c.pass()
		}
		if look[1].found != 0 { // Linux 5.2 has such descriptors, and they tell nothing
			c.ends = -1
		}
		if look[0].found == 0 {
			if gone {
				return 0, 0, false
			}
			if look[2].found != 0 || look[3].found != 0 {
				continue
			}
			ended, _ := syscall.Wait4(c.copy, nil, syscall.WNOHANG, nil)
			gone = ended == c.copy // what it told last came after this look
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
func (c *command) ending() (exit int, err error) {
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
			c.begun = number
			_ = prctl(prSetDumpable, 0) // where a copy has memory of its own
		case what == toldLaid:
			c.keeper.above, c.calls = c.copy, int32(c.keeper.listener)
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
func (c *command) pass() {
	var numbers [8]byte
	n, _ := syscall.Read(int(c.signals), numbers[:])
	for _, number := range numbers[:max(n, 0)] {
		switch s := syscall.Signal(number); {
		case (s == syscall.SIGINT || s == syscall.SIGQUIT) && hasKeyboard():
		case c.whole && s == syscall.SIGTERM:
			kill(descendantsOf(c.copy))
		default:
			_ = syscall.Kill(c.begun, s)
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

// caught are the signals that are passed on: those that are sent to one process to tell it
// something. Those of the keyboard reach the whole group, so that they are only kept from
// ending this process before the command.
var caught = []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGUSR2}

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
