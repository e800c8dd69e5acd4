package daemon

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/cmd/writd/config"
	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/schemas"
)

// TestWhatRunsConfinedLooksUpAndNoMore: with the one credential that can be read
// in confinement, no request opens a gate, changes a mode or speaks as a hook.
func TestWhatRunsConfinedLooksUpAndNoMore(t *testing.T) {
	w := newWorld(t)
	w.wrote("plan.md", goodPlan)
	at, err := config.ReadEndpoint(w.data)
	if err != nil {
		t.Fatal(err)
	}
	agent := dial(t, w.data, at.URL, "agent")
	defer agent.Close()
	for _, subject := range []string{schemas.SvcStatus, schemas.SvcSessions, schemas.SvcRules, schemas.SvcMemoryHealth} {
		if _, err := agent.Request(t.Context(), bus.Request{Subject: subject, Body: []byte("{}")}); err != nil {
			t.Errorf("%s: %v", subject, err)
		}
	}
	offer, err := call[schemas.GateOffer](w, w.admin, schemas.SvcOffer, schemas.OfferRequest{Session: "s1", Gate: "plan"})
	if err != nil || offer.Fingerprint == "" {
		t.Fatalf("%+v, %v", offer, err)
	}
	session := `{"session":"s1","gate":"plan","mode":"conversation","type":"gate.approved","fingerprint":"` + offer.Fingerprint + `","channel":"terminal","act_id":"a","reason":"r"}`
	for _, subject := range []string{
		schemas.SvcApprove, schemas.SvcOffer, schemas.SvcDecline, schemas.SvcPhase, schemas.SvcModeByUser, schemas.SvcMode, schemas.SvcAdvance,
		schemas.SvcEmit, schemas.SvcHook, schemas.SvcObserve, schemas.SvcMemoryRegate, schemas.SvcMemoryForget, schemas.SvcRuleImport,
		schemas.SvcRuleChange, schemas.SvcRuleFeedback, schemas.SvcRuleVerdict, schemas.SvcDispatch, schemas.SvcAgentRun, schemas.SvcStop,
		schemas.SvcDash, schemas.SvcReplay, schemas.SvcArtifactBuild, schemas.SvcMemoryTriage,
		"writ.session.s1.gate.approved", "$JS.API.STREAM.INFO.WRIT_SESSIONS", "$JS.API.STREAM.PURGE.WRIT_SESSIONS",
	} {
		if _, err := agent.Request(t.Context(), bus.Request{Subject: subject, Body: []byte(session)}); !errors.Is(err, bus.ErrDenied) {
			t.Errorf("%s: %v, want %v", subject, err, bus.ErrDenied)
		}
	}
	if r := w.write("store/users.go", "x"); r.Exit != 2 || !strings.Contains(r.Stderr, "ENF-GATE-PLAN") {
		t.Errorf("a write of code afterwards: %+v", r)
	}
}

// TestGitIsAskedForWhereItLosesWork drives the gate on a real repository.
func TestGitIsAskedForWhereItLosesWork(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	w := start(t, t.TempDir(), newProject(t, "mode: conversation\n"))
	git := func(args ...string) {
		t.Helper()
		c := exec.Command("git", append([]string{"-c", "init.defaultBranch=main", "-c", "user.name=x", "-c", "user.email=x@x"}, args...)...)
		c.Dir, c.Env = w.project, append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null")
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	asked := func(command string, want string) {
		t.Helper()
		r := w.send("PreToolUse", map[string]any{"tool_name": "Bash", "tool_input": map[string]any{"command": command}})
		if got := strings.Contains(r.Stdout, `"ask"`); got != (want != "") || !strings.Contains(r.Stdout, want) {
			t.Errorf("%s: %s %s, want %q", command, r.Stdout, r.Stderr, want)
		}
	}
	put(t, filepath.Join(w.project, "a.go"), "package a\n")
	git("init", "-q")
	git("add", ".")
	git("commit", "-qm", "one")
	asked("git reset --hard", "")
	asked("git checkout -- a.go", "")
	asked("git commit --amend --no-edit", "")
	put(t, filepath.Join(w.project, "a.go"), "package a // the user's\n")
	asked("git reset --hard", enforcement.RuleBranch+": the command needs the user's answer: `git reset --hard` discards uncommitted changes: a.go")
	asked("git checkout -- a.go", "a.go")
	asked("git checkout -- b.go", "")
	git("init", "-q", "--bare", filepath.Join(w.data, "remote"))
	git("remote", "add", "origin", filepath.Join(w.data, "remote"))
	git("push", "-q", "origin", "main")
	asked("git commit --amend --no-edit", "a remote has")
	asked("git push --force-with-lease", "from the remote")
	asked("git push", "")
	asked("git branch -D main", "cannot bring back")
}
