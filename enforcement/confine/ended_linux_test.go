package confine

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
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
			c.Stderr, c.WaitDelay = &said, 5*time.Second
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
	began, held := 0, 0
	for limit := range 60 {
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
	if held == 0 || held == 60 {
		t.Errorf("of 60 commands %d began and %d came to their end", began, held)
	}
	t.Logf("of 60 commands %d began and %d came to their end", began, held)
}
