package claude

import (
	"path/filepath"

	"github.com/writbus/writ/enforcement/host"
)

// Probes are the probes for hooks of Claude Code: a write, a reading call and
// the end of the session.
func Probes(session, root string) []host.Probe {
	base := map[string]any{"cwd": root, "session_id": session}
	tool := func(name string, input map[string]any) map[string]any {
		return host.With(base, "hook_event_name", "PreToolUse", "permission_mode", "default", "tool_name", name, "tool_input", input, "tool_use_id", "toolu_"+session+"_"+name)
	}
	return []host.Probe{
		{Check: "write probe", Event: "PreToolUse", Payload: tool("Write", map[string]any{"file_path": filepath.Join(root, host.ProbeFile), "content": host.ProbeContent}), Writes: true, Exit: 2},
		{Check: "read probe", Event: "PreToolUse", Payload: tool("Read", map[string]any{"file_path": filepath.Join(root, "README.md")})},
		{Check: "session probe", Event: "SessionEnd", Payload: host.With(base, "hook_event_name", "SessionEnd", "reason", "other")},
	}
}
