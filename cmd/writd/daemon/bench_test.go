package daemon

import (
	"encoding/json"
	"path/filepath"
	"testing"
)

// BenchmarkHook is one decision over TCP within a process: what is asked,
// decided, appended and answered. Profile it to see where the time goes.
func BenchmarkHook(b *testing.B) {
	w := start(b, b.TempDir(), newProject(b, "mode: work\n"))
	raw, err := json.Marshal(map[string]any{
		"session_id": "bench", "cwd": w.project, "hook_event_name": "PreToolUse", "tool_name": "Write",
		"tool_input": map[string]any{"file_path": filepath.Join(w.project, "plan.md"), "content": "x"},
	})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if reply, err := w.raw("PreToolUse", raw); err != nil || reply.Exit != 0 {
			b.Fatalf("%+v, %v", reply, err)
		}
	}
}
