package confine

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// attack is a script that does harm where nothing stops it, see world.harm.
// $P is the project, $O a folder outside, $D Writ's data, $T the temp folder.
type attack struct {
	name    string
	profile Profile
	needs   string // programs, apart by spaces
	root    bool   // works for root alone
	// unproven: run unconfined it would harm the machine, or it is about the
	// confining process itself.
	unproven bool
	script   string
}

// othersPriority changes when a process outside gets the processor.
const othersPriority = `python3 -c "
import ctypes, os
libc, outside = ctypes.CDLL(None), int(open('/proc/%d/stat' % os.getppid()).read().split()[3])
zero, mask, before = ctypes.create_string_buffer(64), ctypes.create_string_buffer(b'\xff' * 128), os.getpriority(0, 0)
for call in (lambda: libc.setpriority(0, outside, 19), lambda: libc.sched_setscheduler(outside, 5, zero), lambda: libc.sched_setaffinity(outside, 128, mask),
    lambda: libc.syscall({'x86_64': 251}.get(os.uname().machine, 30), 1, outside, 3 << 13), lambda: libc.setpriority(1, 0, 19)):
    if call() == 0: open(os.environ['T'] + '/pwned', 'w')
libc.sched_setscheduler(outside, 0, zero), libc.setpriority(0, outside, before), libc.setpriority(1, 0, before) # the tests go on
"`

