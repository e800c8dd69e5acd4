package cursor

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/writbus/writ/enforcement/host"
	"github.com/writbus/writ/schemas"
)

// hookPayload holds the fields of Cursor's hook payloads that Writ reads.
type hookPayload struct {
	Conversation string          `json:"conversation_id"`
	SessionID    string          `json:"session_id"`
	Parent       string          `json:"parent_conversation_id"`
	Generation   string          `json:"generation_id"`
	Model        string          `json:"model"`
	Hook         string          `json:"hook_event_name"`
	Roots        []string        `json:"workspace_roots"`
	Dir          string          `json:"cwd"`
	Transcript   string          `json:"transcript_path"`
	Background   bool            `json:"is_background_agent"`
	ToolName     string          `json:"tool_name"`
	ToolInput    json.RawMessage `json:"tool_input"`
	ToolUseID    string          `json:"tool_use_id"`
	Command      *string         `json:"command"`
	Address      string          `json:"url"` // of an MCP server that no command starts
	FilePath     string          `json:"file_path"`
	Millis       float64         `json:"duration"`
	Error        string          `json:"error_message"`
	ToolOutput   json.RawMessage `json:"tool_output"`
	Prompt       string          `json:"prompt"`
	Subagent     string          `json:"subagent_id"`
	SubagentType string          `json:"subagent_type"`
	Summary      string          `json:"summary"`
	Task         string          `json:"task"`
	Reason       string          `json:"reason"`
	Trigger      string          `json:"trigger"`
	Loops        int             `json:"loop_count"`
}

// kinds knows Cursor's events, whose names begin with a small letter.
var kinds = map[string]host.Kind{
	"sessionStart":         host.SessionStart,
	"sessionEnd":           host.SessionEnd,
	"beforeSubmitPrompt":   host.Prompt,
	"userPromptSubmit":     host.Prompt, // as Claude Code's hook is known there
	"preToolUse":           host.BeforeTool,
	"beforeShellExecution": host.BeforeTool,
	"beforeMCPExecution":   host.BeforeTool,
	"beforeReadFile":       host.BeforeTool,
	"postToolUse":          host.AfterTool,
	"afterShellExecution":  host.AfterTool,
	"afterMCPExecution":    host.AfterTool,
	"postToolUseFailure":   host.ToolFailed,
	"subagentStart":        host.SubagentStart,
	"subagentStop":         host.SubagentStop,
	"preCompact":           host.BeforeCompact,
	"stop":                 host.Stop,
}

var tools = map[string]host.Tool{
	"Shell": host.Shell("Bash"), "Bash": host.Shell("Bash"), "PowerShell": host.Shell("PowerShell"),
	"Write": host.Writing("Write"), "Edit": host.Writing("Edit"), "MultiEdit": host.Writing("MultiEdit"),
	"Delete": host.Writing("Delete"), "NotebookEdit": host.Writing("NotebookEdit"),
	"Read": host.Reading("Read"), "Grep": host.Reading("Grep"), "Glob": host.Reading("Glob"),
	"Task": host.Plain("Task"), "TodoWrite": host.Plain("TodoWrite"),
	"WebFetch": host.Plain("WebFetch"), "WebSearch": host.Plain("WebSearch"),
}

// Queues are the tools by which Cursor's agent starts turns with a text of its own.
var Queues = host.Queues{"Task": {"prompt"}}

// Parse reads a payload of Cursor's. With imported it came through Claude
// Code's settings, which Cursor runs too.
func Parse(event string, payload []byte, imported bool) (host.Call, error) {
	var p hookPayload
	err := host.Lenient(payload, &p)
	p.Hook = host.EventOf(kinds, host.LowerFirst(p.Hook), host.LowerFirst(event))
	c := host.Call{
		Host: "cursor", Hook: p.Hook, Kind: kinds[p.Hook],
		Session: cmp.Or(p.Conversation, p.SessionID), Dir: p.Dir, Transcript: p.Transcript, Model: p.Model,
		Tool: p.ToolName, ToolUseID: p.ToolUseID, Error: p.Error, Millis: int64(p.Millis),
	}
	if err != nil {
		return c, fmt.Errorf("%w: %w", host.ErrPayload, err)
	}
	if c.Session == "" {
		return c, fmt.Errorf("%w: no conversation_id", host.ErrPayload)
	}
	if c.Dir == "" && len(p.Roots) > 0 {
		c.Dir = p.Roots[0]
	}
	switch c.Kind {
	case host.SessionStart:
		c.Source = "startup"
	case host.SessionEnd:
		c.Reason = p.Reason
	case host.Prompt:
		c.Prompt, c.PromptID, c.Origin = p.Prompt, p.Generation, host.OriginOf(p.Prompt)
		if p.Background {
			c.Origin = "background"
		}
	case host.SubagentStart, host.SubagentStop:
		c.Session, c.Agent, c.AgentType, c.Message = cmp.Or(p.Parent, c.Session), p.Subagent, p.SubagentType, p.Summary
		if p.Task != "" {
			c.Task = &host.Task{Type: p.SubagentType, Prompt: p.Task}
		}
	case host.BeforeCompact:
		c.Reason = p.Trigger
	case host.Stop:
		c.Again = p.Loops > 0
	case host.BeforeTool, host.AfterTool, host.ToolFailed:
		return c, readTool(&c, p, imported)
	default:
	}
	return c, nil
}

