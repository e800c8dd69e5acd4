package confine

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestNoLinkIsLaidWhereOthersWrite: a host's shell writes where it stands to a file of a
// temp folder, by a name that a command can find out, and follows a link that it finds
// there. In folders of a temp folder links are laid as ever.
func TestNoLinkIsLaidWhereOthersWrite(t *testing.T) {
	needLandlock(t)
	lays := []string{
		`ln -s $P/src/main.go $T/cwd`,
		`cd $T && ln -s $P/src/main.go cwd`,
		`mkdir $T/d; ln -s $P/src/main.go $T/d/l; mv $T/d/l $T/cwd`,
		`mkdir $T/d; ln -s $P/src/main.go $T/d/l; ln -P $T/d/l $T/cwd`,
		`mkdir $T/d; ln -s $P/src/main.go $T/d/../cwd`,
		`mkdir $T/d; cd $T/d; ln -s $P/src/main.go /proc/self/cwd/../cwd`,
		`cd $T; ln -s $P/src/main.go /proc/./self/cwd/cwd`,
		`mkdir $T/d; cd $T/d; ln -s $P/src/main.go l; mv l ..; mv ../l ../cwd`,
		`mkdir $T/d; ln -s $P/src/main.go $T/d/l; mv -T $T/d/l $T/d/../cwd`,
		`mkdir $T/d; ln -s $P/src/main.go $T/d/l; : > $T/cwd; mv -f $T/d/l $T/cwd`,
	}
	for user, uid := range users() {
		for _, profile := range []Profile{ReadOnly, Implementation} {
			t.Run(user+"/"+string(profile), func(t *testing.T) {
				for _, lay := range lays {
					for _, held := range []bool{false, true} {
						w := newWorld(t, uid)
						command := w.plain("/bin/sh", "-c", lay)
						if held {
							command = w.confined(w.options(profile, "/bin/sh", "-c", lay))
						}
						said, _ := w.result(command)
						out, _ := w.result(w.plain("/bin/sh", "-c", `pwd > $T/cwd`))
						raw, err := os.ReadFile(filepath.Join(w.project, "src", "main.go"))
						if changed := !strings.HasPrefix(string(raw), "package"); changed == held {
							t.Errorf("held %v, %s: src/main.go is %q, %v: %s%s", held, lay, raw, err, said, out)
						}
					}
				}
				w := newWorld(t, uid)
				out, exit := w.run(profile, `set -e; mkdir $T/d; ln -s file $T/d/a; cd $T/d; ln -s file b; echo x > a; cat b; ln -s /nonexistent/$(printf %01000d) c; readlink c | wc -c; ! ln -s x b 2>/dev/null
ln -sfn other b; mv b m; mkdir e; mv m $T/d/e; readlink e/m; echo x > plain; mv e/m plain; readlink plain; ! mv -T plain e 2>/dev/null; mv plain f
(until [ -e go ]; do sleep .01; done; ln -s file late; touch done) >/dev/null 2>&1 &`)
				if exit != 0 || out != "x\n1014\nother\nother\n" {
					t.Fatalf("links in a folder of a temp folder: %d, %s", exit, out)
				}
				if out, _ := w.result(w.plain("/bin/sh", "-c", `cd $T/d; touch go; until [ -e done ]; do sleep .01; done; readlink late`)); out != "file\n" {
					t.Errorf("a link that a job lays: %q", out)
				}
			})
		}
	}
}

// TestALinkIsMadeOnce: a call that a signal interrupts is made again, and must not find
// what the first one made.
func TestALinkIsMadeOnce(t *testing.T) {
	needLandlock(t)
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not installed")
	}
	w := newWorld(t, os.Geteuid())
	out, exit := w.run(Scratch, `mkdir $T/d; cd $T/d; exec python3 -c '
import os, signal
signal.signal(signal.SIGALRM, lambda *_: None)
signal.siginterrupt(signal.SIGALRM, False)
signal.setitimer(signal.ITIMER_REAL, .0005, .0005)
for i in range(1000):
    os.symlink("x", "a%d" % i)
    os.rename("a%d" % i, "b%d" % i)
signal.setitimer(signal.ITIMER_REAL, 0)
'`)
	if exit != 0 {
		t.Errorf("%d: %s", exit, out)
	}
}

// TestASignalEndsTheWaitForAConnection: links are made once because a signal does not
// interrupt a call that came to the keeper; a connection may never be made.
func TestASignalEndsTheWaitForAConnection(t *testing.T) {
	needLandlock(t)
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not installed")
	}
	w := newWorld(t, os.Geteuid())
	out, exit := w.run(Scratch, `exec python3 -c '
import os, signal, socket
def ring(*_): raise KeyboardInterrupt
signal.signal(signal.SIGALRM, ring)
server = socket.socket(socket.AF_UNIX)
server.bind(os.environ["T"] + "/s")
server.listen(0)
signal.setitimer(signal.ITIMER_REAL, .5, .5)
waiting = []
try:
    while True:
        waiting.append(socket.socket(socket.AF_UNIX))
        waiting[-1].connect(os.environ["T"] + "/s")
except KeyboardInterrupt:
    print("ended")
'`)
	if exit != 0 || out != "ended\n" {
		t.Errorf("%d: %s", exit, out)
	}
}