var attacks = []attack{
	{name: "redirection", profile: Implementation, script: `echo pwned > $O/file`},
	{name: "redirection into the project", profile: ReadOnly, script: `echo pwned > $P/src/main.go`},
	{name: "new file outside", profile: Implementation, script: `echo pwned > $O/new`},
	{name: "child of a child", profile: ReadOnly, script: `sh -c "sh -c 'sh -c \"rm -rf $P/src\"'"`},
	{name: "python", profile: ReadOnly, needs: "python3", script: `python3 -c "open('$P/src/main.go','w').write('pwned')"`},
	{name: "python empties", profile: ReadOnly, needs: "python3", script: `python3 -c "import os; os.truncate('$O/file', 0)"`},
	{name: "python reads", profile: Implementation, needs: "python3", script: `python3 -c "print(open('$D/credentials/admin.json').read())"`},
	{name: "perl", profile: ReadOnly, needs: "perl", script: `perl -i -pe 's/main/pwned/' $P/src/main.go; perl -e 'open F, ">", "$ENV{O}/file"; print F "pwned"; close F'`},
	{name: "perl deletes", profile: Implementation, needs: "perl", script: `perl -e 'unlink "$ENV{O}/file"'`},
	{name: "root of itself in proc", profile: ReadOnly, script: `echo pwned > /proc/self/root$O/file; cat /proc/self/root$D/credentials/admin.json`},
	{name: "working folder in proc", profile: ReadOnly, script: `cd / && echo pwned > /proc/self/cwd/$O/file`},
	{name: "root of another in proc", profile: Implementation, unproven: true, script: `cat /proc/$PPID/root$D/credentials/admin.json /proc/$PPID/task/*/root$D/credentials/admin.json`},
	{name: "root of init in proc", profile: Implementation, root: true, unproven: true, script: `cat /proc/1/root$D/credentials/admin.json; echo pwned > /proc/1/root$O/file`},
	{name: "hard link", profile: ReadOnly, script: `ln $P/src/main.go $T/l && echo pwned > $T/l`},
	{name: "hard link to the credential", profile: Implementation, script: `ln $D/credentials/admin.json $T/l && cat $T/l`},
	{name: "rename", profile: ReadOnly, script: `mv $P/src $T/src && echo pwned > $T/src/main.go`},
	{name: "rename of the data", profile: Implementation, script: `mv $D/credentials $T/c && cat $T/c/admin.json`},
	{name: "symbolic link", profile: Implementation, script: `ln -s $O $T/o && echo pwned > $T/o/file`},
	{name: "symbolic link to the data", profile: Implementation, script: `ln -s $D/credentials $T/c && cat $T/c/admin.json`},
	{name: "dots", profile: Implementation, script: `echo pwned > $P/src/../../home/other/file`},
	{name: "copy of everything", profile: Implementation, script: `cp -r $D $T/d; cat $T/d/credentials/admin.json; tar cf - -C $D . | tar xfO -`},
	{name: "mount in a user namespace", profile: Implementation, needs: "unshare mount", script: `mkdir $T/m && unshare -Urm sh -c 'mount --bind $O $T/m && echo pwned > $T/m/file; mount --bind $D $T/m && cat $T/m/credentials/admin.json'`},
	{name: "mount as root", profile: Implementation, needs: "unshare mount", root: true, script: `mkdir $T/m && unshare -m sh -c 'mount --bind $O $T/m && echo pwned > $T/m/file'`},
	{name: "mount without a namespace", profile: Implementation, needs: "mount", root: true, unproven: true, script: `mkdir $T/m && mount --bind $O $T/m && echo pwned > $T/m/file`},
	{name: "chroot", profile: Implementation, needs: "chroot", root: true, script: `chroot $O/.. sh -c true; chroot / sh -c 'echo pwned > $O/file; cat $D/credentials/admin.json'`},
	{name: "chroot in a user namespace", profile: Implementation, needs: "unshare", script: `unshare -Ur chroot / sh -c 'echo pwned > $O/file; cat $D/credentials/admin.json'`},
	{name: "another namespace", profile: Implementation, needs: "nsenter", root: true, script: `nsenter -t 1 -m sh -c 'echo pwned > '$O/file`},
	{name: "device node", profile: Implementation, root: true, script: `mknod $T/d b 7 0 && touch $T/pwned`},
	{name: "raw disk", profile: Implementation, root: true, unproven: true, script: `for d in $(find /dev -type b); do head -c 1 $d > /dev/null && touch $T/pwned; done`},
	{name: "a terminal hung up", profile: Implementation, needs: "python3", root: true, script: `python3 -c "
import ctypes, os
os.fork() and os._exit(os.wait()[1])
os.setsid()
if ctypes.CDLL(None).vhangup() == 0: open(os.environ['T'] + '/pwned', 'w')
"`},
	{name: "keys that the kernel keeps", profile: ReadOnly, needs: "python3", script: `python3 -c "
import ctypes, os
libc, (add, request, control) = ctypes.CDLL(None), {'x86_64': (248, 249, 250)}.get(os.uname().machine, (217, 218, 219))
libc.syscall(control, 1, 0) # a keyring of its own
for change in (lambda: libc.syscall(add, b'user', b'writ-test', b'x', 1, -4), lambda: libc.syscall(control, 9, libc.syscall(add, b'user', b'writ-test', b'x', 1, -3), -3),
    lambda: libc.syscall(control, 7, -3), lambda: libc.syscall(control, 15, -3, 9)):
    if change() >= 0: open(os.environ['T'] + '/pwned', 'w')
libc.syscall(control, 9, libc.syscall(control, 10, -4, b'user', b'writ-test', 0), -4)
"`},
	{name: "what others send at loopback", profile: Implementation, needs: "python3", root: true, script: `python3 -c "
import os, socket
socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)).bind(('lo', 0))
open(os.environ['T'] + '/pwned', 'w')
"`},
	{name: "rules of the network", profile: Implementation, needs: "python3", root: true, script: `python3 -c "
import os, socket
socket.socket(socket.AF_INET, socket.SOCK_STREAM).setsockopt(socket.SOL_SOCKET, 36, 1) # SO_MARK, by which packets are led
open(os.environ['T'] + '/pwned', 'w')
"`},
	{name: "kernel settings", profile: Implementation, root: true, unproven: true, script: `cat /proc/sys/kernel/core_pattern > $T/c; cat $T/c > /proc/sys/kernel/core_pattern && touch $T/pwned`},
	{name: "git alias", profile: Implementation, needs: "git", script: `git -c safe.directory=* -c alias.x='!echo pwned > $O/file' x`},
	{name: "git hook", profile: Implementation, needs: "git", script: `mkdir $T/h && printf '#!/bin/sh\necho pwned > $O/file\n' > $T/h/pre-commit && chmod +x $T/h/pre-commit &&
git -c safe.directory=* -c core.hooksPath=$T/h -c user.name=x -c user.email=x@x commit -q --allow-empty -m x`},
	{name: "nohup setsid", profile: Implementation, needs: "nohup setsid", script: `nohup setsid -w sh -c 'echo pwned > $O/file; cat $D/credentials/admin.json' 2>&1`},
	{name: "trace the confining process", profile: Implementation, needs: "python3", unproven: true, script: `python3 -c "
import ctypes, os, sys
libc = ctypes.CDLL(None)
for pid in os.listdir('/proc/%s/task' % sys.argv[1]):
    if libc.ptrace(0x4206, int(pid), 0, 0) == 0: open(os.environ['T'] + '/pwned', 'w')
    try: open('/proc/%s/mem' % pid, 'rb'); open(os.environ['T'] + '/pwned', 'w')
    except OSError: pass
" $PPID`},
	{name: "end the confining process", profile: ReadOnly, unproven: true, script: `kill -9 $PPID && touch $T/pwned; for t in /proc/$PPID/task/*; do kill -9 ${t##*/} && touch $T/pwned; done`},
	{name: "limits of a process outside", profile: Implementation, needs: "prlimit", root: true, script: `prlimit --pid $PPID --core=0:0 && touch $T/pwned`},
	{name: "priority of a process outside", profile: Implementation, needs: "python3", root: true, script: othersPriority},
	{name: "priority of the confining process", profile: Implementation, needs: "python3", unproven: true, script: othersPriority},
	{name: "limits of the confining process", profile: Implementation, needs: "prlimit", unproven: true, script: `prlimit --pid $PPID --core=0:0 && touch $T/pwned`},
	{name: "mode", profile: ReadOnly, script: `chmod 600 $P/src/main.go && touch $T/pwned`},
	{name: "mode through a link and a descriptor", profile: ReadOnly, needs: "python3", script: `ln -s $P/src/main.go $T/l; python3 -c "
import ctypes, os
libc, name = ctypes.CDLL(None), os.environ['T'] + '/l'
file = os.open(name, os.O_RDONLY)
for change in (lambda: os.chmod(name, 0o600), lambda: os.fchmod(file, 0o600), lambda: os.chmod('/proc/self/fd/%d' % file, 0o600),
    lambda: os.chmod('main.go', 0o600, dir_fd=os.open(os.environ['P'] + '/src', 0)), lambda: os.chown(name, -1, os.getgid()),
    lambda: os.lchown(os.environ['P'] + '/src', -1, os.getgid()), lambda: os.fchown(file, -1, os.getgid())):
    try: change()
    except OSError: continue
    open(os.environ['T'] + '/pwned', 'w')
"`},
	{name: "mode by an attribute", profile: ReadOnly, needs: "python3", script: `python3 -c "
import os, struct
acl = struct.pack('<I', 2) + b''.join(struct.pack('<HHI', *e) for e in ((1, 7, 0xffffffff), (4, 0, 0xffffffff), (32, 0, 0xffffffff)))
name = os.environ['P'] + '/src/main.go'
for at in (name, os.open(name, os.O_RDONLY)):
    try: os.setxattr(at, 'system.posix_acl_access', acl)
    except OSError: continue
    open(os.environ['T'] + '/pwned', 'w')
"`},
	{name: "a lease that keeps readers waiting", profile: ReadOnly, needs: "python3", script: `python3 -c "
import fcntl, os
fcntl.fcntl(os.open(os.environ['P'] + '/plan.md', os.O_RDONLY), fcntl.F_SETLEASE, fcntl.F_WRLCK)
open(os.environ['T'] + '/pwned', 'w')
"`},
	{name: "other keys at a console", profile: Implementation, needs: "python3", script: `python3 -c "
import errno, fcntl, os
for request in 0x4b47, 0x4b49, 0x4b4b, 0x4b4d, 0x4bfb, 0x541d:
    try: fcntl.ioctl(os.open('/dev/null', 0), request, 0)
    except OSError as e:
        if e.errno != errno.EPERM: open(os.environ['T'] + '/pwned', 'w')
"`},
	{name: "flags of a file", profile: ReadOnly, needs: "python3", script: `python3 -c "
import errno, fcntl, os
for request in 0x40086602, 0x401c5820, 0x40086604, 0x40087602, 0x40047211: # FS_IOC_SETFLAGS, FSSETXATTR, ext4's and others' SETVERSION, FAT_IOCTL_SET_ATTRIBUTES
    try: fcntl.ioctl(os.open('/dev/null', 0), request, bytes(28))
    except OSError as e:
        if e.errno != errno.EOPNOTSUPP: open(os.environ['T'] + '/pwned', 'w')
"`},
	{name: "exchange of folders", profile: ReadOnly, needs: "python3", script: `mkdir $T/src && echo pwned > $T/src/main.go; python3 -c "
import ctypes, os
ctypes.CDLL(None).renameat2(-100, (os.environ['T'] + '/src').encode(), -100, (os.environ['P'] + '/src').encode(), 2)
"`},
	{name: "files told by the kernel", profile: ReadOnly, needs: "python3", root: true, script: `python3 -c "
import ctypes, os, struct
libc, name = ctypes.CDLL(None), os.environ['O'] + '/file'
watch = libc.fanotify_init(0, os.O_RDWR)
if watch < 0 or libc.fanotify_mark(watch, 1, ctypes.c_uint64(1), -100, name.encode()): raise SystemExit
open(name).read()
os.write(struct.unpack('IBBHQii', os.read(watch, 24))[5], b'pwned')
"`},
	{name: "handle of a file", profile: Implementation, needs: "python3", root: true, script: `python3 -c "
import ctypes, os, struct
libc, handle, mount = ctypes.CDLL(None), ctypes.create_string_buffer(struct.pack('Ii', 128, 0) + bytes(128)), ctypes.c_int()
libc.name_to_handle_at(-100, (os.environ['O'] + '/file').encode(), handle, ctypes.byref(mount), 0)
file = libc.open_by_handle_at(os.open(os.environ['T'], 0), handle, os.O_WRONLY)
if file >= 0: os.write(file, b'pwned')
"`},
	{name: "a mount that lies nowhere, in a namespace", profile: Implementation, needs: "python3 unshare", script: `unshare -Urm python3 -c "
import ctypes, os
tree = ctypes.CDLL(None).syscall(428, -100, os.environ['O'].encode(), 1) # open_tree, OPEN_TREE_CLONE
if tree >= 0: os.write(os.open('file', os.O_WRONLY, dir_fd=tree), b'pwned')
"`},
	{name: "what a home runs at its start", profile: Implementation, needs: "git", script: `git config --global core.hooksPath $T/h && touch $T/pwned
for f in .bashrc .zshenv .ssh/config .config/git/config .config/systemd/user/x.service .config/autostart/x.desktop .local/bin/writ go/bin/x .cargo/bin/x .cargo/config.toml .gradle/init.d/x.gradle .m2/settings.xml .npmrc .config/pip/pip.conf .local/lib/python3/site-packages/x.pth .config/go/env .claude/settings.json .docker/config.json; do
mkdir -p $HOME/$(dirname $f); echo pwned >> $HOME/$f && touch $T/pwned; done`},
	{name: "wider confinement inside", profile: ReadOnly, unproven: true, script: `$SELF ` + helperArg + ` '{"Profile":"implementation","Project":"'$P'","Args":["/bin/sh","-c","echo pwned > $P/src/main.go; cat $D/credentials/admin.json"]}'`},
	{name: "hook of git", profile: Implementation, script: `echo pwned > $P/.git/hooks/pre-commit`},
	{name: "another hook of git", profile: Implementation, script: `rm $P/.git/hooks/pre-commit; printf pwned > $T/x; mv $T/x $P/.git/hooks/pre-commit`},
	{name: "configuration of git", profile: Implementation, needs: "git", script: `git -c safe.directory=* config core.fsmonitor $T/x`},
	{name: "git folder moved away", profile: Implementation, script: `mv $P/.git $P/.g && ln -s .g $P/.git && echo pwned > $P/.g/hooks/pre-commit`},
	{name: "settings by another name", profile: Implementation, script: `ln $P/.claude/settings.json $P/x && echo pwned > $P/x`},
	{name: "settings through a laid link", profile: Implementation, script: `rm -r $P/.claude && mkdir $T/c && ln -s $T/c $P/.claude && echo pwned > $P/.claude/settings.json`},
	{name: "settings of the same size and time behind large ones", profile: Implementation, needs: "python3", script: `python3 -c "
import os
p = os.environ['P']
os.mkdir(p + '/.codex')
sizes = [1 << 20] * 32 + [1 << n for n in range(19, -1, -1)]
for i, size in enumerate(sizes): open('%s/.codex/%03d' % (p, i), 'wb').write(bytes(size))
name = p + '/.git/config'
was = os.stat(name)
open(name, 'r+').write('[core] pager = pwned')
os.utime(name, ns=(was.st_atime_ns, was.st_mtime_ns))
"`},
	{name: "no guard any more", profile: Implementation, script: `rm -rf $P/.writ`},
}

