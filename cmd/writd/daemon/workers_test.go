package daemon

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/writbus/writ/schemas"
)

// byAgent sends a tool request of a sub-agent.
func (w *world) byAgent(agent, path string) schemas.HookReply {
	return w.send("PreToolUse", map[string]any{
		"agent_id": agent, "tool_name": "Write",
		"tool_input": map[string]any{"file_path": filepath.Join(w.project, path), "content": "x"},
	})
}

func TestASubagentInheritsTheGates(t *testing.T) {
	w := newWorld(t)
	w.send("SubagentStart", map[string]any{"agent_id": "a1", "agent_type": "Explore"})
	if r := w.byAgent("a1", "main.go"); r.Exit != 2 || !strings.Contains(r.Stderr, "ENF-GATE-PLAN") {
		t.Errorf("%+v", r)
	}
}

func TestWorkersOfAnOrchestratorWorkSideBySide(t *testing.T) {
	w := newWorld(t)
	w.send("SessionStart", map[string]any{})
	reply, err := call[schemas.ActReply](w, w.admin, schemas.SvcModeByUser, schemas.ModeRequest{Session: "s1", Mode: "work", Orchestrator: true})
	if err != nil || !reply.OK {
		t.Fatalf("%+v, %v", reply, err)
	}
	if r := w.write("main.go", "x"); r.Exit != 2 {
		t.Errorf("the orchestrator itself writes code: %+v", r)
	}
	const workers = 8
	errs := make(chan error, workers)
	for i := range workers {
		go func() {
			raw := fmt.Sprintf(`{"session_id":"s1","agent_id":"w%d","cwd":%q,"tool_name":"Write","tool_input":{"file_path":%q,"content":"x"}}`,
				i, w.project, filepath.Join(w.project, fmt.Sprintf("part%d.go", i)))
			reply, err := w.raw("PreToolUse", []byte(raw))
			if err == nil && reply.Exit != 0 {
				err = fmt.Errorf("worker %d: %+v", i, reply)
			}
			errs <- err
		}()
	}
	for range workers {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if events := w.history("s1/w0"); len(events) == 0 {
		t.Error("a worker has no log of its own")
	}
	if r := w.byAgent("w0", ".claude/settings.json"); r.Exit != 2 || !strings.Contains(r.Stderr, "ENF-PROTECTED") {
		t.Errorf("a worker changes the hooks: %+v", r)
	}
}

func TestCredentialsCannotBeRead(t *testing.T) {
	w := newWorld(t)
	r := w.send("PreToolUse", map[string]any{
		"tool_name": "Read", "tool_input": map[string]any{"file_path": filepath.Join(w.data, "credentials", "admin.json")},
	})
	if r.Exit != 2 || !strings.Contains(r.Stderr, "ENF-PROTECTED") {
		t.Errorf("%+v", r)
	}
	if r := w.send("PreToolUse", map[string]any{"tool_name": "Read", "tool_input": map[string]any{"file_path": filepath.Join(w.project, "main.go")}}); r.Exit != 0 {
		t.Errorf("%+v", r)
	}
}
