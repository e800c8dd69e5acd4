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
