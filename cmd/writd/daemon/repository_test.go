package daemon

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/writbus/writ/schemas"
)

// gitIn runs git in a folder, or skips the test where there is none.
func gitIn(t *testing.T, dir string, args ...string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed: repositories cannot be told apart")
	}
	c := exec.Command("git", append([]string{"-c", "user.name=A", "-c", "user.email=a@example.org"}, args...)...)
	c.Dir = dir
	c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// TestAProjectIsItsRepository: what was observed and done in one clone counts in
// another, also when the first is gone, and not in another repository.
func TestAProjectIsItsRepository(t *testing.T) {
	first := resolved(t, newProject(t, "mode: conversation\n"))
	gitIn(t, first, "init", "-q", "-b", "main")
	gitIn(t, first, "add", ".")
	gitIn(t, first, "commit", "-q", "-m", "one")
	clone := filepath.Join(resolved(t, t.TempDir()), "clone")
	gitIn(t, first, "clone", "-q", first, clone)
	other := resolved(t, newProject(t, "mode: conversation\n"))
	gitIn(t, other, "init", "-q", "-b", "main")
	gitIn(t, other, "commit", "-q", "--allow-empty", "-m", "other's")

	w := start(t, t.TempDir(), first)
	begin := func(project, session string) {
		w.project = project
		w.send("SessionStart", map[string]any{"session_id": session, "source": "startup"})
	}
	begin(first, "s1")
	begin(other, "s2")
	w.observe(schemas.Observation{ID: "o1", Scope: first, Input: []byte("[gate=allow confidence=0.9] The payments service listens on port 7443 behind the staging proxy.")})
	const question = "which port does the payments service listen on behind the staging proxy?"
	recalled := func(scope string) int {
		return len(w.recall(schemas.RecallRequest{Text: question, Scopes: []string{scope}}).Hits)
	}
	if n := recalled(clone); n != 0 {
		t.Errorf("%d recalled in a clone that no session was in", n)
	}
	begin(clone, "s3")
	// The list waits for the view that memory reads as it stands.
	if _, err := call[schemas.SessionList](w, w.admin, schemas.SvcSessions, schemas.SessionQuery{Project: clone}); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(first); err != nil {
		t.Fatal(err)
	}
	if n := recalled(clone); n != 1 {
		t.Errorf("%d recalled in a clone", n)
	}
	if n := recalled(other); n != 0 {
		t.Errorf("%d recalled in another repository", n)
	}
	for session, shown := range map[string]bool{"s2": false, "s3": true} {
		w.project = map[bool]string{true: clone, false: other}[shown]
		reply := w.send("UserPromptSubmit", map[string]any{"session_id": session, "prompt": question, "source": "user"})
		if strings.Contains(reply.Stdout, "port 7443") != shown {
			t.Errorf("%s: %s", session, reply.Stdout)
		}
	}
	list, err := call[schemas.SessionList](w, w.admin, schemas.SvcSessions, schemas.SessionQuery{Project: clone})
	var ids []string
	for _, s := range list.Sessions {
		ids = append(ids, s.Session)
	}
	if got := strings.Join(ids, " "); err != nil || got != "s3 s1" {
		t.Errorf("sessions of the clone: %q, %v", got, err)
	}
}
