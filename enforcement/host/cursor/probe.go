package cursor

import (
	"path/filepath"

	"github.com/writbus/writ/enforcement/host"
)

// Probes are the probes for hooks of Cursor: a write, a reading call, a shell
// command, which has a hook of its own, and the end of the session.
func Probes(session, root string) []host.Probe {
	base := map[string]any{"cwd": root, "conversation_id": session, "generation_id": session, "cursor_version": "probe", "workspace_roots": []string{root}}
	tool := func(name string, input map[string]any) map[string]any {
		return host.With(base, "hook_event_name", "preToolUse", "tool_name", name, "tool_input", input, "tool_use_id", session+name)
	}
	return []host.Probe{
		{Check: "write probe", Event: "preToolUse", Payload: tool("Write", map[string]any{"file_path": filepath.Join(root, host.ProbeFile), "content": host.ProbeContent}), Writes: true, Exit: 2},
		{Check: "read probe", Event: "preToolUse", Payload: tool("Read", map[string]any{"file_path": filepath.Join(root, "README.md")})},
		// In a session of its own: a second refusal in a row may become a question.
		{Check: "shell probe", Event: "beforeShellExecution", Payload: host.With(base, "conversation_id", session+"-shell", "hook_event_name", "beforeShellExecution", "command", "echo package probe > "+host.ProbeFile, "sandbox", false), Writes: true, Exit: 2},
		{Check: "session probe", Event: "sessionEnd", Payload: host.With(base, "conversation_id", session+"-shell", "hook_event_name", "sessionEnd", "reason", "completed")},
		{Check: "session probe", Event: "sessionEnd", Payload: host.With(base, "hook_event_name", "sessionEnd", "session_id", session, "reason", "completed")},
	}
}
