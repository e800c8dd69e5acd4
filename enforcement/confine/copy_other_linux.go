//go:build linux && !amd64 && !arm64

package confine

import (
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"unsafe"
)

type action struct{}

//go:linkname afterForkInChild syscall.runtime_AfterForkInChild
func afterForkInChild()

// clone makes a copy with memory of its own.
//
//go:norace
//go:nosplit
func clone(flags uintptr, s *startup, command uintptr) (pid uintptr, errno syscall.Errno) {
	first, second := flags&^cloneVfork, uintptr(0)
	if runtime.GOARCH == "s390x" {
		first, second = second, first
	}
	pid, _, errno = syscall.RawSyscall6(syscall.SYS_CLONE, first, second, uintptr(unsafe.Pointer(&s.ends)), 0, 0, 0)
	if pid == 0 && errno == 0 {
		copied(s, command)
	}
	return pid, errno
}

//go:norace
//go:nosplit
func (s *startup) unblock() { afterForkInChild() }

// catch has the numbers of signals written to a pipe.
func catch(signals []syscall.Signal) (from int) {
	var pipe [2]int
	if syscall.Pipe2(pipe[:], syscall.O_CLOEXEC) != nil {
		return -1
	}
	caught := make(chan os.Signal, len(signals)+2)
	for _, s := range signals {
		// One that was ignored stays so, as nohup wants it.
		if !signal.Ignored(s) {
			signal.Notify(caught, s)
		}
	}
	go func() {
		for s := range caught {
			number, _ := s.(syscall.Signal)
			_, _ = syscall.Write(pipe[1], []byte{byte(number)})
		}
	}()
	return pipe[0]
}
