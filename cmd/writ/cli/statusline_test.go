package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/schemas"
)

func guarded(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, ".writ"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, config.ProjectFile), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestStatusline(t *testing.T) {
	dir := guarded(t)
	input, err := json.Marshal(map[string]any{"session_id": "s1", "cwd": dir, "model": map[string]string{"id": "m"}})
	if err != nil {
		t.Fatal(err)
	}
	view := schemas.SessionView{
		SessionSummary: schemas.SessionSummary{Mode: "work", Phase: "implementation", Refusals: 1}, Pending: 2, Untested: []string{"a.go"},
		Gates: []schemas.SessionGate{{Gate: "plan", State: "approved"}, {Gate: "tests", State: "drifted"}, {Gate: "implementation", State: "none"}},
	}
	failing := view
	failing.Untested, failing.Failing, failing.Pending, failing.Refusals = nil, true, 0, 0
	for name, x := range map[string]struct {
		reply any
		want  string
	}{
		"in work":             {view, "writ: work/implementation │ plan ✓  tests !  implementation · │ 2 violations │ 1 file untested │ 1 refusal\n"},
		"tests fail":          {failing, "writ: work/implementation │ plan ✓  tests !  implementation · │ tests fail\n"},
		"no mode":             {schemas.SessionView{}, "writ: no mode\n"},
		"an unseen session":   {&bus.ServiceError{Code: schemas.CodeNotFound}, "writ: no hook was seen in this session yet\n"},
		"a daemon that hangs": {nil, "writ: no answer of the daemon, see writ doctor\n"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &services{replies: map[string]any{schemas.SvcSession: x.reply}}
			if r := s.run(t, string(input), "statusline"); r.out != x.want || r.err != "" || r.code != 0 {
				t.Errorf("%+v, want %q", r, x.want)
			}
		})
	}
	s := &services{}
	for name, stdin := range map[string]string{"elsewhere": `{"cwd":"/"}`, "nothing": "", "no JSON": "{", "a list": "[1]"} {
		if r := s.run(t, stdin, "statusline"); r.out != "" || r.err != "" || r.code != 0 {
			t.Errorf("%s: %+v", name, r)
		}
	}
	settings := filepath.Join(dir, ".claude", "settings.local.json")
	if err := os.MkdirAll(filepath.Dir(settings), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(settings, []byte(`{"disableAllHooks":true}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if r := s.run(t, string(input), "statusline"); !strings.Contains(r.out, "GATE OFF") {
		t.Errorf("hooks are off: %+v", r)
	}
}

func TestSessionsOfOtherHostsAreFound(t *testing.T) {
	for _, name := range []string{"WRIT_SESSION", "CLAUDE_CODE_SESSION_ID", "CODEX_THREAD_ID", "GEMINI_SESSION_ID"} {
		s := &services{replies: map[string]any{schemas.SvcSession: schemas.SessionView{Audit: &schemas.SessionAudited{Shown: []string{"R-1"}, Coverage: 1}}}}
		r := s.runIn(t, client.Env{Vars: []string{name + "=from-" + name}}, "", "session", "audit")
		if r.code != 0 || !strings.Contains(strings.Join(s.asked[schemas.SvcSession], ""), "from-"+name) || !strings.Contains(r.out, "1 shown") {
			t.Errorf("%s: %+v, asked %v", name, r, s.asked)
		}
	}
}

func TestPluginIsWrittenOnceAndTouchesNoOther(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "plugin")
	s := &services{}
	for range 2 {
		if r := s.run(t, "", "init", "--plugin", dir); r.code != 0 || !strings.Contains(r.out, "/plugin install writ@writ") {
			t.Fatalf("%+v", r)
		}
	}
	for _, file := range []string{".claude-plugin/plugin.json", ".claude-plugin/marketplace.json", "hooks/hooks.json", ".mcp.json", "commands/writ-approve.md"} {
		if _, err := os.Stat(filepath.Join(dir, file)); err != nil {
			t.Error(err)
		}
	}
	manifest := filepath.Join(dir, ".claude-plugin", "plugin.json")
	if err := os.WriteFile(manifest, []byte(`{"name":"other"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if r := s.run(t, "", "init", "--plugin", dir); r.code != 1 || !strings.Contains(r.err, "another plugin") {
		t.Errorf("another's: %+v", r)
	}
	if raw, err := os.ReadFile(manifest); err != nil || !strings.Contains(string(raw), "other") {
		t.Errorf("another's was changed: %s %v", raw, err)
	}
}