// TestEscapes runs each attack without confinement, where it must do harm, and
// confined, where it must not.
func TestEscapes(t *testing.T) {
	needLandlock(t)
	t.Parallel()
	for user, uid := range everybody() {
		for _, a := range attacks {
			t.Run(user+"/"+a.name, func(t *testing.T) {
				t.Parallel()
				if a.root && uid != 0 {
					t.Skip("only root could try")
				}
				if _, all := users()[user]; !all && !a.root {
					t.Skip("an ordinary user tries it; WRIT_INTEGRATION=1 and .ci/run have root try it, too")
				}
				for _, program := range strings.Fields(a.needs) {
					if _, err := exec.LookPath(program); err != nil {
						t.Skip(program + " is not installed")
					}
				}
				if !a.unproven {
					bare := newWorld(t, uid)
					out, _ := bare.result(bare.plain("/bin/sh", "-c", a.script))
					if strings.HasPrefix(a.name, "mount") || strings.Contains(a.name, "namespace") {
						if len(bare.harm(out)) == 0 {
							t.Skip("this system refuses it also without confinement: " + strings.TrimSpace(out))
						}
					} else if len(bare.harm(out)) == 0 {
						t.Fatalf("the attack does nothing even without confinement:\n%s", out)
					}
				}
				w := newWorld(t, uid)
				out, _ := w.run(a.profile, a.script)
				for _, h := range w.harm(out) {
					t.Errorf("%s\n%s", h, out)
				}
			})
		}
	}
}

