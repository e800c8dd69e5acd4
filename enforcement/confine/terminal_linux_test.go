package confine

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
)

// TestTerminalsOfTheUserAreOutOfReach: terminals take orders from what is written to
// them, and show the user anything. Those that a command makes itself work.
func TestTerminalsOfTheUserAreOutOfReach(t *testing.T) {
	needLandlock(t)
	for user, uid := range users() {
		t.Run(user, func(t *testing.T) {
			master, slave, err := pty.Open()
			if err != nil {
				t.Skip("no terminals here: " + err.Error())
			}
			defer func() { _ = master.Close(); _ = slave.Close() }()
			if err := os.Chown(slave.Name(), uid, -1); err != nil {
				t.Fatal(err)
			}
			w := newWorld(t, uid)
			write := fmt.Sprintf("echo approved > %s && echo written; chmod 666 %[1]s && echo changed", slave.Name())
			if out, _ := w.result(w.plain("/bin/sh", "-c", write)); !strings.Contains(out, "written") || !strings.Contains(out, "changed") {
				t.Fatalf("unheld it is not written: %s", out)
			}
			for _, profile := range []Profile{Scratch, ReadOnly, Tests} {
				if out, _ := w.result(w.confined(w.options(profile, "/bin/sh", "-c", write))); strings.Contains(out, "written") || strings.Contains(out, "changed") {
					t.Errorf("%s: %s", profile, out)
				}
			}
			for _, profile := range []Profile{"", Scratch, ReadOnly, Tests} {
				typed := w.plain("/bin/sh", "-c", "echo approved > /dev/tty && echo written")
				if profile != "" {
					typed = w.confined(w.options(profile, typed.Args...))
				}
				if typed.ExtraFiles = []*os.File{slave}; typed.SysProcAttr == nil {
					typed.SysProcAttr = &syscall.SysProcAttr{}
				}
				typed.SysProcAttr.Setsid, typed.SysProcAttr.Setctty, typed.SysProcAttr.Ctty = true, true, 3
				if out, _ := w.result(typed); strings.Contains(out, "written") != (profile == "") {
					t.Errorf("the terminal around it, held to %q: %s", profile, out)
				}
			}
			for _, script := range []string{`script -qec 'echo made' /dev/null`, `python3 -c 'import pty; pty.spawn(["sh", "-c", "tty >/dev/null && echo made"])' < /dev/null`} {
				if _, err := exec.LookPath(strings.Fields(script)[0]); err != nil {
					continue
				}
				if out, _ := w.result(w.confined(w.options(ReadOnly, "/bin/sh", "-c", script))); !strings.Contains(out, "made") {
					t.Errorf("%s: %s", script, out)
				}
			}
		})
	}
}
