package gemini

import (
	"path/filepath"

	"github.com/writbus/writ/enforcement/host"
)

// Probes are the probes for hooks of Gemini CLI: a write, a reading call and
// the end of the session.
func Probes(session, root string) []host.Probe {
	base := map[string]any{"cwd": root, "session_id": session, "timestamp": "2026-01-01T00:00:00Z"}
	tool := func(name string, input map[string]any) map[string]any {
		return host.With(base, "hook_event_name", "BeforeTool", "tool_name", name, "tool_input", input)
	}
	return []host.Probe{
		{Check: "write probe", Event: "BeforeTool", Payload: tool("write_file", map[string]any{"file_path": filepath.Join(root, host.ProbeFile), "content": host.ProbeContent}), Writes: true, Exit: 0},
		{Check: "read probe", Event: "BeforeTool", Payload: tool("read_file", map[string]any{"file_path": filepath.Join(root, "README.md")})},
		{Check: "session probe", Event: "SessionEnd", Payload: host.With(base, "hook_event_name", "SessionEnd", "reason", "exit")},
	}
}
