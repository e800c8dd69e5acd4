package confine

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestWhatACommandLeftGoesOnConnecting: a server that a command started connects
// to what it needs after the command has ended, whose streams end with it, and
// serves later commands with the same limits and no others.
func TestWhatACommandLeftGoesOnConnecting(t *testing.T) {
	needLandlock(t)
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not installed")
	}
	t.Parallel()
	for user, uid := range users() {
		for _, profile := range []Profile{ReadOnly, Implementation} {
			t.Run(user+"/"+string(profile), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, uid)
				tcp, err := net.Listen("tcp", "127.0.0.1:0")
				if err != nil {
					t.Fatal(err)
				}
				defer tcp.Close()
				go func() {
					for c, err := tcp.Accept(); err == nil; c, err = tcp.Accept() {
						_ = c.Close()
					}
				}()
				begin, told := filepath.Join(w.temp, "begin"), filepath.Join(w.temp, "told")
				for _, fifo := range []string{begin, told} {
					if err := unix.Mkfifo(fifo, 0o666); err != nil {
						t.Fatal(err)
					}
				}
				w.own()
				server := fmt.Sprintf(`import os, socket
open(os.environ['T'] + '/begin').read()
s = socket.socket(socket.AF_UNIX); s.bind(os.environ['T'] + '/serving'); s.listen()
try:
    socket.create_connection(('127.0.0.1', %d)); said = 'connected'
except OSError as e:
    said = str(e)
open(os.environ['T'] + '/told', 'w').write(said)
while True:
    c, _ = s.accept(); said = c.recv(9)
    if said: c.send(b'served')
    c.close()
    if said == b'end': break
`, tcp.Addr().(*net.TCPAddr).Port)
				w.write(filepath.Join(w.temp, "server.py"), server)
				w.own()
				command := w.confined(w.options(profile, "/bin/sh", "-c", `setsid python3 $T/server.py > /dev/null 2>&1 < /dev/null & echo left; exit 3`))
				var out bytes.Buffer
				command.Stdout, command.Stderr = &out, &out // which is waited for until nobody holds it
				if err := command.Run(); command.ProcessState.ExitCode() != 3 || !strings.Contains(out.String(), "left") {
					t.Fatalf("%v: %s", err, out.String())
				}
				if err := os.WriteFile(begin, []byte("now\n"), 0); err != nil {
					t.Fatal(err)
				}
				if said, err := os.ReadFile(told); err != nil || string(said) != "connected" {
					t.Errorf("the server that was left: %s, %v", said, err)
				}
				ask := func(word string) string {
					return `python3 -c "import os, socket; c = socket.socket(socket.AF_UNIX); c.connect(os.environ['T'] + '/serving'); c.send(b'` + word + `'); print(c.recv(9))"`
				}
				if out, _ := w.run(Tests, ask("no")); strings.Contains(out, "served") {
					t.Errorf("a command with other limits is served: %s", out)
				}
				if out, _ := w.run(profile, ask("end")); !strings.Contains(out, "served") {
					t.Errorf("a command with the same limits is not served: %s", out)
				}
			})
		}
	}
}

// TestServersOfOthersInImplementation: a database's socket is reached where the
// command may write the project, one of the command's own user is not.
func TestServersOfOthersInImplementation(t *testing.T) {
	needLandlock(t)
	if os.Geteuid() != 0 {
		t.Skip("only root can be another user")
	}
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not installed")
	}
	t.Parallel()
	const database = 65533
	for _, c := range []struct {
		profile Profile
		server  int
		reached bool
	}{{Implementation, database, true}, {ReadOnly, database, false}, {Implementation, 65534, false}, {Implementation, 0, false}} {
		w := newWorld(t, 65534)
		at := filepath.Join(w.base, "serving")
		if err := os.Mkdir(at, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(at, 0o777); err != nil {
			t.Fatal(err)
		}
		server := w.plain("/usr/bin/env", "python3", "-c", `import socket, os
s = socket.socket(socket.AF_UNIX); s.bind('`+at+`/s'); os.chmod('`+at+`/s', 0o777); s.listen(); print('listens', flush=True)
while True:
    c, _ = s.accept(); c.close()`)
		as(server, c.server)
		out, err := server.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := server.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = server.Process.Kill(); _ = server.Wait() })
		if _, err := out.Read(make([]byte, 20)); err != nil {
			t.Fatal(err)
		}
		said, exit := w.run(c.profile, `python3 -c "import socket; socket.socket(socket.AF_UNIX).connect('`+at+`/s')"`)
		if (exit == 0) != c.reached {
			t.Errorf("%s, a server of user %d: exit %d: %s", c.profile, c.server, exit, said)
		}
	}
}
