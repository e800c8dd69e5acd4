package host

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/writbus/writ/schemas"
)

// openCodePayload is what Writ's own plugin for OpenCode sends: the host calls
// functions, and the plugin turns each call into such an object.
type openCodePayload struct {
	Session    string          `json:"session_id"`
	Agent      string          `json:"agent_id"`
	AgentType  string          `json:"agent_type"`
	Dir        string          `json:"cwd"`
	Hook       string          `json:"hook_event_name"`
	Model      string          `json:"model"`
	Prompt     string          `json:"prompt"`
	PromptID   string          `json:"prompt_id"`
	Source     string          `json:"source"`
	Reason     string          `json:"reason"`
	ToolName   string          `json:"tool_name"`
	ToolUseID  string          `json:"tool_use_id"`
	ToolInput  json.RawMessage `json:"tool_input"`
	ToolFailed string          `json:"error"`
	Result     json.RawMessage `json:"tool_response"`
}

var openCodeKinds = map[string]Kind{
	"session.created":     SessionStart,
	"session.deleted":     SessionEnd,
	"session.idle":        Stop,
	"session.compacting":  BeforeCompact,
	"session.compacted":   AfterCompact,
	"chat.message":        Prompt,
	"tool.execute.before": BeforeTool,
	"tool.execute.after":  AfterTool,
	"subagent.created":    SubagentStart,
	"subagent.idle":       SubagentStop,
}

var openCodeTools = map[string]tool{
	"bash":  {"Bash", shellTool},
	"write": {"Write", writingTool}, "edit": {"Edit", writingTool}, "multiedit": {"MultiEdit", writingTool},
	"patch": {"apply_patch", patchTool}, "apply_patch": {"apply_patch", patchTool},
	"read": {"Read", readingTool}, "glob": {"Glob", readingTool}, "list": {"Glob", readingTool}, "grep": {"Grep", readingTool},
	"task": {"Task", plainTool}, "todowrite": {"TodoWrite", plainTool}, "todoread": {"TodoWrite", plainTool},
	"webfetch": {"WebFetch", plainTool}, "websearch": {"WebSearch", plainTool}, "skill": {"Skill", plainTool}, "question": {"AskUserQuestion", plainTool},
}

func parseOpenCode(event string, payload []byte) (Call, error) {
	var p openCodePayload
	err := lenient(payload, &p)
	if p.Hook == "" {
		p.Hook = event
	}
	c := Call{
		Host: "opencode", Hook: p.Hook, Kind: openCodeKinds[p.Hook],
		Session: p.Session, Agent: p.Agent, AgentType: p.AgentType, Dir: p.Dir, Model: p.Model,
		Reason: p.Reason, Tool: p.ToolName, ToolUseID: p.ToolUseID,
	}
	if err != nil {
		return c, fmt.Errorf("%w: %w", ErrPayload, err)
	}
	if c.Session == "" {
		return c, fmt.Errorf("%w: no session_id", ErrPayload)
	}
	switch c.Kind {
	case SessionStart:
		c.Source = first(p.Source, "startup")
	case Prompt:
		c.Prompt, c.PromptID, c.Origin = p.Prompt, p.PromptID, p.Source
		if c.Origin == "user" {
			// The plugin cannot know that, so nothing may claim it.
			c.Origin = ""
		}
		c.Origin = first(c.Origin, originOf(p.Prompt))
	case BeforeTool, AfterTool:
		if c.Kind == AfterTool && p.ToolFailed != "" {
			c.Kind, c.Error = ToolFailed, p.ToolFailed
		}
		err := c.readTool(openCodeTools, p.ToolName, openCodePatch(p), strings.HasPrefix(p.ToolName, "mcp_"))
		c.endedWith(p.Result)
		return c, err
	default:
	}
	return c, nil
}

// openCodePatch gives a patch's text the name that the other hosts have for it.
func openCodePatch(p openCodePayload) json.RawMessage {
	var in struct {
		Text *string `json:"patchText"`
	}
	if openCodeTools[p.ToolName].kind != patchTool || json.Unmarshal(p.ToolInput, &in) != nil || in.Text == nil {
		return p.ToolInput
	}
	raw, err := json.Marshal(map[string]string{"command": *in.Text})
	if err != nil {
		return p.ToolInput
	}
	return raw
}

// openCodeOutput is what the plugin reads: it throws the reason of a refusal.
type openCodeOutput struct {
	Verdict string `json:"verdict"` // pass, deny
	Reason  string `json:"reason,omitempty"`
	Context string `json:"context,omitempty"`
	Notice  string `json:"notice,omitempty"`
	Command string `json:"command,omitempty"` // runs instead of the one asked for
}

func renderOpenCode(c Call, a Answer) schemas.HookReply {
	a = a.unasked("OpenCode") // a permission that is set to allow asks nobody
	out := openCodeOutput{Verdict: "pass", Context: clip(a.Context), Notice: clip(a.Notice)}
	if a.Verdict != Refuse {
		if c.Kind == BeforeTool {
			out.Command = a.Command
		}
		return schemas.HookReply{Stdout: object(out)}
	}
	out.Verdict, out.Reason = "deny", clip(a.Reason)
	if c.Kind == BeforeTool {
		return refused(out, a.Reason)
	}
	return schemas.HookReply{Stdout: object(out)}
}
