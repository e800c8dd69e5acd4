package confined

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestTheFolderBeforeIsKept: a command goes back to where its host's shell came from,
// also in a shell that does not take that from its environment.
func TestTheFolderBeforeIsKept(t *testing.T) {
	old, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	now := filepath.Join(old, "it's now")
	if err := os.Mkdir(now, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(now)
	t.Setenv("OLDPWD", old)
	for _, name := range []string{"bash", "zsh"} {
		found, err := exec.LookPath(name)
		if err != nil {
			t.Logf("%s is not installed, and not tried", name)
			continue
		}
		program, args := hostShell(-1, found, "pwd && cd - > /dev/null && pwd")
		cmd := &exec.Cmd{Path: program, Args: args}
		if out, err := cmd.CombinedOutput(); string(out) != now+"\n"+old+"\n" {
			t.Errorf("%s: %q, %v", name, out, err)
		}
	}
}
