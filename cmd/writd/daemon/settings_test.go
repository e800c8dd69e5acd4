package daemon

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/schemas"
)

// code writes code in a session, for a sub-agent where one is named.
func (w *world) code(session, agent string) (refused bool) {
	w.t.Helper()
	payload := map[string]any{"session_id": session, "tool_name": "Write", "tool_input": map[string]any{"file_path": filepath.Join(w.project, "main.go"), "content": "x"}}
	if agent != "" {
		payload["agent_id"] = agent
	}
	return w.send("PreToolUse", payload).Exit == 2
}

func (w *world) settings(digest string) (schemas.SettingsReply, error) {
	return call[schemas.SettingsReply](w, w.admin, schemas.SvcSettings, schemas.SettingsRequest{Project: w.project, Digest: digest})
}

// TestSettingsTakeEffectByAPersonsAct: what a script, a background job or another
// branch puts in the place of the settings opens nothing, for no session and no
// sub-agent, also after a restart, until a person accepts exactly that.
func TestSettingsTakeEffectByAPersonsAct(t *testing.T) {
	const loose = "mode: conversation\nfail: open\nsubagents: exempt\n"
	w := start(t, t.TempDir(), newProject(t, "mode: work\ndeny_to_ask: false\n"))
	file := filepath.Join(w.project, config.ProjectFile)
	closed := func(when string) {
		t.Helper()
		if !w.code("s1", "") || !w.code(when, "") || !w.code("s1", "worker") {
			t.Errorf("%s: code was written with no approval", when)
		}
		if config.MayOpen(w.data, w.project) {
			t.Errorf("%s: hooks may let pass what nobody judged", when)
		}
	}
	w.git("init", "-q")
	w.git("add", ".")
	w.git("commit", "-qm", "strict")
	closed("before")

	_, after := w.bash("t1", "python3 x.py", func() { put(t, file, loose) })
	if !strings.Contains(after.Stdout, ".writ/config.yaml was changed; it is as before") {
		t.Errorf("told: %s", after.Stdout)
	}
	closed("script")
	_, _ = w.bash("t2", "nohup ./serve", func() {})
	put(t, file, loose)
	closed("job")
	w.send("Stop", map[string]any{})
	closed("job, later")

	told := w.send("UserPromptSubmit", map[string]any{"prompt": "hello"}).Stdout
	for _, want := range []string{"mode: work → conversation", "fail: closed → open", "writ approve settings"} {
		if !strings.Contains(told, want) {
			t.Errorf("asked without %q: %s", want, told)
		}
	}
	if again := w.send("UserPromptSubmit", map[string]any{"prompt": "hello again"}).Stdout; strings.Contains(again, "writ approve settings") {
		t.Errorf("asked twice: %s", again)
	}
	w.git("checkout", "-q", ".")
	w.git("checkout", "-qb", "other")
	put(t, file, "mode: conversation\ndeny_to_ask: false\n")
	w.git("commit", "-qam", "loose")
	w.git("checkout", "-q", "main")
	closed("its own branch")
	_, _ = w.bash("t3", "git checkout other", func() { w.git("checkout", "-q", "other") })
	closed("a branch, by the agent")
	w.git("checkout", "-qf", "other")
	closed("a branch")

	if err := w.stop(); err != nil {
		t.Fatal(err)
	}
	w = start(t, w.data, w.project)
	closed("a restart")

	offer, err := w.settings("")
	if err != nil || len(offer.Waits) != 1 {
		t.Fatalf("%+v, %v", offer, err)
	}
	at, err := config.ReadEndpoint(w.data)
	if err != nil {
		t.Fatal(err)
	}
	agent := dial(t, w.data, at.URL, "agent")
	defer agent.Close()
	for _, conn := range []*bus.Conn{w.hook, agent} {
		if _, err := conn.Request(t.Context(), bus.Request{Subject: schemas.SvcSettings, Body: []byte(`{"project":"` + w.project + `"}`)}); !errors.Is(err, bus.ErrDenied) {
			t.Errorf("%v, want %v", err, bus.ErrDenied)
		}
	}
	put(t, file, loose)
	if _, err := w.settings(offer.Digest); err == nil {
		t.Error("what nobody was shown was accepted")
	}
	put(t, file, "mode: conversation\ndeny_to_ask: false\n")
	if reply, err := w.settings(offer.Digest); err != nil || !reply.Accepted {
		t.Fatalf("%+v, %v", reply, err)
	}
	if w.code("accepted", "") {
		t.Error("what a person accepted is not in effect")
	}
	w.git("checkout", "-qf", "main")
	if !w.code("strict again", "") {
		t.Error("what asks more is not in effect")
	}
	w.git("checkout", "-qf", "other")
	if offer, err := w.settings(""); err != nil || len(offer.Waits) > 0 || w.code("loose again", "") {
		t.Errorf("what was accepted once is asked for again: %+v, %v", offer, err)
	}
}
