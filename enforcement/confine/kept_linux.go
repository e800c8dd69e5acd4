package confine

import (
	"errors"
	"io"
	"os"
	"os/signal"
	"strconv"
	"syscall"
)

// Connections of a command are made by a process that has to be there as long as
// anything the command started is, and above it: some systems let a process be
// traced, which taking its descriptors counts as, by those above it alone. Whoever
// waits for the command waits for its end, not for that of a server that it left.
// So two processes share the work: the one that was asked waits, and the one that
// it starts runs the command and stays.

// statusFd is where the second process says the command's exit status.
const statusFd = 3

// runKept starts this program a second time, to run the command, and waits for the
// command's end. Where the second one ends without a word – it could make no thread,
// or no memory was left – nothing serves the command any more, and nobody puts back
// what it changes: what it had started is ended.
func runKept(o Options, notes io.Writer) (exit int, err error) {
	if err := adopt(); err != nil {
		return ExitFor(err), err
	}
	var pipe [2]int
	if err := syscall.Pipe2(pipe[:], syscall.O_CLOEXEC); err != nil {
		return ExitUnsupported, wrong("confine: a pipe", err)
	}
	args := append([]string{os.Args[0], os.Args[1], KeptOption, strconv.Itoa(os.Getppid())}, os.Args[2:]...)
	caught := make(chan os.Signal, 8)
	catch(caught, passed)
	pid, err := syscall.ForkExec("/proc/self/exe", args, &syscall.ProcAttr{Env: o.Vars, Files: []uintptr{0, 1, 2, uintptr(pipe[1])}})
	_ = syscall.Close(pipe[1]) // the other's
	if err != nil {
		return ExitUnsupported, wrong("confine: start the process that keeps the command", err)
	}
	catch(caught, typed)
	go pass(pid, caught)
	var status [1]byte
	n, err := syscall.Read(pipe[0], status[:])
	for errors.Is(err, syscall.EINTR) {
		n, err = syscall.Read(pipe[0], status[:])
	}
	if n == 1 {
		return int(status[0]), nil
	}
	exit = ending(pid)
	if exit == ExitUnsupported || exit == ExitCannotRun || exit == ExitNotFound {
		return exit, nil // it said why nothing ran
	}
	for !childless() {
		kill(descendants())
		pause(1)
	}
	say(notes, "the process that held the command ended by itself, so what the command had started was ended as well. "+
		"Where the system can make no more processes (`ulimit -u`, pids.max of a container), end some before you run it again.")
	return ExitUnsupported, nil
}

// stay says how the command ended, and keeps what it left running: the connections
// of that are made here. None of the command's streams is held meanwhile.
func stay(exit int) {
	signal.Ignore(append(passed, typed...)...)
	if null, err := syscall.Open("/dev/null", syscall.O_RDWR|syscall.O_CLOEXEC, 0); err == nil {
		for fd := range 3 {
			_ = syscall.Dup3(null, fd, 0) // as far as it goes
		}
	}
	tellStatus(exit)
	for {
		var status syscall.WaitStatus
		if _, err := syscall.Wait4(-1, &status, 0, nil); errors.Is(err, syscall.ECHILD) {
			return
		}
	}
}

func tellStatus(exit int) {
	_, _ = syscall.Write(statusFd, []byte{byte(exit)}) // nobody may wait
	_ = syscall.Close(statusFd)
}
