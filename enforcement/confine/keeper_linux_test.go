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
		"seccomp": {keeperArch.seccomp, unix.SYS_SECCOMP}, "statx": {keeperArch.statx, unix.SYS_STATX}, "sendmmsg": {keeperArch.sendmmsg, unix.SYS_SENDMMSG}, "fast open": {fastOpen, unix.MSG_FASTOPEN}, "prlimit": {keeperArch.prlimit, unix.SYS_PRLIMIT64},
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

// TestWhoTakesOrdersIsOutOfReach: a debugger's port, or a shell's of this machine, has a
// process outside do what it is told. One that the command or an earlier one started is its own.
func TestWhoTakesOrdersIsOutOfReach(t *testing.T) {
	needLandlock(t)
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not installed")
	}
	serve := func(at string) {
		l, err := net.Listen("tcp", at)
		if err != nil {
			t.Skip(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		go func() {
			for c, err := l.Accept(); err == nil; c, err = l.Accept() {
				_, _ = c.Write([]byte("reached"))
				_ = c.Close()
			}
		}()
	}
	hosts := []string{"127.83.1.7"}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addresses {
		if ip, ok := a.(*net.IPNet); ok && ip.IP.IsGlobalUnicast() {
			hosts = append(hosts, ip.IP.String())
		}
	}
	reach := ""
	for _, host := range hosts {
		serve(net.JoinHostPort(host, "5005"))
		reach += "try: print(socket.create_connection(('" + host + "', 5005)).recv(9))\nexcept OSError as e: print(e)\n"
	}
	serve("127.83.1.7:15005")
	const imports = "import socket\nsocket.setdefaulttimeout(60)\n"
	script := func(text string) []string { return []string{"/bin/sh", "-c", python, "sh", imports + text} }
	w := newWorld(t, os.Geteuid())
	open, _ := w.result(w.plain("/bin/sh", script(reach)[1:]...))
	if strings.Count(open, "reached") != len(hosts) {
		t.Fatalf("it is not reached without the hold:\n%s", open)
	}
	for _, profile := range []Profile{ReadOnly, Implementation} {
		out, _ := w.result(w.confined(w.options(profile, script(reach+"raise SystemExit(1)")...)))
		if strings.Contains(out, "reached") || !strings.Contains(out, "at port 5005 of this machine was refused") {
			t.Errorf("%s: it is reached:\n%s", profile, out)
		}
		const own = "l = socket.create_server(('127.83.1.8', 2345))\nc = socket.create_connection(('127.83.1.8', 2345))\nl.accept()[0].send(b'own')\nprint(c.recv(9))\n"
		if out, _ := w.result(w.confined(w.options(profile, script(own+"print(socket.create_connection(('127.83.1.7', 15005)).recv(9))")...))); !strings.Contains(out, "own") || !strings.Contains(out, "reached") {
			t.Errorf("%s: its own, or another server, is not reached:\n%s", profile, out)
		}
	}
	const begin = "nohup python3 -c \"import socket\nl = socket.create_server(('127.83.1.9', 9222))\nopen('$T/listens', 'w')\nfor _ in range(2): l.accept()[0].send(b'left')\" > /dev/null 2>&1 & until [ -e $T/listens ]; do sleep .01; done"
	if out, exit := w.run(ReadOnly, begin); exit != 0 {
		t.Fatal(out)
	}
	for profile, reached := range map[Profile]bool{ReadOnly: true, Implementation: false} {
		out, _ := w.result(w.confined(w.options(profile, script("print(socket.create_connection(('127.83.1.9', 9222)).recv(9))")...)))
		if strings.Contains(out, "left") != reached {
			t.Errorf("%s: what another one left is reached or not: want %t:\n%s", profile, reached, out)
		}
	}
	if out, _ := w.result(w.plain("/bin/sh", script("socket.create_connection(('127.83.1.9', 9222))")[1:]...)); out != "" { // it ends with this
		t.Error(out)
	}
}

// TestWherePersonsActIsOutOfReach: a command sees the link to the dashboard on the command
// line of what opens it, and a browser's cookie at its own server.
func TestWherePersonsActIsOutOfReach(t *testing.T) {
	needLandlock(t)
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not installed")
	}
	answering := func() (port string) {
		first, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		_, port, _ = net.SplitHostPort(first.Addr().String())
		all := []net.Listener{first}
		if second, err := net.Listen("tcp", "[::1]:"+port); err == nil {
			all = append(all, second)
		}
		for _, l := range all {
			t.Cleanup(func() { _ = l.Close() })
			go func() {
				for c, err := l.Accept(); err == nil; c, err = l.Accept() {
					_, _ = c.Write([]byte("reached"))
					_ = c.Close()
				}
			}()
		}
		return port
	}
	door, other := answering(), answering()
	ways := map[string]string{
		"address":                    "c = socket.create_connection(('127.0.0.1', PORT))",
		"no machine":                 "c = socket.create_connection(('0.0.0.0', PORT))",
		"name":                       "c = socket.create_connection(('localhost', PORT))",
		"mapped":                     "c = socket.socket(socket.AF_INET6); c.connect(('::ffff:127.0.0.1', PORT))",
		"mapped, no machine":         "c = socket.socket(socket.AF_INET6); c.connect(('::ffff:0.0.0.0', PORT))",
		"with the first words":       "c = socket.socket(); c.sendto(b'x', 0x20000000, ('127.0.0.1', PORT))",
		"in a message":               "c = socket.socket(); c.sendmsg([b'x'], [], 0x20000000, ('127.0.0.1', PORT))",
		"with the first words later": "c = socket.socket(); c.setsockopt(6, 30, 1); c.connect(('127.0.0.1', PORT)); c.send(b'x')",
		"not waiting":                "c = socket.socket(); c.setblocking(False); c.connect_ex(('127.0.0.1', PORT)); c.setblocking(True)",
		"by another protocol":        "c = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262); c.connect(('127.0.0.1', PORT))",
	}
	if l, err := net.Listen("tcp", "[::1]:0"); err == nil {
		_ = l.Close()
		ways["version 6"] = "c = socket.create_connection(('::1', PORT))"
		ways["version 6, no machine"] = "c = socket.create_connection(('::', PORT))"
	}
	w := newWorld(t, os.Geteuid())
	w.write(filepath.Join(w.data, "run", "doors"), "0\n"+door+"\n")
	w.own()
	script := func(port string) (line []string) {
		all := "import socket\nsocket.setdefaulttimeout(60)\n"
		for name, way := range ways {
			all += "try:\n    " + strings.ReplaceAll(way, "PORT", port) + "\n    print('" + name + ":', c.recv(9))\nexcept OSError as e: print('" + name + ":', e)\n"
		}
		return []string{"/bin/sh", "-c", python, "sh", all}
	}
	open, _ := w.result(w.plain("/bin/sh", script(door)[1:]...))
	if n := strings.Count(open, "reached"); n < len(ways)-4 { // some need what a kernel may lack
		t.Fatalf("%d of %d ways lead there without the hold:\n%s", n, len(ways), open)
	}
	for _, profile := range []Profile{ReadOnly, Implementation} {
		if out, _ := w.result(w.confined(w.options(profile, script(door)...))); strings.Contains(out, "reached") || strings.Count(out, ":") < len(ways) {
			t.Errorf("%s: it is reached:\n%s", profile, out)
		}
		// What begins with its first words falls back to a plain connection, or not: it is refused.
		if out, _ := w.result(w.confined(w.options(profile, script(other)...))); strings.Count(out, "reached") < strings.Count(open, "reached")-2 {
			t.Errorf("%s: what is none is not reached either:\n%s\nand without the hold:\n%s", profile, out, open)
		}
	}
}
