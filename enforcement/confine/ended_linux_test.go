package confine

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/writbus/writ/test/integration"
)

// TestAHoldThatEndsTakesItsCommandAlong: where the process that holds a command is
// gone, nothing goes on that it held, and whoever waits is told.
func TestAHoldThatEndsTakesItsCommandAlong(t *testing.T) {
	needLandlock(t)
	for user, uid := range users() {
		t.Run(user, func(t *testing.T) {
			w := newWorld(t, uid)
			told := filepath.Join(w.temp, "told")
			if err := unix.Mkfifo(told, 0o666); err != nil {
				t.Fatal(err)
			}
			w.own()
			c := w.confined(w.options(Implementation, "/bin/sh", "-c", `setsid sleep 600 & echo $! $$ > "$T/told"; sleep 600`))
			var said bytes.Buffer
			c.Stderr, c.WaitDelay = &said, time.Minute
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			raw, err := os.ReadFile(told)
			if err != nil {
				t.Fatal(err)
			}
			keeper := 0
			for _, pid := range childrenOf(t, c.Process.Pid) {
				keeper = pid
			}
			if keeper == 0 {
				t.Fatal("no process holds the command")
			}
			if err := unix.Kill(keeper, unix.SIGKILL); err != nil {
				t.Fatal(err)
			}
			_ = c.Wait()
			if exit := c.ProcessState.ExitCode(); exit != ExitUnsupported {
				t.Errorf("exit %d", exit)
			}
			contains(t, said.String(), "ended by itself, so what the command had started was ended")
			for _, pid := range strings.Fields(string(raw)) {
				if _, err := os.Lstat("/proc/" + pid); err == nil {
					t.Errorf("%s goes on", pid)
				}
			}
		})
	}
}

// TestACommandEndsWithWhoWaitsForIt, where that one is ended without a word.
func TestACommandEndsWithWhoWaitsForIt(t *testing.T) {
	needLandlock(t)
	for user, uid := range users() {
		w := newWorld(t, uid)
		told := filepath.Join(w.temp, "told")
		if err := unix.Mkfifo(told, 0o666); err != nil {
			t.Fatal(err)
		}
		w.own()
		c := w.confined(w.options(ReadOnly, "/bin/sh", "-c", `echo $$ > "$T/told"; exec sleep 600`))
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		raw, err := os.ReadFile(told)
		if err != nil {
			t.Fatal(err)
		}
		command, err := strconv.Atoi(strings.TrimSpace(string(raw)))
		if _, alive := parentOf(command); !alive || err != nil {
			t.Fatalf("%s: no command runs: %s, %v", user, raw, err)
		}
		_ = c.Process.Kill()
		_ = c.Wait()
		for alive := true; alive; _, alive = parentOf(command) { // the test's own time is the bound
			runtime.Gosched()
		}
	}
}

