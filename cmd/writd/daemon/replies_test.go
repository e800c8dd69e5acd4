package daemon

import (
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/schemas"
)

// process is a hook's process that began at a time and waits for an hour from now on.
func (w *world) process(began time.Time, payload map[string]any) schemas.HookReply {
	w.t.Helper()
	return w.waiting(time.Now().Add(time.Hour), began, payload)
}

// waiting is process of one that waits until a time.
func (w *world) waiting(until, began time.Time, payload map[string]any) schemas.HookReply {
	w.t.Helper()
	payload["session_id"], payload["cwd"] = "s1", w.project
	raw, err := json.Marshal(payload)
	if err != nil {
		w.t.Fatal(err)
	}
	answer, err := w.hook.Request(w.t.Context(), bus.Request{Subject: schemas.SvcHook, Body: raw, Header: schemas.Header{
		schemas.HookHeaderAgent: {"claude"}, schemas.HookHeaderDir: {w.project}, schemas.HookHeaderProject: {w.project},
		schemas.HookHeaderHome: {filepath.Dir(w.project)}, schemas.HookHeaderBegan: {strconv.FormatInt(began.UnixNano(), 10)},
		schemas.HookHeaderUntil: {strconv.FormatInt(until.UnixNano(), 10)},
	}})
	if err != nil {
		w.t.Fatal(err)
	}
	var reply schemas.HookReply
	if err := json.Unmarshal(answer.Body, &reply); err != nil {
		w.t.Fatal(err)
	}
	return reply
}

func (w *world) count(kind string) (n int) {
	for _, e := range w.history("s1") {
		if e.Type == schemas.Type(kind) {
			n++
		}
	}
	return n
}

// TestALatePromptOpensNothing: a prompt that is read after its hook has told the user that
// nobody saw it is in the log, and approves nothing and chooses no mode; the next one does.
func TestALatePromptOpensNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.wrote("plan.md", goodPlan)
	late := time.Now().Add(-time.Second)
	for i, text := range []string{"approved", "/writ-approve plan", "/writ-mode conversation"} {
		w.waiting(late, late.Add(time.Duration(i)), map[string]any{"hook_event_name": "UserPromptSubmit", "source": "user", "prompt": text, "prompt_id": text})
		if r := w.write("store/users.go", "x"); !strings.Contains(r.Stdout+r.Stderr, "ENF-GATE-PLAN") {
			t.Errorf("after %q: %+v", text, r)
		}
	}
	if n := w.count("prompt.submitted"); n != 3 {
		t.Errorf("%d prompts are in the log", n)
	}
	w.process(time.Now(), map[string]any{"hook_event_name": "UserPromptSubmit", "source": "user", "prompt": "approved", "prompt_id": "again"})
	if r := w.write("store/users.go", "x"); !strings.Contains(r.Stdout+r.Stderr, "ENF-GATE-TEST") {
		t.Errorf("answered once more: %+v", r)
	}
}

// TestAHookInstalledTwiceCountsOnce: a plugin and a project's settings run each
// hook in a process of its own, side by side.
func TestAHookInstalledTwiceCountsOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	at := time.Unix(1_800_000_000, 0)
	for _, c := range []struct {
		payload map[string]any
		event   string
		tells   bool
	}{
		{map[string]any{"hook_event_name": "SessionStart", "source": "startup"}, "session.started", true},
		{map[string]any{"hook_event_name": "UserPromptSubmit", "prompt": "add up a cart", "prompt_id": "p1"}, "prompt.submitted", false},
		{map[string]any{"hook_event_name": "PreToolUse", "tool_name": "Write", "tool_use_id": "t1", "tool_input": map[string]any{"file_path": w.project + "/a.go", "content": "package a\n"}}, "tool.decided", true},
		{map[string]any{"hook_event_name": "PreCompact", "trigger": "manual"}, "context.compacted", false},
		{map[string]any{"hook_event_name": "Notification", "message": "waiting", "notification_type": "idle_prompt"}, "hook.observed", false},
		{map[string]any{"hook_event_name": "Stop", "prompt_id": "p1", "last_assistant_message": "Here it is."}, "turn.ended", false},
	} {
		at = at.Add(time.Minute)
		before := w.count(c.event)
		first := w.process(at, c.payload)
		second := w.process(at.Add(9*time.Millisecond), c.payload)
		if n := w.count(c.event) - before; n != 1 {
			t.Errorf("%s: %d of them", c.event, n)
		}
		if c.tells != (first.Stdout != "") || strings.Contains(second.Stdout, "additionalContext") || first.Exit != second.Exit {
			t.Errorf("%s: %+v, then %+v", c.event, first, second)
		}
		if again := w.process(at, c.payload); again != first {
			t.Errorf("%s: asked again, the same process gets %+v, and got %+v", c.event, again, first)
		}
	}
	before := w.count("turn.ended")
	stop := map[string]any{"hook_event_name": "Stop", "prompt_id": "p1", "last_assistant_message": "Here it is."}
	w.process(at.Add(3*time.Second), stop)
	if n := w.count("turn.ended") - before; n != 1 {
		t.Errorf("the like of it, later, counts %d times", n)
	}
}

