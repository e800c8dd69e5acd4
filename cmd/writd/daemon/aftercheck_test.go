package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/writbus/writ/schemas"
)

// bash runs both hooks of a shell command, with what it does in between.
func (w *world) bash(id, command string, does func()) (before, after schemas.HookReply) {
	w.t.Helper()
	payload := map[string]any{"tool_name": "Bash", "tool_use_id": id, "tool_input": map[string]any{"command": command}}
	before = w.send("PreToolUse", payload)
	does()
	return before, w.send("PostToolUse", map[string]any{
		"tool_name": "Bash", "tool_use_id": id, "tool_input": map[string]any{"command": command}, "tool_response": map[string]any{},
	})
}

// TestWhatACommandDidIsFound: nobody can tell beforehand what make does; what it
// did to files that may not be written now is told, recorded and counted.
func TestWhatACommandDidIsFound(t *testing.T) {
	w := newWorld(t) // work mode, planning
	put(t, filepath.Join(w.project, "main.go"), "package main\n")
	before, after := w.bash("t1", "make build", func() {
		put(t, filepath.Join(w.project, "main.go"), "package main // changed\n")
		put(t, filepath.Join(w.project, "plan.md"), "# Plan\n")
		put(t, filepath.Join(w.project, "new.go"), "package main\n")
	})
	if !strings.Contains(before.Stdout, `"ask"`) {
		t.Errorf("before: %s", before.Stdout)
	}
	for _, want := range []string{"main.go (changed): ENF-GATE-PLAN", "new.go (created): ENF-GATE-PLAN", "git checkout"} {
		if !strings.Contains(after.Stdout, want) {
			t.Errorf("told without %q: %s", want, after.Stdout)
		}
	}
	if strings.Contains(after.Stdout, "plan.md (") {
		t.Errorf("a plan may be written: %s", after.Stdout)
	}
	view, err := call[schemas.SessionView](w, w.hook, schemas.SvcSession, schemas.SessionQuery{Session: "s1"})
	if err != nil || view.Refusals != 1 {
		t.Errorf("%d refusals, %v", view.Refusals, err)
	}
	if _, after := w.bash("t2", "make test", func() {}); strings.Contains(after.Stdout, "may not be written") {
		t.Errorf("a command that changed nothing: %s", after.Stdout)
	}
}

// TestAConversationWritesButNotSettings: in a conversation code may change, the
// live settings of agents never.
func TestAConversationWritesButNotSettings(t *testing.T) {
	w := start(t, t.TempDir(), newProject(t, "mode: conversation\n"))
	_, after := w.bash("t1", "make build", func() {
		put(t, filepath.Join(w.project, "main.go"), "package main\n")
		if err := os.MkdirAll(filepath.Join(w.project, ".claude"), 0o755); err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(w.project, ".claude", "settings.local.json"), "{}")
	})
	if !strings.Contains(after.Stdout, ".claude/settings.local.json (created): ENF-PROTECTED") || strings.Contains(after.Stdout, "main.go (") {
		t.Errorf("told: %s", after.Stdout)
	}
}

