package daemon

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/rights"
	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/projections/audit/ledger"
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
		schemas.SvcDash, schemas.SvcSettings, schemas.SvcReplay, schemas.SvcArtifactBuild, schemas.SvcMemoryTriage,
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
	w := start(t, t.TempDir(), newProject(t, "mode: conversation\n"))
	git := w.git
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

// git runs git in the project; without git the test is skipped.
func (w *world) git(args ...string) {
	w.t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		w.t.Skip("git is not installed")
	}
	c := exec.Command("git", append([]string{"-c", "init.defaultBranch=main", "-c", "user.name=x", "-c", "user.email=x@x"}, args...)...)
	c.Dir, c.Env = w.project, append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null")
	if out, err := c.CombinedOutput(); err != nil {
		w.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// TestWhatACommandLeftRunningIsFoundLater: a job writes after its command had
// ended; the next command, or the end of the turn, tells it, with the command.
func TestWhatACommandLeftRunningIsFoundLater(t *testing.T) {
	w := newWorld(t) // work mode, planning
	put(t, filepath.Join(w.project, "main.go"), "package main\n")
	told := func(text string, want ...string) {
		t.Helper()
		for _, part := range want {
			if !strings.Contains(text, part) {
				t.Errorf("told without %q: %s", part, text)
			}
		}
	}
	_, after := w.bash("t1", "nohup ./serve --watch", func() {})
	if strings.Contains(after.Stdout, "may not be written") {
		t.Errorf("nothing was changed yet: %s", after.Stdout)
	}
	w.wrote("plan.md", goodPlan)
	put(t, filepath.Join(w.project, "main.go"), "package main // later\n")
	before, _ := w.bash("t2", "ls", func() {})
	told(before.Stdout, "after `nohup ./serve --watch` had ended", "main.go (changed): ENF-GATE-PLAN", "or the user")
	if strings.Contains(before.Stdout, "plan.md") {
		t.Errorf("the session wrote that itself: %s", before.Stdout)
	}
	if before, _ := w.bash("t3", "ls", func() {}); strings.Contains(before.Stdout, "main.go") {
		t.Errorf("told twice: %s", before.Stdout)
	}
	put(t, filepath.Join(w.project, "new.go"), "package main\n")
	told(w.send("Stop", map[string]any{}).Stdout, "new.go (created): ENF-GATE-PLAN", "serve --watch")

	if _, after := w.bash("t4", "make build", func() {}); strings.Contains(after.Stdout, "new.go") {
		t.Errorf("made by nobody's command: %s", after.Stdout)
	}
	put(t, filepath.Join(w.project, "main.go"), "package main // by the user\n")
	if before, _ := w.bash("t5", "ls", func() {}); strings.Contains(before.Stdout, "main.go") {
		t.Errorf("a command that ends leaves nothing: %s", before.Stdout)
	}
}

// TestLinesThatAnUnnamedProgramChangedAreChecked: of a file that git knew, the
// lines that a script changed are checked, and what stood there is not.
func TestLinesThatAnUnnamedProgramChangedAreChecked(t *testing.T) {
	w := shippedFor(t, newProject(t, "mode: conversation\n"))
	const old = "import subprocess\n\n\ndef run(command):\n    return subprocess.run(f\"ls {command}\", shell=True)\n"
	file := filepath.Join(w.project, "run.py")
	put(t, file, old)
	w.git("init", "-q")
	w.git("add", ".")
	w.git("commit", "-qm", "one")
	clean := time.Now().Add(-time.Hour)
	if err := os.Chtimes(file, clean, clean); err != nil {
		t.Fatal(err)
	}
	w.git("add", ".") // the index takes no file for clean that is as young as itself
	_, after := w.bash("t1", "./generate", func() {
		put(t, file, old+"\n\ndef load(text):\n    return subprocess.run(f\"cat {text}\", shell=True)\n")
	})
	if !strings.Contains(after.Stdout, "run.py:9") || strings.Contains(after.Stdout, "run.py:5") {
		t.Errorf("told: %s", after.Stdout)
	}
}

// TestAYesToAServersToolHoldsInTheProject: who let a tool of a server run in one
// session is not asked in another, and is in another project.
func TestAYesToAServersToolHoldsInTheProject(t *testing.T) {
	w := newWorld(t)
	before := func(session, tool string) string {
		return w.send("PreToolUse", map[string]any{"session_id": session, "tool_name": tool, "tool_use_id": session + tool, "tool_input": map[string]any{}}).Stdout
	}
	const tool = "mcp__ide__start_process"
	asked := func(said string) bool { return strings.Contains(said, `"permissionDecision":"ask"`) }
	if said := before("s1", tool); !asked(said) || !strings.Contains(said, "in this project") {
		t.Fatalf("the first time: %s", said)
	}
	w.send("PostToolUse", map[string]any{"session_id": "s1", "tool_name": tool, "tool_use_id": "s1" + tool, "tool_input": map[string]any{}, "tool_response": map[string]any{}})
	if _, err := call[schemas.SessionList](w, w.admin, schemas.SvcSessions, schemas.SessionQuery{}); err != nil { // awaits the view
		t.Fatal(err)
	}
	if said := before("s2", tool); asked(said) {
		t.Errorf("in another session: %s", said)
	}
	if said := before("s2", "mcp__ide__stop_process"); !asked(said) {
		t.Errorf("another tool: %s", said)
	}
	w.project = newProject(t, "mode: work\n")
	if said := before("s3", tool); !asked(said) {
		t.Errorf("in another project: %s", said)
	}
}

// TestAPlanBelongsToItsSession: nobody approves a plan of another session in the
// same folder by what they say in theirs, nor by its offer in the dashboard; who
// goes over such a plan is told.
func TestAPlanBelongsToItsSession(t *testing.T) {
	w := newWorld(t)
	w.wrote("plan.md", goodPlan)
	prompt := func(session string) string {
		return w.send("UserPromptSubmit", map[string]any{"session_id": session, "prompt": "approved", "source": "user"}).Stdout
	}
	if told := prompt("s2"); !strings.Contains(told, "another session, s1") {
		t.Errorf("the second session's word: %s", told)
	}
	offer, err := call[schemas.GateOffer](w, w.admin, schemas.SvcOffer, schemas.OfferRequest{Session: "s2", Gate: "plan"})
	if err != nil || len(offer.Problems) != 1 {
		t.Errorf("%+v, %v", offer, err)
	}
	act, err := call[schemas.ActReply](w, w.admin, schemas.SvcApprove, schemas.ApproveRequest{Session: "s2", Gate: "plan", Fingerprint: offer.Fingerprint, Channel: "dashboard"})
	if err != nil || act.OK || act.Phase != enforcement.PhasePlanning {
		t.Errorf("the second session's dashboard: %+v, %v", act, err)
	}
	over := w.send("PreToolUse", map[string]any{
		"session_id": "s2", "tool_name": "Write",
		"tool_input": map[string]any{"file_path": filepath.Join(w.project, "plan.md"), "content": goodPlan},
	})
	if !strings.Contains(over.Stdout, "plan of session s1") {
		t.Errorf("a write over it: %s", over.Stdout)
	}
	if told := prompt("s1"); !strings.Contains(told, "Approved: plan") {
		t.Errorf("its own session's word: %s", told)
	}
}

// TestABackupLetsNobodyIn: agents read what lies outside the data folder, and what is put
// back from there signs in with what is made anew.
func TestABackupLetsNobodyIn(t *testing.T) {
	w := start(t, t.TempDir(), newProject(t, "mode: conversation\n"))
	made, err := call[schemas.BackupReply](w, w.admin, schemas.SvcBackup, schemas.BackupRequest{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	secrets := map[string]string{}
	for _, role := range rights.Roles() {
		own, err := bus.LoadCredential(config.Layout{Root: w.data}.Credentials(), string(role))
		if err != nil {
			t.Fatal(err)
		}
		secrets[own.Password] = string(role)
	}
	keys := false
	if err := filepath.WalkDir(made.Path, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		for secret, role := range secrets {
			if strings.Contains(string(raw), secret) {
				t.Errorf("%s holds what the %s signs in with", path, role)
			}
		}
		if e.Name() == "identity.pem" {
			t.Errorf("%s is what the daemon is known by", path)
		}
		keys = keys || e.Name() == "audit.key"
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if !keys {
		t.Error("the key that signs the log is not there")
	}
	if err := w.stop(); err != nil {
		t.Fatal(err)
	}
	to := restored(t, made.Path)
	again := start(t, to, w.project)
	if _, err := call[schemas.Status](again, again.admin, schemas.SvcStatus, struct{}{}); err != nil {
		t.Errorf("after the restore: %v", err)
	}
	own, err := bus.LoadCredential(config.Layout{Root: to}.Credentials(), "admin")
	if err != nil || secrets[own.Password] != "" {
		t.Errorf("after the restore the admin signs in as before, %v", err)
	}
}

// restored is a data folder that the backup in a folder was put into.
func restored(t *testing.T, backup string) (to string) {
	t.Helper()
	to = filepath.Join(t.TempDir(), "data")
	if _, err := ledger.Restore(t.Context(), ledger.Restoring{
		Place: backup, To: to, Format: config.Format(), Now: time.Now,
		Log: config.Layout{}.Log(), Evidence: config.Layout{}.Audit(), Note: config.Layout{}.Restored(),
	}); err != nil {
		t.Fatal(err)
	}
	return to
}
