package host

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/writbus/writ/schemas"
)

// codexPayload holds the fields of Codex CLI's hook payloads that Writ reads.
type codexPayload struct {
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

var codexKinds = map[string]Kind{
	"SessionStart":      SessionStart,
	"SessionEnd":        SessionEnd,
	"UserPromptSubmit":  Prompt,
	"PreToolUse":        BeforeTool,
	"PostToolUse":       AfterTool,
	"PermissionRequest": Permission,
	"SubagentStart":     SubagentStart,
	"SubagentStop":      SubagentStop,
	"PreCompact":        BeforeCompact,
	"PostCompact":       AfterCompact,
	"Stop":              Stop,
}

var codexTools = map[string]tool{
	"Bash": {"Bash", shellTool}, "shell": {"Bash", shellTool}, "local_shell": {"Bash", shellTool},
	"exec_command": {"Bash", shellTool}, "write_stdin": {"Bash", shellTool},
	"apply_patch": {"apply_patch", patchTool}, "Edit": {"apply_patch", patchTool}, "Write": {"apply_patch", patchTool},
	"view_image": {"Read", readingTool}, "read_file": {"Read", readingTool}, "list_dir": {"Glob", readingTool},
	"grep_files": {"Grep", readingTool}, "update_plan": {"TodoWrite", plainTool},
	"spawn_agent": {"Agent", plainTool}, "Agent": {"Agent", plainTool}, "web_search": {"WebSearch", plainTool},
}

func parseCodex(event string, payload []byte) (Call, error) {
	var p codexPayload
	err := lenient(payload, &p)
	if p.Hook == "" {
		p.Hook = event
	}
	c := Call{
		Host: "codex", Hook: p.Hook, Kind: codexKinds[p.Hook],
		Session: p.SessionID, Agent: p.AgentID, AgentType: p.AgentType,
		Dir: p.Dir, Transcript: p.Transcript, Model: p.Model, Permissions: p.Permissions,
		Reason: p.Reason, Tool: p.ToolName, ToolUseID: p.ToolUseID, Message: p.LastMessage,
	}
	if err != nil {
		return c, fmt.Errorf("%w: %w", ErrPayload, err)
	}
	if c.Session == "" {
		return c, fmt.Errorf("%w: no session_id", ErrPayload)
	}
	switch c.Kind {
	case SessionStart:
		c.Source = p.Source
	case Prompt:
		c.Prompt, c.PromptID, c.Origin = p.Prompt, p.Turn, originOf(p.Prompt)
	case BeforeCompact, AfterCompact:
		c.Reason = p.Trigger
	case Stop:
		c.Again = p.StopActive
	case BeforeTool, AfterTool, Permission:
		err := c.readTool(codexTools, p.ToolName, p.ToolInput, strings.HasPrefix(p.ToolName, "mcp__"))
		c.endedWith(p.Response)
		return c, err
	default:
	}
	return c, nil
}

// codexOutput is what Codex reads from a hook. It fails a hook, and lets the
// call go on, for any key it does not know at that event: these are the keys
// it does know, and each event is given only its own.
type codexOutput struct {
	Decision      string         `json:"decision,omitempty"`
	Reason        string         `json:"reason,omitempty"`
	SystemMessage string         `json:"systemMessage,omitempty"`
	Specific      *codexSpecific `json:"hookSpecificOutput,omitempty"`
}

type codexSpecific struct {
	HookEventName            string          `json:"hookEventName"`
	PermissionDecision       string          `json:"permissionDecision,omitempty"`
	PermissionDecisionReason string          `json:"permissionDecisionReason,omitempty"`
	AdditionalContext        string          `json:"additionalContext,omitempty"`
	Decision                 *claudeBehavior `json:"decision,omitempty"`
}

func renderCodex(c Call, a Answer) schemas.HookReply {
	a = a.unasked("Codex") // a question fails the hook there, and the call goes on
	out := codexOutput{SystemMessage: clip(a.Notice)}
	specific := codexSpecific{HookEventName: c.Hook}
	reason := first(clip(a.Reason), "Writ refused it.")
	switch c.Kind {
	case BeforeTool:
		if a.Verdict == Refuse {
			// With exit status 2 only standard error is read.
			specific.PermissionDecision, specific.PermissionDecisionReason = "deny", reason
			return refused(codexOutput{Specific: &specific}, reason)
		}
		specific.AdditionalContext = clip(a.Context)
	case Permission:
		if a.Verdict == Refuse {
			specific.Decision = &claudeBehavior{Behavior: "deny", Message: reason}
		}
	case SessionStart, Prompt, AfterTool, ToolFailed, SubagentStart:
		specific.AdditionalContext = clip(a.Context)
		if a.Verdict == Refuse && (c.Kind == Prompt || c.Kind == AfterTool || c.Kind == ToolFailed) {
			out.Decision, out.Reason = "block", reason
		}
	case Stop, SubagentStop:
		if a.Verdict == Refuse {
			out.Decision, out.Reason = "block", clip(returned+a.Reason)
		}
		return schemas.HookReply{Stdout: object(out)} // an object always, {} at least
	case SessionEnd:
		return schemas.HookReply{}
	default:
	}
	if specific != (codexSpecific{HookEventName: c.Hook}) {
		out.Specific = &specific
	}
	if out == (codexOutput{}) {
		return schemas.HookReply{}
	}
	return schemas.HookReply{Stdout: object(out)}
}
