//go:build amd64 || arm64

package confine

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestAKeeperEndsOnceNobodyIsLeft that it serves, and not before.
func TestAKeeperEndsOnceNobodyIsLeft(t *testing.T) {
	if abi, why := Supported(); abi == 0 {
		t.Skip(why)
	}
	listener, goes, ended := make(chan uintptr), make(chan bool), make(chan bool)
	go onThreadThatEnds(func() { close(ended) }, func() {
		fd := uintptr(0)
		if prctl(prSetNoNewPrivs, 1) == nil {
			notified, _ := filters(Options{Profile: ReadOnly})
			if laid, errno := install(&notified, seccompNewListener); errno == 0 {
				fd = laid
			}
		}
		listener <- fd
		<-goes
	})
	fd := <-listener
	if fd == 0 {
		t.Skip("no filter can be laid here")
	}
	defer func() { _ = syscall.Close(int(fd)) }()
	k := newKeeper(Options{Profile: ReadOnly}, limits{}, 0)
	k.listener = fd
	k.begin()
	k.handOver() // a thread has the filter, and it is asked to stop
	if k.busy() {
		t.Error("a keeper that was asked to stop goes on")
	}
	close(goes)
	<-ended
	k.stop = [2]int{-1, -1}
	k.serve()
}

// onThreadThatEnds calls a function on a thread of its own, which ends with it. The
// first thread of a process does not end, so there it takes another.
func onThreadThatEnds(then, f func()) {
	runtime.LockOSThread()
	if syscall.Gettid() != os.Getpid() {
		f()
		then()
		return
	}
	go onThreadThatEnds(then, f)
	<-make(chan bool) // which keeps this one busy
}

// TestNumbersOfTheFilterAreLinuxs: another call would be refused, and this one not.
func TestNumbersOfTheFilterAreLinuxs(t *testing.T) {
	for name, pair := range map[string][2]uintptr{
		"seccomp": {keeperArch.seccomp, unix.SYS_SECCOMP}, "statx": {keeperArch.statx, unix.SYS_STATX}, "prlimit": {keeperArch.prlimit, unix.SYS_PRLIMIT64},
		"io_uring": {sysIOUringSetup, unix.SYS_IO_URING_SETUP}, "pidfd": {sysPidfdOpen, unix.SYS_PIDFD_OPEN}, "descriptor": {sysPidfdGetfd, unix.SYS_PIDFD_GETFD},
		"sockets": {sockDiag, unix.NETLINK_SOCK_DIAG}, "by family": {diagByFamily, unix.SOCK_DIAG_BY_FAMILY},
		"fchmodat2": {sysFchmodat2, unix.SYS_FCHMODAT2}, "renameat2": {keeperArch.renameat2, unix.SYS_RENAMEAT2}, "exchange": {renameExchange, unix.RENAME_EXCHANGE},
		"killable": {seccompKillable, unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: %d, want %d", name, pair[0], pair[1])
		}
	}
}

// TestSocketsOfOthersMadeMeanwhileAreOutOfReach: who begins to listen outside while a
// command runs – the user's next terminal multiplexer – is not the command's own.
func TestSocketsOfOthersMadeMeanwhileAreOutOfReach(t *testing.T) {
	needLandlock(t)
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not installed")
	}
	if _, known := boundSockets(stateListening); !known {
		t.Skip("this kernel does not tell who listens")
	}
	for user, uid := range users() {
		t.Run(user, func(t *testing.T) {
			w := newWorld(t, uid)
			begun, may := filepath.Join(w.temp, "begun"), filepath.Join(w.temp, "go")
			for _, fifo := range []string{begun, may} {
				if err := unix.Mkfifo(fifo, 0o666); err != nil {
					t.Fatal(err)
				}
			}
			w.own()
			path := filepath.Join(w.temp, "s")
			c := w.confined(w.options(ReadOnly, "/bin/sh", "-c", python, "sh", `
import ctypes, os, socket, threading
open(os.environ['T'] + '/begun', 'w').close()
open(os.environ['T'] + '/go').read()
def tries(name):
    try: socket.socket(socket.AF_UNIX).connect(os.environ['T'] + '/' + name); print('reached', name)
    except OSError as e: print('not', name)
tries('s')
s = socket.socket(socket.AF_UNIX); s.bind(os.environ['T'] + '/own'); s.listen()
tries('own')
ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
s = socket.socket(socket.AF_UNIX); s.bind(os.environ['T'] + '/hidden'); s.listen()
ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)
tries('hidden')
`))
			var out strings.Builder
			c.Stdout, c.Stderr = &out, &out
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			if _, err := os.ReadFile(begun); err != nil {
				t.Fatal(err)
			}
			outside, err := net.Listen("unix", path)
			if err != nil {
				t.Fatal(err)
			}
			defer outside.Close()
			if err := errors.Join(os.Chmod(path, 0o777), os.WriteFile(may, []byte("now"), 0)); err != nil {
				t.Fatal(err)
			}
			if err := c.Wait(); err != nil {
				t.Errorf("%v\n%s", err, &out)
			}
			for _, want := range []string{"not s", "reached own", "reached hidden"} {
				contains(t, out.String(), want)
			}
		})
	}
}

// TestFileSystemsChangeNothingBehindTheHold: what one makes or closes by a request on
// a descriptor that is only read is no write to Landlock.
func TestFileSystemsChangeNothingBehindTheHold(t *testing.T) {
	needLandlock(t)
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not installed")
	}
	t.Parallel()
	script := `
import fcntl, os
for request in ` + strings.ReplaceAll(strings.Trim(fmt.Sprint(append(subvolumes, ioctlVerity)), "[]"), " ", ", ") + `:
    try: fcntl.ioctl(os.open('.', os.O_RDONLY), request, bytes(1024)); print('done')
    except OSError as e: print(e.errno)
`
	w := newWorld(t, os.Geteuid())
	for _, profile := range []Profile{ReadOnly, Implementation} {
		out, _ := w.result(w.confined(w.options(profile, "/bin/sh", "-c", python, "sh", script)))
		if want := strings.Repeat("1\n", len(subvolumes)+1); out != want { // EPERM, and not that of a file system without them
			t.Errorf("%s: %s", profile, out)
		}
	}
}
