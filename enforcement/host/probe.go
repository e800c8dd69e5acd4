package host

import "path/filepath"

// Probe is a made-up call of a host that a hook must answer in a known way.
type Probe struct {
	Check   string // what it looks at
	Event   string
	Payload any
	Writes  bool // it must be refused
}

// Probes are the probes for an agent's hooks, in the shape of its payloads:
// a write, a reading call, a shell command where those have a hook of their
// own, and the end of the session.
func Probes(host, session, root string) []Probe {
	file, readme := filepath.Join(root, "writ-doctor-probe.go"), filepath.Join(root, "README.md")
	const content, line = "package probe\n", "echo package probe > writ-doctor-probe.go"
	with := func(fields map[string]any, more ...any) map[string]any {
		all := map[string]any{"cwd": root}
		for key, value := range fields {
			all[key] = value
		}
		for i := 0; i+1 < len(more); i += 2 {
			all[more[i].(string)] = more[i+1]
		}
		return all
	}
	switch host {
	case "cursor":
		base := map[string]any{"conversation_id": session, "generation_id": session, "cursor_version": "probe", "workspace_roots": []string{root}}
		tool := func(name string, input map[string]any) map[string]any {
			return with(base, "hook_event_name", "preToolUse", "tool_name", name, "tool_input", input, "tool_use_id", session+name)
		}
		return []Probe{
			{"write probe", "preToolUse", tool("Write", map[string]any{"file_path": file, "content": content}), true},
			{"read probe", "preToolUse", tool("Read", map[string]any{"file_path": readme}), false},
			// In a session of its own: a second refusal in a row may become a question.
			{"shell probe", "beforeShellExecution", with(base, "conversation_id", session+"-shell", "hook_event_name", "beforeShellExecution", "command", line, "sandbox", false), true},
			{"session probe", "sessionEnd", with(base, "conversation_id", session+"-shell", "hook_event_name", "sessionEnd", "reason", "completed"), false},
			{"session probe", "sessionEnd", with(base, "hook_event_name", "sessionEnd", "session_id", session, "reason", "completed"), false},
		}
	case "codex":
		base := map[string]any{"session_id": session, "model": "probe", "permission_mode": "default"}
		tool := func(name, command string) map[string]any {
			return with(base, "hook_event_name", "PreToolUse", "turn_id", session, "tool_name", name,
				"tool_input", map[string]any{"command": command}, "tool_use_id", session+name)
		}
		return []Probe{
			{"write probe", "PreToolUse", tool("apply_patch", "*** Begin Patch\n*** Add File: writ-doctor-probe.go\n+package probe\n*** End Patch\n"), true},
			{"read probe", "PreToolUse", tool("Bash", "ls"), false},
			{"session probe", "SessionEnd", with(base, "hook_event_name", "SessionEnd", "reason", "other"), false},
		}
	case "gemini":
		base := map[string]any{"session_id": session, "timestamp": "2026-01-01T00:00:00Z"}
		tool := func(name string, input map[string]any) map[string]any {
			return with(base, "hook_event_name", "BeforeTool", "tool_name", name, "tool_input", input)
		}
		return []Probe{
			{"write probe", "BeforeTool", tool("write_file", map[string]any{"file_path": file, "content": content}), true},
			{"read probe", "BeforeTool", tool("read_file", map[string]any{"file_path": readme}), false},
			{"session probe", "SessionEnd", with(base, "hook_event_name", "SessionEnd", "reason", "exit"), false},
		}
	case "copilot":
		base := map[string]any{"sessionId": session, "timestamp": 1_760_000_000_000}
		tool := func(name string, args map[string]any) map[string]any {
			return with(base, "toolName", name, "toolArgs", args)
		}
		return []Probe{
			{"write probe", "preToolUse", tool("create", map[string]any{"path": file, "file_text": content}), true},
			{"read probe", "preToolUse", tool("view", map[string]any{"path": readme}), false},
			{"session probe", "sessionEnd", with(base, "reason", "complete"), false},
		}
	case "opencode":
		base := map[string]any{"session_id": session, "hook_event_name": "tool.execute.before"}
		return []Probe{
			{"write probe", "tool.execute.before", with(base, "tool_name", "write", "tool_use_id", session, "tool_input", map[string]any{"filePath": file, "content": content}), true},
			{"read probe", "tool.execute.before", with(base, "tool_name", "read", "tool_use_id", session+"r", "tool_input", map[string]any{"filePath": readme}), false},
			{"session probe", "tool.execute.before", with(base, "hook_event_name", "session.deleted", "reason", "deleted"), false},
		}
	}
	base := map[string]any{"session_id": session}
	tool := func(name string, input map[string]any) map[string]any {
		return with(base, "hook_event_name", "PreToolUse", "permission_mode", "default", "tool_name", name, "tool_input", input, "tool_use_id", "toolu_"+session+"_"+name)
	}
	return []Probe{
		{"write probe", "PreToolUse", tool("Write", map[string]any{"file_path": file, "content": content}), true},
		{"read probe", "PreToolUse", tool("Read", map[string]any{"file_path": readme}), false},
		{"session probe", "SessionEnd", with(base, "hook_event_name", "SessionEnd", "reason", "other"), false},
	}
}
