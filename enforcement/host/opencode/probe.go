package opencode

import (
	"path/filepath"

	"github.com/writbus/writ/enforcement/host"
)

// Probes are the probes for hooks of OpenCode: a write, a reading call and the
// end of the session.
func Probes(session, root string) []host.Probe {
	base := map[string]any{"cwd": root, "session_id": session, "hook_event_name": "tool.execute.before"}
	return []host.Probe{
		{Check: "write probe", Event: "tool.execute.before", Payload: host.With(base, "tool_name", "write", "tool_use_id", session, "tool_input", map[string]any{"filePath": filepath.Join(root, host.ProbeFile), "content": host.ProbeContent}), Writes: true, Exit: 2},
		{Check: "read probe", Event: "tool.execute.before", Payload: host.With(base, "tool_name", "read", "tool_use_id", session+"r", "tool_input", map[string]any{"filePath": filepath.Join(root, "README.md")})},
		{Check: "session probe", Event: "tool.execute.before", Payload: host.With(base, "hook_event_name", "session.deleted", "reason", "deleted")},
	}
}
