//go:build amd64 || arm64

package confine

import (
	"syscall"
	"unsafe"
)

// onto makes a copy of this process that calls entry with s and command, on a stack of its
// own, and returns the copy's number or an error's, negated.
//
//go:noescape
func onto(flags, stack uintptr, ends *int32, s *startup, command, entry uintptr) (pid uintptr)

// hearing are the addresses of what notes a signal, and of how it goes back.
func hearing() (heard, back uintptr)

// hears is the descriptor that signals are written to.
var hears uintptr //nolint:unused // hear reads it

// clone makes a copy. The memory stays one: to copy the tables of its pages, and each page
// that one of them writes, takes longer than all that a copy does. Where a system makes no
// such copies it is copied.
//
//go:norace
//go:nosplit
func clone(flags uintptr, s *startup, command uintptr) (pid uintptr, errno syscall.Errno) {
	stack := uintptr(unsafe.Pointer(&s.stacks)) + (command+1)*unsafe.Sizeof(s.stacks[0])
	pid = onto(flags|cloneVM, stack&^15-64, &s.ends, s, command, s.entry)
	if -pid == uintptr(syscall.EINVAL) {
		pid = onto(flags, stack&^15-64, &s.ends, s, command, s.entry)
	}
	if int(pid) < 0 {
		return 0, syscall.Errno(-pid)
	}
	return pid, 0
}

// action is struct sigaction.
type action struct {
	handler, flags, back uintptr
	mask                 uint64
}

const (
	ignoring   = 1
	withReturn = 0x04000000 // SA_RESTORER
	onOwnStack = 0x08000000 // SA_ONSTACK
	restarting = 0x10000000 // SA_RESTART
)

// react sets what a signal does, and returns what it did. A pointer that is nil leaves it.
//
//go:norace
//go:nosplit
func react(signal uintptr, next *action) (was action, errno syscall.Errno) {
	_, _, errno = syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, signal, uintptr(unsafe.Pointer(next)), uintptr(unsafe.Pointer(&was)), unsafe.Sizeof(was.mask), 0, 0)
	return was, errno
}

// unblock lets signals do with a copy what they do with a new program. Nothing of the
// library is called: what it goes by are the threads of the process that is copied.
//
//go:norace
//go:nosplit
func (s *startup) unblock() {
	for signal := uintptr(1); signal <= 64; signal++ {
		if was, _ := react(signal, nil); was.handler > ignoring {
			_, _ = react(signal, &s.usual)
		}
	}
	_, _, _ = syscall.RawSyscall6(syscall.SYS_RT_SIGPROCMASK, setMask, uintptr(unsafe.Pointer(&s.blocked)), 0, unsafe.Sizeof(s.blocked), 0, 0)
}

// catch has the numbers of signals written to a pipe. The library's way takes two threads,
// and for each signal a switch to one of them and back.
func catch(signals []syscall.Signal) (from int) {
	var pipe [2]int
	if syscall.Pipe2(pipe[:], syscall.O_CLOEXEC|syscall.O_NONBLOCK) != nil {
		return -1
	}
	hears = uintptr(pipe[1])
	note := &action{flags: onOwnStack | restarting | withReturn, mask: ^uint64(0)}
	note.handler, note.back = hearing()
	for _, s := range signals {
		// One that was ignored stays so, as nohup wants it.
		if was, errno := react(uintptr(s), nil); errno == 0 && was.handler != ignoring {
			_, _ = react(uintptr(s), note) // all of them can be caught
		}
	}
	return pipe[0]
}