// TestDescriptorsAreNotInherited: what the host left open for writing is not the
// command's.
func TestDescriptorsAreNotInherited(t *testing.T) {
	needLandlock(t)
	w := newWorld(t, os.Geteuid())
	script := `echo pwned >&3; echo pwned > /dev/fd/3`
	for _, c := range []struct {
		cmd  *exec.Cmd
		want string
	}{{w.plain("/bin/sh", "-c", script), "pwned\n"}, {w.confined(w.options(ReadOnly, "/bin/sh", "-c", script)), ""}} {
		file, err := os.Create(filepath.Join(w.base, "left-open"))
		if err != nil {
			t.Fatal(err)
		}
		c.cmd.ExtraFiles = []*os.File{file}
		out, _ := w.result(c.cmd)
		if raw, err := os.ReadFile(file.Name()); err != nil || (c.want == "") != (len(raw) == 0) {
			t.Errorf("the file holds %q (%v)\n%s", raw, err, out)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// python runs the script that is its first argument, by the python that the user
// of a world finds.
const python = `exec python3 -c "$1"`

// TestSocketsOutsideAreOutOfReach: who takes orders over a socket with a path is
// reached without the hold and not with it, by whatever name, while sockets that
// the command makes, and those over the network, are.
func TestSocketsOutsideAreOutOfReach(t *testing.T) {
	needLandlock(t)
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not installed")
	}
	for user, uid := range users() {
		t.Run(user, func(t *testing.T) {
			w := newWorld(t, uid)
			path := filepath.Join(w.base, "s")
			outside, err := net.Listen("unix", path)
			if err != nil {
				t.Fatal(err)
			}
			defer outside.Close()
			if err := os.Chmod(path, 0o777); err != nil {
				t.Fatal(err)
			}
			go func() {
				for {
					c, err := outside.Accept()
					if err != nil {
						return
					}
					_, _ = c.Write([]byte("reached"))
					_ = c.Close()
				}
			}()
			tcp, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer tcp.Close()
			go func() {
				if c, err := tcp.Accept(); err == nil {
					_, _ = c.Write([]byte("network"))
					_ = c.Close()
				}
			}()
			for name, script := range map[string]string{
				"path":     "c.connect('" + path + "')",
				"relative": "os.chdir('" + w.base + "'); c.connect('s')",
				"link":     "os.symlink('" + path + "', os.environ['T'] + '/l'); c.connect(os.environ['T'] + '/l')",
				"renewed":  "os.link('" + path + "', os.environ['T'] + '/h'); os.utime(os.environ['T'] + '/h'); c.connect(os.environ['T'] + '/h')",
				"proc":     "c.connect('/proc/self/root" + path + "')",
			} {
				script = "import socket, os\nc = socket.socket(socket.AF_UNIX)\n" + script + "\nprint(c.recv(9))\n"
				if name != "renewed" || uid == os.Geteuid() {
					if out, _ := w.result(w.plain("/bin/sh", "-c", python, "sh", script)); !strings.Contains(out, "reached") {
						t.Fatalf("%s: the socket is not reached without the hold either:\n%s", name, out)
					}
				}
				for _, profile := range []Profile{ReadOnly, Implementation} {
					for _, left := range []string{"l", "h"} {
						_ = os.Remove(filepath.Join(w.temp, left))
					}
					if out, _ := w.result(w.confined(w.options(profile, "/bin/sh", "-c", python, "sh", script))); strings.Contains(out, "reached") || name == "path" && !strings.Contains(out, "was refused") {
						t.Errorf("%s: %s: %s", profile, name, out)
					}
				}
			}
			own := `
import socket, os, threading
s = socket.socket(socket.AF_UNIX); s.bind(os.environ['T'] + '/own'); s.listen()
threading.Thread(target=lambda: s.accept()[0].send(b'inside'), daemon=True).start()
c = socket.socket(socket.AF_UNIX); c.connect(os.environ['T'] + '/own'); print(c.recv(9))
n = socket.create_connection(('127.0.0.1', ` + fmt.Sprint(tcp.Addr().(*net.TCPAddr).Port) + `)); print(n.recv(9))
a, b = socket.socketpair(); a.send(b'pair'); print(b.recv(9))
for make in socket.socket, socket.socketpair:
    for kind in socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_RAW | socket.SOCK_CLOEXEC:
        try: make(socket.AF_UNIX, kind); print('datagrams', make, kind)
        except OSError: pass
try: socket.create_connection(('127.0.0.1', 1))
except ConnectionRefusedError: print('nobody there')
`
			out, exit := w.result(w.confined(w.options(ReadOnly, "/bin/sh", "-c", python, "sh", own)))
			if exit != 0 || !strings.Contains(out, "inside") || !strings.Contains(out, "network") || !strings.Contains(out, "pair") || !strings.Contains(out, "nobody there") || strings.Contains(out, "datagrams") {
				t.Errorf("exit %d\n%s", exit, out)
			}
		})
	}
}

// temporary is a world whose project lies in a temp folder, with neighbours, and
// whose home and data do not.
func temporary(t *testing.T, uid int) *world {
	t.Helper()
	at, err := os.UserHomeDir()
	if err != nil {
		t.Skip(err)
	}
	base, err := os.MkdirTemp(at, ".writ-confine-test") //nolint:usetesting // it must lie outside the temp folders
	if err != nil {
		t.Skip("no folder outside the temp folders can be made: " + err.Error())
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	w := newWorld(t, uid)
	w.home, w.outside = filepath.Join(base, "home"), filepath.Join(base, "home", "other")
	w.data = filepath.Join(w.home, ".local", "state", "writ")
	for path, content := range w.files() {
		w.write(path, content)
	}
	w.write(filepath.Join(w.base, "neighbour", "deep", "file"), "a neighbour's\n")
	return w
}

// TestAProjectInATempFolderStaysWhereItIs: all around it is written, and it is
// neither moved nor replaced by another one, whose settings nobody puts back.
func TestAProjectInATempFolderStaysWhereItIs(t *testing.T) {
	needLandlock(t)
	t.Parallel()
	for _, a := range []attack{
		{name: "moved", script: `mv $P $B/moved && cp -r $B/moved $P && echo '{"pwned":1}' > $P/.claude/settings.json`},
		{name: "moved with what is around", script: `mv $B $B.moved && cp -r $B.moved $B && echo pwned > $P/.claude/settings.json`},
		{name: "exchanged", needs: "python3", script: `mkdir -p $B/evil/.claude && echo pwned > $B/evil/.claude/settings.json && python3 -c "
import ctypes, os
ctypes.CDLL(None).renameat2(-100, (os.environ['B']+'/evil').encode(), -100, os.environ['P'].encode(), 2)"`},
		{name: "laid over by a link", script: `mkdir $B/evil && mv $P $B/gone; ln -s $B/evil $P && mkdir -p $P/.claude && echo pwned > $P/.claude/settings.json`},
		{name: "mounted over", needs: "unshare mount", unproven: true, script: `mkdir -p $B/evil/.claude && echo pwned > $B/evil/.claude/settings.json; unshare -Urm mount --bind $B/evil $P; mount --bind $B/evil $P`},
		{name: "outside", script: `echo pwned > $O/file; cat $D/credentials/admin.json; ln $O/file $B/l && echo pwned > $B/l; ln -s $O $B/o && echo pwned > $B/o/file`},
		{name: "hook of git", script: `mkdir $B/h && mv $P/.git/hooks $B/h/old; mkdir -p $P/.git/hooks; echo pwned > $P/.git/hooks/pre-commit`},
	} {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			for _, program := range strings.Fields(a.needs) {
				if _, err := exec.LookPath(program); err != nil {
					t.Skip(program + " is not installed")
				}
			}
			vars := func(w *world, c *exec.Cmd) *exec.Cmd {
				c.Env = append(c.Env, "TMPDIR="+w.base, "B="+w.base)
				return c
			}
			if !a.unproven {
				bare := temporary(t, os.Geteuid())
				if out, _ := bare.result(vars(bare, bare.plain("/bin/sh", "-c", a.script))); len(bare.harm(out)) == 0 {
					t.Fatalf("the attack does nothing even without confinement:\n%s", out)
				}
				_ = os.RemoveAll(bare.base + ".moved")
			}
			w := temporary(t, os.Geteuid())
			before, err := os.Stat(w.project)
			if err != nil {
				t.Fatal(err)
			}
			out, _ := w.result(vars(w, w.confined(w.options(Implementation, "/bin/sh", "-c", a.script))))
			for _, h := range w.harm(out) {
				t.Errorf("%s\n%s", h, out)
			}
			if after, err := os.Lstat(w.project); err != nil || !os.SameFile(before, after) {
				t.Errorf("the project is another folder: %v\n%s", err, out)
			}
		})
	}
	t.Run("work goes on", func(t *testing.T) {
		w := temporary(t, os.Geteuid())
		c := w.confined(w.options(Implementation, "/bin/sh", "-ec", `echo x > $B/new && mv $B/new $P/new && rm $P/new && echo x >> $B/neighbour/deep/file && rm $B/neighbour/deep/file && mkdir $B/made &&
d=$(mktemp -d) && mkdir $d/a && mv $d/a $P/a && rmdir $P/a && rm -r $d`))
		c.Env = append(c.Env, "TMPDIR="+w.base, "B="+w.base)
		if out, exit := w.result(c); exit != 0 {
			t.Errorf("exit %d: %s", exit, out)
		}
	})
}

// TestAProjectInSharedMemoryIsNoTempFolder: /dev/shm is one, the project in it
// is not.
func TestAProjectInSharedMemoryIsNoTempFolder(t *testing.T) {
	needLandlock(t)
	base, err := os.MkdirTemp("/dev/shm", "writ-confine-test") //nolint:usetesting // it must lie there
	if err != nil {
		t.Skip("no folder there: " + err.Error())
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	t.Parallel()
	w := newWorld(t, os.Geteuid())
	w.project = filepath.Join(base, "project")
	for path, content := range w.files() {
		w.write(path, content)
	}
	out, _ := w.run(ReadOnly, `echo pwned > $P/src/main.go; echo x > $P/new && touch $T/pwned; ls /dev/shm`)
	for _, h := range w.harm(out) {
		t.Errorf("%s\n%s", h, out)
	}
}

// TestRevealedFilesAreReadAndNothingBesideThem: of Writ's data the files named
// are read, not written, and none that a link in their place leads to.
func TestRevealedFilesAreReadAndNothingBesideThem(t *testing.T) {
	needLandlock(t)
	t.Parallel()
	for user, uid := range users() {
		t.Run(user, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, uid)
			out, _ := w.run(Scratch, `cat $D/credentials/agent.json; echo pwned > $D/credentials/agent.json; mv $D/credentials/admin.json $D/credentials/agent.json; cat $D/credentials/*`)
			contains(t, out, "the agent's own")
			for _, h := range w.harm(out) {
				t.Error(h)
			}
			other := newWorld(t, uid)
			for name, lay := range map[string]func(admin, agent string) error{"symbolic": os.Symlink, "hard": os.Link} {
				agent := filepath.Join(other.data, "credentials", "agent.json")
				if err := errors.Join(os.Remove(agent), lay(filepath.Join(other.data, "credentials", "admin.json"), agent)); err != nil {
					t.Fatal(err)
				}
				if out, _ := other.run(Implementation, `cat $D/credentials/agent.json`); strings.Contains(out, secret) {
					t.Errorf("read through a %s link: %s", name, out)
				}
			}
		})
	}
}

