//go:build amd64 || arm64

package confine

import (
	"runtime"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestAKeeperIsDesertedOnceNobodyIsLeft: a keeper ends once the last of what it
// serves has, and not before.
func TestAKeeperIsDesertedOnceNobodyIsLeft(t *testing.T) {
	if abi, why := Supported(); abi == 0 {
		t.Skip(why)
	}
	listener, goes, ended := make(chan uintptr), make(chan bool), make(chan bool)
	go func() {
		defer close(ended)
		onThreadThatEnds(func() {
			fd, ok := uintptr(0), prctl(prSetNoNewPrivs, 1) == nil
			if ok {
				var errno syscall.Errno
				fd, errno = install(filter(true, true), true)
				ok = errno == 0
			}
			if !ok {
				fd = 0
			}
			listener <- fd
			<-goes
		})
	}()
	fd := <-listener
	if fd == 0 {
		t.Skip("no filter can be laid here")
	}
	defer func() { _ = syscall.Close(int(fd)) }()
	k := &keeper{listener: fd}
	if k.deserted() {
		t.Error("a thread has the filter, and it is deserted")
	}
	close(goes)
	<-ended
	for !k.deserted() { // the thread ends a moment after what it ran
		runtime.Gosched()
	}
}

// TestNumbersOfTheFilterAreLinuxs: another call would be refused, and this one not.
func TestNumbersOfTheFilterAreLinuxs(t *testing.T) {
	for name, pair := range map[string][2]uintptr{
		"seccomp": {keeperArch.seccomp, unix.SYS_SECCOMP}, "statx": {keeperArch.statx, unix.SYS_STATX}, "prlimit": {keeperArch.prlimit, unix.SYS_PRLIMIT64},
		"io_uring": {sysIOUringSetup, unix.SYS_IO_URING_SETUP}, "pidfd": {sysPidfdOpen, unix.SYS_PIDFD_OPEN}, "descriptor": {sysPidfdGetfd, unix.SYS_PIDFD_GETFD},
		"fchmodat2": {sysFchmodat2, unix.SYS_FCHMODAT2},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: %d, want %d", name, pair[0], pair[1])
		}
	}
}