// TestALongPromptIsCutAndSaysSo: what is left of it is recorded, and approves nothing.
// TestAPromptAskedAgainOfTheNextDaemonCountsOnce: a hook whose daemon ended before it
// answered asks the next one, with a prompt to which the host gave no id. The same text
// from another process is another prompt.
func TestAPromptAskedAgainOfTheNextDaemonCountsOnce(t *testing.T) {
	t.Parallel()
	data, project := t.TempDir(), newProject(t, "mode: work\n")
	w := start(t, data, project)
	at := time.Unix(1_800_000_000, 0)
	prompt := func(text string) map[string]any {
		return map[string]any{"hook_event_name": "UserPromptSubmit", "prompt": text, "source": "user"}
	}
	w.wrote("plan.md", goodPlan)
	w.process(at, prompt("approved"))
	w.process(at.Add(time.Minute), prompt("add up a cart"))
	w.wrote("store/users_test.go", goodTest)
	for _, c := range []struct {
		began time.Time
		text  string
		more  int
	}{
		{at, "approved", 0},
		{at.Add(time.Minute), "add up a cart", 0},
		{at.Add(time.Hour), "add up a cart", 1},
	} {
		if err := w.stop(); err != nil {
			t.Fatal(err)
		}
		w = start(t, data, project)
		before := len(w.history("s1"))
		for range 2 {
			if r := w.process(c.began, prompt(c.text)); strings.Contains(r.Stdout, "approved the tests") {
				t.Errorf("one answer approves two gates: %+v", r)
			}
		}
		if n := len(w.history("s1")) - before; n != c.more {
			t.Errorf("%q, which began at %s: %d more events", c.text, c.began, n)
		}
	}
	view, err := call[schemas.SessionView](w, w.hook, schemas.SvcSession, schemas.SessionQuery{Session: "s1"})
	if err != nil || view.Phase != "testing" {
		t.Errorf("phase %q, %v", view.Phase, err)
	}
}

func TestALongPromptIsCutAndSaysSo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	reply := w.send("UserPromptSubmit", map[string]any{"session_id": "s1", "prompt": "/writ-mode conversation " + strings.Repeat(" ", 2<<20), "source": "user"})
	if !strings.Contains(reply.Stdout, "longer than 256 KiB") || strings.Contains(reply.Stdout, "conversation mode") {
		t.Errorf("answered: %s", reply.Stdout)
	}
	for _, e := range w.history("s1") {
		switch e.Type {
		case schemas.PromptSubmitted{}.EventType():
			if n := len(e.Data); n > 257<<10 || !strings.Contains(string(e.Data), "left out by writ") {
				t.Errorf("%d bytes were recorded", n)
			}
		case schemas.ModeChanged{}.EventType():
			t.Errorf("it acted: %s", e.Data)
		}
	}
}

// TestRulesThatCameTooLateAreNotShown: a hook's process that no longer waits gives
// its host nothing, so the session has none of the rules.
func TestRulesThatCameTooLateAreNotShown(t *testing.T) {
	t.Parallel()
	w := shippedWorld(t)
	prompt := func(id string) map[string]any {
		return map[string]any{"hook_event_name": "UserPromptSubmit", "prompt_id": id, "prompt": "the login query is built by concatenating the e-mail address into the SQL string"}
	}
	late := time.Now().Add(-time.Second)
	if r := w.waiting(late, late, prompt("p1")); strings.Contains(r.Stdout, "additionalContext") {
		t.Errorf("a prompt that nobody waits for is answered %s", r.Stdout)
	}
	if w.count("prompt.submitted") != 1 || len(w.rulesShown("prompt")) != 0 {
		t.Errorf("%d prompts, shown %v", w.count("prompt.submitted"), w.rulesShown("prompt"))
	}
	w.process(time.Now(), prompt("p2"))
	if len(w.rulesShown("prompt")) == 0 {
		t.Error("a prompt in time is shown no rules")
	}
}