// TestBackgroundStaysConfined lets a job outlive the command, and the process
// that confined it, before it does its harm.
func TestBackgroundStaysConfined(t *testing.T) {
	needLandlock(t)
	t.Parallel()
	for user, uid := range users() {
		t.Run(user, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, uid)
			begin, end := filepath.Join(w.temp, "begin"), filepath.Join(w.temp, "end")
			for _, fifo := range []string{begin, end} {
				if err := unix.Mkfifo(fifo, 0o666); err != nil {
					t.Fatal(err)
				}
			}
			w.own()
			out, exit := w.run(ReadOnly, `(read x < $T/begin
echo pwned > $P/src/main.go; echo pwned > $O/file; cat $D/credentials/admin.json > $T/stolen && touch $T/pwned
echo own > $T/own; echo done > $T/end) > /dev/null 2>&1 < /dev/null & exit 0`)
			if exit != 0 {
				t.Fatalf("exit %d: %s", exit, out)
			}
			if err := os.WriteFile(begin, []byte("now\n"), 0); err != nil {
				t.Fatal(err)
			}
			if _, err := os.ReadFile(end); err != nil {
				t.Fatal(err)
			}
			for _, h := range w.harm(out) {
				t.Error(h)
			}
			if _, err := os.Stat(filepath.Join(w.temp, "own")); err != nil {
				t.Errorf("the job did not even run: %v", err)
			}
		})
	}
}

