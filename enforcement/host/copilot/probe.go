package copilot

import (
	"path/filepath"

	"github.com/writbus/writ/enforcement/host"
)

// Probes are the probes for hooks of Copilot: a write, a reading call and the
// end of the session.
func Probes(session, root string) []host.Probe {
	base := map[string]any{"cwd": root, "sessionId": session, "timestamp": 1_760_000_000_000}
	tool := func(name string, args map[string]any) map[string]any {
		return host.With(base, "toolName", name, "toolArgs", args)
	}
	return []host.Probe{
		{Check: "write probe", Event: "preToolUse", Payload: tool("create", map[string]any{"path": filepath.Join(root, host.ProbeFile), "file_text": host.ProbeContent}), Writes: true, Exit: 2},
		{Check: "read probe", Event: "preToolUse", Payload: tool("view", map[string]any{"path": filepath.Join(root, "README.md")})},
		{Check: "session probe", Event: "sessionEnd", Payload: host.With(base, "reason", "complete")},
	}
}