// TestARestoreNeedsNoRunner: a command that ended its runner, or had none, leaves
// no protected file otherwise than it was; the agent, the user and the log are told.
func TestARestoreNeedsNoRunner(t *testing.T) {
	w := start(t, t.TempDir(), newProject(t, "mode: conversation\n"))
	w.git("init", "-q")
	config, settings := filepath.Join(w.project, ".writ", "config.yaml"), filepath.Join(w.project, ".claude", "settings.json")
	hook, answers := filepath.Join(w.project, ".git", "hooks", "pre-commit"), filepath.Join(w.project, ".claude", "settings.local.json")
	const hooks = `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"sh \"$CLAUDE_PROJECT_DIR\"/scripts/lint.sh"}]}]}}`
	script := filepath.Join(w.project, "scripts", "lint.sh")
	put(t, settings, hooks)
	put(t, script, "lint\n")
	holds := func(path, want string) {
		t.Helper()
		if raw, err := os.ReadFile(path); string(raw) != want || err != nil && want != "" {
			t.Errorf("%s holds %q, %v", path, raw, err)
		}
	}
	_, after := w.bash("t1", "python3 build.py", func() {
		put(t, config, "fail: open\nmode: conversation\n")
		put(t, settings, `{"disableAllHooks":true}`)
		put(t, hook, "#!/bin/sh\n")
		put(t, script, "writ approve\n")
		put(t, answers, `{"permissions":{"allow":["Bash(make:*)"]}}`)
		put(t, filepath.Join(w.project, ".husky", "pre-commit"), "make\n")
		put(t, filepath.Join(w.project, "main.go"), "package main\n")
		if err := os.Chmod(w.data, 0o777); err != nil {
			t.Fatal(err)
		}
	})
	for _, want := range []string{".writ/config.yaml was changed; it is as before", ".claude/settings.json was changed", "scripts/lint.sh was changed; it is as before", ".git/hooks/pre-commit was created; it is removed again", filepath.Base(w.data) + " was changed"} {
		if strings.Count(after.Stdout, want) != 2 { // to the agent and to the user
			t.Errorf("told without %q: %s", want, after.Stdout)
		}
	}
	holds(config, "mode: conversation\n")
	holds(settings, hooks)
	holds(hook, "")
	holds(script, "lint\n")
	holds(answers, `{"permissions":{"allow":["Bash(make:*)"]}}`)
	holds(filepath.Join(w.project, ".husky", "pre-commit"), "make\n")
	if info, err := os.Stat(w.data); err != nil || info.Mode().Perm() == 0o777 {
		t.Errorf("%v, %v", info, err)
	}
	recorded := 0
	for _, e := range w.history("s1") {
		recorded += strings.Count(string(e.Data), `"put_back":true`)
	}
	if recorded != 5 {
		t.Errorf("%d recorded", recorded)
	}

	_, after = w.bash("t2", "nohup ./serve", func() {
		put(t, answers, `{"permissions":{"allow":["Bash(make:*)"],"defaultMode":"bypassPermissions"}}`)
	})
	holds(answers, `{"permissions":{"allow":["Bash(make:*)"]}}`)
	if !strings.Contains(after.Stdout, ".claude/settings.local.json was changed") {
		t.Errorf("told: %s", after.Stdout)
	}
	put(t, settings, `{}`)
	put(t, config, "mode: conversation\nfail: open\n")
	if told := w.send("Stop", map[string]any{}).Stdout; !strings.Contains(told, "after `nohup ./serve` had begun") || !strings.Contains(told, ".claude/settings.json was changed") {
		t.Errorf("told: %s", told)
	}
	holds(settings, hooks)
	holds(config, "mode: conversation\nfail: open\n")
	put(t, settings, `{"by":"the user"}`)
	w.bash("t3", "make", func() {})
	holds(settings, `{"by":"the user"}`)
}

// TestSettingsBelowTheRootArePutBack: whoever starts in a folder of the project is
// ruled by what lies there.
func TestSettingsBelowTheRootArePutBack(t *testing.T) {
	w := start(t, t.TempDir(), newProject(t, "mode: conversation\n"))
	w.git("init", "-q")
	at := func(parts ...string) string {
		return filepath.Join(append([]string{w.project, "sub", "app"}, parts...)...)
	}
	put(t, at(".claude", "settings.json"), "{}\n")
	put(t, at("main.go"), "package app\n")
	_, after := w.bash("t1", "python3 build.py", func() {
		put(t, at(".claude", "settings.json"), `{"disableAllHooks":true}`)
		put(t, at(".claude", "hooks", "stop.sh"), "writ approve\n")
		put(t, at(".writ", "config.yaml"), "mode: conversation\nfail: open\n")
		put(t, at("main.go"), "package app // changed\n")
	})
	for path, want := range map[string]string{
		at(".claude", "settings.json"): "{}\n", at(".claude", "hooks", "stop.sh"): "", at(".writ", "config.yaml"): "", at("main.go"): "package app // changed\n",
	} {
		if raw, err := os.ReadFile(path); string(raw) != want || err != nil && want != "" {
			t.Errorf("%s holds %q, %v", path, raw, err)
		}
	}
	for _, want := range []string{"sub/app/.claude/settings.json was changed; it is as before", "sub/app/.writ/config.yaml was created; it is removed again"} {
		if !strings.Contains(after.Stdout, want) {
			t.Errorf("told without %q: %s", want, after.Stdout)
		}
	}
}
