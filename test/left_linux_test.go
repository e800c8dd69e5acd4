package test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// hiddenJob leaves a process that no command line shows. It writes code when it is
// told to, and says so.
const hiddenJob = `python3 -c '
import os, time
if os.fork() or os.setsid() and os.fork(): os._exit(0)
for fd in range(3): os.dup2(os.open("/dev/null", os.O_RDWR), fd)
open("{tmp}/pid", "w").write(str(os.getpid()))
while not os.path.exists("{tmp}/go"): time.sleep(.01)
open("src/late.go", "w").write("package late")
open("{tmp}/done", "w").write("")
while True: time.sleep(1)
'`

// TestAJobFromAnOpenPhaseIsFoundAndEnded: what was started while code was open keeps
// its rights. Once code is closed, what it writes is told at the next hook, in a later
// turn too, and it is ended.
func TestAJobFromAnOpenPhaseIsFoundAndEnded(t *testing.T) {
	t.Parallel()
	w := newShellWorld(t, os.Geteuid())
	at := w.copy(t, "job")
	put(t, filepath.Join(at.repo, ".writ", "config.yaml"), "mode: conversation\n")
	command := at.fill(hiddenJob)
	answer := w.judge(t, at, command)
	if answer.command == command {
		t.Fatalf("it does not run held: %+v", answer)
	}
	w.run(t, at, answer.command)
	await(t, filepath.Join(at.temp, "pid"))
	w.hears(t, at, "PostToolUse", map[string]any{
		"tool_name": "Bash", "tool_use_id": "t1", "tool_input": map[string]any{"command": answer.command}, "tool_response": map[string]any{"stdout": ""},
	})
	w.hears(t, at, "Stop", map[string]any{})
	if out, err := w.program(t.Context(), at.repo, filepath.Join(w.base, "bin", "writ"), "mode", "set", "work", "--session", "job").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for turn := range 2 { // nothing happens in these
		if said := w.hears(t, at, "UserPromptSubmit", map[string]any{"prompt": "go on " + strconv.Itoa(turn)}); strings.Contains(said.Stdout, "ended") {
			t.Errorf("before it wrote: %s", said.Stdout)
		}
		w.hears(t, at, "Stop", map[string]any{})
	}
	put(t, filepath.Join(at.temp, "go"), "")
	await(t, filepath.Join(at.temp, "done"))
	said := w.hears(t, at, "UserPromptSubmit", map[string]any{"prompt": "and now"})
	if !strings.Contains(said.Stdout, "src/late.go (created): ENF-GATE") || !strings.Contains(said.Stdout, "was ended") {
		t.Errorf("told: %s", said.Stdout)
	}
	raw, err := os.ReadFile(filepath.Join(at.temp, "pid"))
	pid, numberErr := strconv.Atoi(string(raw))
	if err != nil || numberErr != nil {
		t.Fatal(err, numberErr)
	}
	for tries := 0; syscall.Kill(pid, 0) == nil; tries++ {
		if tries == 30_000 {
			t.Fatal("it runs on")
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func put(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// await waits for a file.
func await(t *testing.T, path string) {
	t.Helper()
	for tries := 0; ; tries++ {
		if _, err := os.Stat(path); err == nil {
			return
		}
		if tries == 30_000 {
			t.Fatalf("%s does not come", path)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// TestAPlainLineReadsNoLinkThatAJobLaid: where something may write the project while
// a line runs, that line is held: what its words named when it was judged may lead to
// Writ's credentials when it reads them. As it stood, it reads them.
func TestAPlainLineReadsNoLinkThatAJobLaid(t *testing.T) {
	t.Parallel()
	w := newShellWorld(t, os.Geteuid())
	at := w.copy(t, "laid")
	put(t, filepath.Join(at.repo, ".writ", "config.yaml"), "mode: conversation\n")
	for _, command := range []string{"cat notes.txt", "head -3 notes.txt | wc -c; sort notes.txt", "grep -n pass notes.txt", "ls && tail notes.txt"} {
		put(t, filepath.Join(at.repo, "notes.txt"), "alpha\n")
		answer := w.judge(t, at, command)
		if err := os.Remove(filepath.Join(at.repo, "notes.txt")); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join(w.base, "home/.local/state/writ/credentials/admin.json"), filepath.Join(at.repo, "notes.txt")); err != nil {
			t.Fatal(err)
		}
		if bare := w.run(t, at, command); !strings.Contains(bare.stdout, "password") {
			t.Errorf("%s reads nothing as it stands: %+v", command, bare)
		}
		if got := w.run(t, at, answer.command); answer.verdict == "deny" || strings.Contains(got.stdout, "password") {
			t.Errorf("%s: %s, as %s", command, got.stdout, answer.command)
		}
		if err := os.Remove(filepath.Join(at.repo, "notes.txt")); err != nil {
			t.Fatal(err)
		}
	}
	if answer := w.judge(t, at, "ls src && pwd"); answer.command != "ls src && pwd" {
		t.Errorf("what reads no file is held: %s", answer.command)
	}
}
