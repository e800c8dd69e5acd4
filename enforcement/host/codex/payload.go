package codex

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/writbus/writ/enforcement/host"
	"github.com/writbus/writ/enforcement/host/claude"
	"github.com/writbus/writ/schemas"
)

// hookPayload holds the fields of Codex CLI's hook payloads that Writ reads.
type hookPayload struct {
	SessionID   string          `json:"session_id"`
	Turn        string          `json:"turn_id"`
	Transcript  string          `json:"transcript_path"`
	Dir         string          `json:"cwd"`
	Hook        string          `json:"hook_event_name"`
	Model       string          `json:"model"`
	Permissions string          `json:"permission_mode"`
	AgentID     string          `json:"agent_id"`
	AgentType   string          `json:"agent_type"`
	Source      string          `json:"source"`
	Reason      string          `json:"reason"`
	Trigger     string          `json:"trigger"`
	Prompt      string          `json:"prompt"`
	ToolName    string          `json:"tool_name"`
	ToolUseID   string          `json:"tool_use_id"`
	ToolInput   json.RawMessage `json:"tool_input"`
	Response    json.RawMessage `json:"tool_response"`
	StopActive  bool            `json:"stop_hook_active"`
	LastMessage string          `json:"last_assistant_message"`
}

var kinds = map[string]host.Kind{
	"SessionStart":      host.SessionStart,
	"SessionEnd":        host.SessionEnd,
	"UserPromptSubmit":  host.Prompt,
	"PreToolUse":        host.BeforeTool,
	"PostToolUse":       host.AfterTool,
	"PermissionRequest": host.Permission,
	"SubagentStart":     host.SubagentStart,
	"SubagentStop":      host.SubagentStop,
	"PreCompact":        host.BeforeCompact,
	"PostCompact":       host.AfterCompact,
	"Stop":              host.Stop,
}

var tools = map[string]host.Tool{
	"Bash": host.Shell("Bash"), "shell": host.Shell("Bash"), "local_shell": host.Shell("Bash"),
	"exec_command": host.Shell("Bash"), "write_stdin": host.Shell("Bash"),
	"apply_patch": host.Patch("apply_patch"), "Edit": host.Patch("apply_patch"), "Write": host.Patch("apply_patch"),
	"view_image": host.Reading("Read"), "read_file": host.Reading("Read"), "list_dir": host.Reading("Glob"),
	"grep_files": host.Reading("Grep"), "update_plan": host.Plain("TodoWrite"),
	"spawn_agent": host.Plain("Agent"), "Agent": host.Plain("Agent"), "web_search": host.Plain("WebSearch"),
}

// facts: a command is taken only together with a permission, which would end
// Codex's own questions.
var facts = host.Facts{TellsBeforeTools: true}

// Queues are the tools by which Codex CLI's agent starts turns with a text of its own.
var Queues = host.Queues{"Agent": {"message", "prompt", "task", "items"}, "send_input": {"message", "items"}, "followup_task": nil, "resume_agent": nil}

// Parse reads a payload of Codex CLI.
func Parse(event string, payload []byte) (host.Call, error) {
	var p hookPayload
	err := host.Lenient(payload, &p)
	p.Hook = host.EventOf(kinds, p.Hook, event)
	c := host.Call{
		Host: "codex", Facts: facts, Hook: p.Hook, Kind: kinds[p.Hook],
		Session: p.SessionID, Agent: p.AgentID, AgentType: p.AgentType,
		Dir: p.Dir, Transcript: p.Transcript, Model: p.Model, Permissions: p.Permissions,
		Reason: p.Reason, Tool: p.ToolName, ToolUseID: p.ToolUseID, Message: p.LastMessage,
	}
	if err := c.Readable(err); err != nil {
		return c, err
	}
	switch c.Kind {
	case host.SessionStart:
		c.Source = p.Source
	case host.Prompt:
		c.Prompt, c.PromptID, c.Origin = p.Prompt, p.Turn, host.OriginOf(p.Prompt)
	case host.BeforeCompact, host.AfterCompact:
		c.Reason = p.Trigger
	case host.Stop:
		c.Again = p.StopActive
	case host.BeforeTool, host.AfterTool, host.Permission:
		err := c.ReadTool(tools, p.ToolName, p.ToolInput, strings.HasPrefix(p.ToolName, "mcp__"))
		c.EndedWith(p.Response)
		return c, err
	default:
	}
	return c, nil
}

// output is what Codex reads from a hook. It fails a hook, and lets the
// call go on, for any key it does not know at that event: these are the keys
// it does know, and each event is given only its own.
type output struct {
	Decision      string          `json:"decision,omitempty"`
	Reason        string          `json:"reason,omitempty"`
	SystemMessage string          `json:"systemMessage,omitempty"`
	Specific      *specificOutput `json:"hookSpecificOutput,omitempty"`
}

type specificOutput struct {
	HookEventName            string           `json:"hookEventName"`
	PermissionDecision       string           `json:"permissionDecision,omitempty"`
	PermissionDecisionReason string           `json:"permissionDecisionReason,omitempty"`
	AdditionalContext        string           `json:"additionalContext,omitempty"`
	Decision                 *claude.Behavior `json:"decision,omitempty"`
}

// Render writes an answer for Codex CLI.
func Render(c host.Call, a host.Answer) schemas.HookReply {
	a = a.Unasked("Codex") // a question fails the hook there, and the call goes on
	out := output{SystemMessage: host.Clip(a.Notice)}
	specific := specificOutput{HookEventName: c.Hook}
	reason := cmp.Or(host.Clip(a.Reason), "Writ refused it.")
	switch c.Kind {
	case host.BeforeTool:
		if a.Verdict == host.Refuse {
			// With exit status 2 only standard error is read.
			specific.PermissionDecision, specific.PermissionDecisionReason = "deny", reason
			return host.Refused(output{Specific: &specific}, reason)
		}
		specific.AdditionalContext = host.Clip(a.Context)
	case host.Permission:
		if a.Verdict == host.Refuse {
			specific.Decision = &claude.Behavior{Behavior: "deny", Message: reason}
		} else if a.Vouched {
			specific.Decision = &claude.Behavior{Behavior: "allow"}
		}
	case host.SessionStart, host.Prompt, host.AfterTool, host.ToolFailed, host.SubagentStart:
		specific.AdditionalContext = host.Clip(a.Context)
		if a.Verdict == host.Refuse && (c.Kind == host.Prompt || c.Kind == host.AfterTool || c.Kind == host.ToolFailed) {
			out.Decision, out.Reason = "block", reason
		}
	case host.Stop, host.SubagentStop:
		if a.Verdict == host.Refuse {
			out.Decision, out.Reason = "block", host.Clip(host.Returned+a.Reason)
		}
		return schemas.HookReply{Stdout: host.Object(out)} // an object always, {} at least
	case host.SessionEnd:
		return schemas.HookReply{}
	default:
	}
	if specific != (specificOutput{HookEventName: c.Hook}) {
		out.Specific = &specific
	}
	if out == (output{}) {
		return schemas.HookReply{}
	}
	return schemas.HookReply{Stdout: host.Object(out)}
}