func readTool(c *host.Call, p hookPayload, imported bool) error {
	switch c.Hook {
	case "beforeShellExecution", "afterShellExecution":
		c.Tool, c.Shell = "Bash", p.Command
		c.Input, _ = json.Marshal(map[string]*string{"command": p.Command})
		if p.Command == nil {
			return fmt.Errorf("%w: %s without a command", host.ErrPayload, c.Hook)
		}
		return nil
	case "beforeMCPExecution", "afterMCPExecution":
		if c.Server = p.Address; p.Command != nil {
			c.Server = *p.Command
		}
		return c.ReadTool(nil, "MCP:"+strings.TrimPrefix(p.ToolName, "MCP:"), p.ToolInput, true)
	case "beforeReadFile":
		c.Tool, c.Reads = "Read", []string{p.FilePath}
		return nil
	}
	server := strings.HasPrefix(p.ToolName, "MCP:") || strings.HasPrefix(p.ToolName, "mcp__")
	shell := tools[p.ToolName].Kind == host.ShellTool
	if !imported && (server || shell) && c.Kind != host.ToolFailed {
		// Judged by the events of their own, which can ask the user.
		c.Kind = host.Other
		return nil
	}
	err := c.ReadTool(tools, p.ToolName, p.ToolInput, server)
	c.EndedWith(p.ToolOutput)
	return err
}

// output is what Cursor reads from a hook. A hook that blocks on failure
// needs an explicit permission: nothing at all counts as a failure.
type output struct {
	Continue   *bool  `json:"continue,omitempty"`
	Permission string `json:"permission,omitempty"`
	User       string `json:"user_message,omitempty"`
	Agent      string `json:"agent_message,omitempty"`
	Context    string `json:"additional_context,omitempty"`
	Followup   string `json:"followup_message,omitempty"`
}

// Render writes an answer for Cursor.
func Render(c host.Call, a host.Answer) schemas.HookReply {
	if c.Hook == "preToolUse" || c.Hook == "subagentStart" {
		a = a.Unasked("Cursor") // accepted there, but not enforced
	}
	yes, no := true, false
	reason := host.Clip(a.Reason)
	switch c.Hook {
	case "preToolUse", "beforeShellExecution", "beforeMCPExecution", "beforeReadFile", "subagentStart":
		out := output{Continue: &yes, Permission: "allow", User: host.Clip(a.Notice)}
		switch a.Verdict {
		case host.Refuse:
			out.Permission, out.User, out.Agent = "deny", reason, reason
			return host.Refused(out, a.Reason)
		case host.AskUser:
			out.Permission, out.User, out.Agent = "ask", reason, reason
		case host.Pass:
		}
		return schemas.HookReply{Stdout: host.Object(out)}
	case "beforeSubmitPrompt", "userPromptSubmit":
		out := output{Continue: &yes, User: host.Clip(a.Notice)}
		if a.Verdict == host.Refuse {
			out.Continue, out.User = &no, reason
		}
		return schemas.HookReply{Stdout: host.Object(out)}
	case "sessionStart":
		return schemas.HookReply{Stdout: host.Object(output{Context: host.Clip(a.Context)})}
	case "postToolUse":
		told := a.Context
		if a.Verdict == host.Refuse {
			told = host.Both(a.Reason, a.Context)
		}
		return schemas.HookReply{Stdout: host.Object(output{Context: host.Clip(told)})}
	case "stop", "subagentStop":
		out := output{}
		if a.Verdict == host.Refuse {
			out.Followup = host.Clip(host.Returned + a.Reason)
		}
		return schemas.HookReply{Stdout: host.Object(out)}
	case "preCompact":
		return schemas.HookReply{Stdout: host.Object(output{User: host.Clip(a.Notice)})}
	}
	return schemas.HookReply{Stdout: "{}\n"}
}