func childrenOf(t *testing.T, parent int) (pids []int) {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			if above, alive := parentOf(pid); alive && above == parent {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// TestACommandBeginsHeldOrNotAtAll, however many processes a user may have: those of
// the hold may be too many at any step.
func TestACommandBeginsHeldOrNotAtAll(t *testing.T) {
	needLandlock(t)
	if os.Geteuid() != 0 {
		t.Skip("another user's limit of processes is set by root alone")
	}
	const nobodyElse = 61_573 // the limit counts all that a user has
	w := newWorld(t, nobodyElse)
	began, held, tried := 0, 0, 0
	for limit := 0; limit < 60; limit += integration.Rounds(3, 1) {
		tried++
		o := w.options(ReadOnly, "/bin/sh", "-c", `echo began; touch "$O/x" 2>/dev/null && echo unheld; exit 7`)
		c := w.confined(o)
		c.Args = append([]string{"bash", "-c", fmt.Sprintf(`ulimit -u %d && exec "$0" "$@"`, limit), helper}, c.Args[1:]...)
		c.Path = "/bin/bash"
		out, exit := w.result(c)
		if found := w.harm(out); len(found) > 0 || strings.Contains(out, "unheld") {
			t.Fatalf("limit %d, exit %d: %s\n%s", limit, exit, strings.Join(found, "\n"), out)
		}
		begins := strings.Contains(out, "began")
		if begins {
			began++
		}
		if exit == 7 {
			held++
			continue
		}
		// One that began has it from its own shell, which can start no program.
		if exit == 0 || !begins && !strings.Contains(out, "ulimit -u") && !strings.Contains(out, "temporarily unavailable") {
			t.Errorf("limit %d: exit %d and no word of the cause:\n%s", limit, exit, out)
		}
	}
	if held == 0 || held == tried {
		t.Errorf("of %d commands %d began and %d came to their end", tried, began, held)
	}
	t.Logf("of %d commands %d began and %d came to their end", tried, began, held)
}

// TestACrowdIsEnded: a command that starts more than a machine can serve is ended,
// since no hook is answered in time beside it; unheld it does.
func TestACrowdIsEnded(t *testing.T) {
	needLandlock(t)
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not installed")
	}
	for user, uid := range users() {
		w := newWorld(t, uid)
		never := filepath.Join(w.temp, "never")
		if err := unix.Mkfifo(never, 0o666); err != nil {
			t.Fatal(err)
		}
		w.own()
		start := fmt.Sprintf(`import os, threading
threading.stack_size(65536); goes = threading.Event()
for _ in range(%d): threading.Thread(target=goes.wait, daemon=True).start()
print('a crowd', flush=True)
if os.environ.get('STAY'): open(os.environ['T'] + '/never').read()
os._exit(0)`, crowd()+8)
		if out, exit := w.result(w.plain("/usr/bin/env", "python3", "-c", start)); exit != 0 || !strings.Contains(out, "a crowd") {
			t.Skipf("%s: a crowd cannot be started here: %s", user, out)
		}
		held := w.confined(w.options(ReadOnly, "/bin/sh", "-c", `STAY=1 python3 -c "$0"`, start))
		if out, exit := w.result(held); exit != 128+9 || !strings.Contains(out, "so it was ended") {
			t.Errorf("%s: exit %d: %s", user, exit, out)
		}
	}
}

// TestACommandStandsBack: it asks for less of the processor than what answers hooks, and
// goes first where memory is short. Neither is taken back, nor laid on others, where
// code is closed.
func TestACommandStandsBack(t *testing.T) {
	needLandlock(t)
	for user, uid := range users() {
		w := newWorld(t, uid)
		const takeBack = `for p in self $HOST; do echo 0 > /proc/$p/oom_score_adj; echo 900 > /proc/$p/oom_score_adj; done 2>/dev/null
renice -n 0 -p $$ >/dev/null 2>&1; cat /proc/self/oom_score_adj; cut -d' ' -f19 /proc/$$/stat; cat /proc/$HOST/oom_score_adj`
		run := func(c *exec.Cmd) string {
			host := w.plain("/bin/sleep", "600")
			if err := host.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = host.Process.Kill(); _ = host.Wait() }()
			c.Env = append(c.Env, fmt.Sprint("HOST=", host.Process.Pid))
			out, _ := w.result(c)
			return out
		}
		if out := run(w.plain("/bin/sh", "-c", takeBack)); !strings.HasSuffix(out, "\n900\n") {
			t.Errorf("%s, unheld: %q", user, out)
		}
		own, err := os.ReadFile("/proc/self/oom_score_adj")
		if err != nil {
			t.Fatal(err)
		}
		fields := strings.Fields(run(w.confined(w.options(ReadOnly, "/bin/sh", "-c", takeBack))))
		if len(fields) != 3 || fields[0] != "500" || fields[2] != strings.TrimSpace(string(own)) {
			t.Errorf("%s: %q", user, fields)
		}
		above, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
		if nice, _ := strconv.Atoi(fields[1]); err != nil || nice != min(20-above+5, 19) {
			t.Errorf("%s: nice %q beside %d", user, fields[1], 20-above)
		}
	}
}

// TestACommandHasItsHostsLimitOfFiles, and not the one that this language's programs
// give themselves.
func TestACommandHasItsHostsLimitOfFiles(t *testing.T) {
	needLandlock(t)
	for user, uid := range users() {
		w := newWorld(t, uid)
		c := w.confined(w.options(ReadOnly, "/bin/sh", "-c", "ulimit -Sn"))
		c.Args = append([]string{"/bin/sh", "-c", `ulimit -Sn 200; "$@"; exit $?`, "host", c.Path}, c.Args[1:]...)
		c.Path = "/bin/sh"
		if out, exit := w.result(c); exit != 0 || out != "200\n" {
			t.Errorf("%s: %d %q", user, exit, out)
		}
	}
}

// TestManyOpenFilesAreNobodys: a host that left many descriptors open changes nothing of
// how a command begins, ends and leaves something running.
func TestManyOpenFilesAreNobodys(t *testing.T) {
	needLandlock(t)
	for user, uid := range users() {
		w := newWorld(t, uid)
		null, err := os.Open(os.DevNull)
		if err != nil {
			t.Fatal(err)
		}
		defer null.Close()
		c := w.confined(w.options(Implementation, "/bin/sh", "-c", "sleep 600 >/dev/null 2>&1 & echo left"))
		for range 80 {
			c.ExtraFiles = append(c.ExtraFiles, null)
		}
		if out, exit := w.result(c); exit != 0 || out != "left\n" {
			t.Errorf("%s: %d %q", user, exit, out)
		}
		keeper := 0
		for keeper == 0 { // the process that stayed becomes it once this one's has ended
			for _, pid := range processes() {
				if args := arguments(pid); len(args) > 2 && string(args[0]) == helper && string(args[2]) == KeptOption {
					keeper = pid
				}
			}
		}
		EndLeft([]int{keeper})
	}
}
