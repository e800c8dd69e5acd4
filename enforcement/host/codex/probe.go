package codex

import (
	"github.com/writbus/writ/enforcement/host"
)

// Probes are the probes for hooks of Codex CLI: a write, a reading call and the
// end of the session.
func Probes(session, root string) []host.Probe {
	base := map[string]any{"cwd": root, "session_id": session, "model": "probe", "permission_mode": "default"}
	tool := func(name, command string) map[string]any {
		return host.With(base, "hook_event_name", "PreToolUse", "turn_id", session, "tool_name", name,
			"tool_input", map[string]any{"command": command}, "tool_use_id", session+name)
	}
	return []host.Probe{
		{Check: "write probe", Event: "PreToolUse", Payload: tool("apply_patch", "*** Begin Patch\n*** Add File: "+host.ProbeFile+"\n+"+host.ProbeContent+"*** End Patch\n"), Writes: true, Exit: 2},
		{Check: "read probe", Event: "PreToolUse", Payload: tool("Bash", "ls")},
		{Check: "session probe", Event: "SessionEnd", Payload: host.With(base, "hook_event_name", "SessionEnd", "reason", "other")},
	}
}