// TestAbstractSocketsOutsideAreOutOfReach: those without a path.
func TestAbstractSocketsOutsideAreOutOfReach(t *testing.T) {
	needLandlock(t)
	if abi, why := Supported(); abi < abiScoped {
		t.Skip(why)
	}
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not installed")
	}
	t.Parallel()
	for _, profile := range []Profile{ReadOnly, Implementation} {
		w := newWorld(t, os.Geteuid())
		listener, err := net.Listen("unix", "@"+w.temp)
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		if out, exit := w.run(profile, `python3 -c "import socket; socket.socket(socket.AF_UNIX).connect('\0`+w.temp+`')"`); exit == 0 {
			t.Errorf("%s: reached: %s", profile, out)
		}
	}
}

// TestNoCapabilityIsInherited: root hands on what it may inherit, and the hold bounds
// that as well.
func TestNoCapabilityIsInherited(t *testing.T) {
	needLandlock(t)
	if os.Geteuid() != 0 {
		t.Skip("only root has capabilities to hand on")
	}
	if _, err := exec.LookPath("setpriv"); err != nil {
		t.Skip("setpriv is not installed")
	}
	t.Parallel()
	w := newWorld(t, 0)
	c := w.confined(w.options(ReadOnly, "grep", "^Cap", "/proc/self/status"))
	c.Args = append([]string{"setpriv", "--inh-caps", "+sys_admin,+sys_ptrace,+dac_read_search,+chown", c.Path}, c.Args[1:]...)
	path, err := exec.LookPath("setpriv")
	if err != nil {
		t.Fatal(err)
	}
	c.Path = path
	out, _ := w.result(c)
	if strings.Contains(out, "Operation not permitted") {
		t.Skip("this root has not all capabilities: " + out)
	}
	contains(t, out, "CapInh:\t0000000000000001\n") // chown leads nowhere
}

func TestNoNewPrivileges(t *testing.T) {
	needLandlock(t)
	t.Parallel()
	for _, uid := range users() {
		w := newWorld(t, uid)
		out, _ := w.run(Scratch, `cat /proc/self/status`)
		contains(t, out, "NoNewPrivs:\t1")
	}
}
