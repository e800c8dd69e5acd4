package confine

import (
	"bufio"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// leaving are scripts that leave a process behind, each in another way; each
// prints the ids of all that it leaves, on one line.
var leaving = map[string]string{
	"in the background":       `sleep 300 >/dev/null 2>&1 & echo $!`,
	"in a session of its own": `(setsid sh -c 'echo $$; exec sleep 300 >/dev/null 2>&1' &) | cat`,
	"as a grandchild":         `(setsid sh -c 'sleep 300 >/dev/null 2>&1 & echo $! $$; exec sleep 300 >/dev/null 2>&1' &) | cat`,
	"deaf to signals":         `(trap "" TERM HUP INT; exec sleep 300 >/dev/null 2>&1) & echo $!`,
}

// TestWholeEndsWhatACommandLeaves when the command ends by itself.
func TestWholeEndsWhatACommandLeaves(t *testing.T) {
	needLandlock(t)
	t.Parallel()
	w := newWorld(t, os.Geteuid())
	for how, script := range leaving {
		o := w.options(Scratch, "/bin/sh", "-c", script+"\nexit 5")
		o.Whole, o.Quiet = true, true
		out, exit := w.result(w.confined(o))
		if exit != 5 || !strings.Contains(out, "left running in the background was ended") {
			t.Errorf("%s: exit %d: %s", how, exit, out)
		}
		gone(t, how, strings.SplitN(out, "\n", 2)[0])
	}
	o := w.options(Scratch, "/bin/sh", "-c", "echo well")
	o.Whole = true
	if out, exit := w.result(w.confined(o)); exit != 0 || out != "well\n" {
		t.Errorf("a command that leaves nothing: exit %d: %q", exit, out)
	}
}

// TestWholeEndsAllAtSIGTERM, the command too.
func TestWholeEndsAllAtSIGTERM(t *testing.T) {
	needLandlock(t)
	t.Parallel()
	w := newWorld(t, os.Geteuid())
	for how, script := range leaving {
		o := w.options(Scratch, "/bin/sh", "-c", script+"\necho $$; sleep 300")
		o.Whole, o.Quiet = true, true
		c := w.confined(o)
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(out)
		pids, _ := lines.ReadString('\n')
		own, _ := lines.ReadString('\n')
		if err := c.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if err := c.Wait(); c.ProcessState.ExitCode() != 128+int(syscall.SIGKILL) {
			t.Errorf("%s: %v", how, err)
		}
		gone(t, how, pids+own)
	}
}

// TestWholeEndsWithItsParent when that is killed.
func TestWholeEndsWithItsParent(t *testing.T) {
	needLandlock(t)
	t.Parallel()
	w := newWorld(t, os.Geteuid())
	o := w.options(Scratch, "/bin/sh", "-c", leaving["as a grandchild"]+"\necho $$; sleep 300")
	o.Whole, o.Quiet = true, true
	c := w.confined(o)
	c.Path, c.Args = "/bin/sh", append([]string{"sh", "-c", `"$@" & wait`, "sh", c.Path}, c.Args[1:]...)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	pids, _ := lines.ReadString('\n')
	own, _ := lines.ReadString('\n')
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, lines) // until the runner has ended
	_ = c.Wait()
	gone(t, "killed parent", pids+own)
}

func gone(t *testing.T, how, pids string) {
	t.Helper()
	words := strings.Fields(pids)
	if len(words) == 0 {
		t.Errorf("%s: no process was left", how)
	}
	for _, word := range words {
		pid, err := strconv.Atoi(word)
		if err != nil {
			t.Fatalf("%s: %q", how, pids)
		}
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("%s: process %d is still there: %v", how, pid, err)
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}
