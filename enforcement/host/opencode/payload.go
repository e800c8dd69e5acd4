package opencode

import (
	"cmp"
	"encoding/json"

	"github.com/writbus/writ/enforcement/host"
	"github.com/writbus/writ/schemas"
)

// hookPayload is what Writ's own plugin for OpenCode sends: the host calls
// functions, and the plugin turns each call into such an object.
type hookPayload struct {
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

var kinds = map[string]host.Kind{
	"session.created":     host.SessionStart,
	"session.deleted":     host.SessionEnd,
	"session.idle":        host.Stop,
	"session.compacting":  host.BeforeCompact,
	"session.compacted":   host.AfterCompact,
	"chat.message":        host.Prompt,
	"tool.execute.before": host.BeforeTool,
	"tool.execute.after":  host.AfterTool,
	"subagent.created":    host.SubagentStart,
	"subagent.idle":       host.SubagentStop,
}

var tools = map[string]host.Tool{
	"bash":  host.Shell("Bash"),
	"write": host.Writing("Write"), "edit": host.Writing("Edit"), "multiedit": host.Writing("MultiEdit"),
	"patch": host.Patch("apply_patch"), "apply_patch": host.Patch("apply_patch"),
	"read": host.Reading("Read"), "glob": host.Reading("Glob"), "list": host.Reading("Glob"), "grep": host.Reading("Grep"),
	"task": host.Plain("Task"), "todowrite": host.Plain("TodoWrite"), "todoread": host.Plain("TodoWrite"),
	"webfetch": host.Plain("WebFetch"), "websearch": host.Plain("WebSearch"), "skill": host.Plain("Skill"), "question": host.Plain("AskUserQuestion"),
	"codesearch": host.Plain("WebSearch"), "lsp": host.Plain("LSP"), "invalid": host.Plain("TodoWrite"), "plan_enter": host.Plain("EnterPlanMode"), "plan_exit": host.Plain("AskUserQuestion"),
}

var facts = host.Facts{TakesCommand: true, RulesSeeCommand: true, EndsTurns: true}

// Queues are the tools by which OpenCode's agent starts turns with a text of its own.
var Queues = host.Queues{"Task": {"prompt"}, "Skill": nil}

// Parse reads a payload of Writ's plugin for OpenCode.
func Parse(event string, payload []byte) (host.Call, error) {
	var p hookPayload
	err := host.Lenient(payload, &p)
	p.Hook = host.EventOf(kinds, p.Hook, event)
	c := host.Call{
		Host: "opencode", Facts: facts, Hook: p.Hook, Kind: kinds[p.Hook],
		Session: p.Session, Agent: p.Agent, AgentType: p.AgentType, Dir: p.Dir, Model: p.Model,
		Reason: p.Reason, Tool: p.ToolName, ToolUseID: p.ToolUseID,
	}
	if err := c.Readable(err); err != nil {
		return c, err
	}
	switch c.Kind {
	case host.SessionStart:
		c.Source = cmp.Or(p.Source, "startup")
	case host.Prompt:
		c.Prompt, c.PromptID, c.Origin = p.Prompt, p.PromptID, p.Source
		if c.Origin == "user" {
			// The plugin cannot know that, so nothing may claim it.
			c.Origin = ""
		}
		c.Origin = cmp.Or(c.Origin, host.OriginOf(p.Prompt))
	case host.BeforeTool, host.AfterTool:
		if c.Kind == host.AfterTool && p.ToolFailed != "" {
			c.Kind, c.Error = host.ToolFailed, p.ToolFailed
		}
		_, known := tools[p.ToolName]
		err := c.ReadTool(tools, p.ToolName, patch(p), !known)
		c.EndedWith(p.Result)
		return c, err
	default:
	}
	return c, nil
}

// patch gives a patch's text the name that the other hosts have for it.
func patch(p hookPayload) json.RawMessage {
	var in struct {
		Text *string `json:"patchText"`
	}
	if tools[p.ToolName].Kind != host.PatchTool || json.Unmarshal(p.ToolInput, &in) != nil || in.Text == nil {
		return p.ToolInput
	}
	raw, err := json.Marshal(map[string]string{"command": *in.Text})
	if err != nil {
		return p.ToolInput
	}
	return raw
}

// output is what the plugin reads: it throws the reason of a refusal.
type output struct {
	Verdict string `json:"verdict"` // pass, deny
	Reason  string `json:"reason,omitempty"`
	Context string `json:"context,omitempty"`
	Notice  string `json:"notice,omitempty"`
	Command string `json:"command,omitempty"` // runs instead of the one asked for
}

// Render writes an answer for Writ's plugin for OpenCode.
func Render(c host.Call, a host.Answer) schemas.HookReply {
	a = a.Unasked("OpenCode") // a permission that is set to allow asks nobody
	out := output{Verdict: "pass", Context: host.Clip(a.Context), Notice: host.Clip(a.Notice)}
	if a.Verdict != host.Refuse {
		if c.Kind == host.BeforeTool {
			out.Command = a.Command
		}
		return schemas.HookReply{Stdout: host.Object(out)}
	}
	out.Verdict, out.Reason = "deny", host.Clip(a.Reason)
	if c.Kind == host.BeforeTool {
		return host.Refused(out, a.Reason)
	}
	return schemas.HookReply{Stdout: host.Object(out)}
}
