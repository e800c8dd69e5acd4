package host

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/writbus/writ/schemas"
)

// cursorPayload holds the fields of Cursor's hook payloads that Writ reads.
type cursorPayload struct {
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

// cursorKinds knows Cursor's events, whose names begin with a small letter.
var cursorKinds = map[string]Kind{
	"sessionStart":         SessionStart,
	"sessionEnd":           SessionEnd,
	"beforeSubmitPrompt":   Prompt,
	"userPromptSubmit":     Prompt, // as Claude Code's hook is known there
	"preToolUse":           BeforeTool,
	"beforeShellExecution": BeforeTool,
	"beforeMCPExecution":   BeforeTool,
	"beforeReadFile":       BeforeTool,
	"postToolUse":          AfterTool,
	"afterShellExecution":  AfterTool,
	"afterMCPExecution":    AfterTool,
	"postToolUseFailure":   ToolFailed,
	"subagentStart":        SubagentStart,
	"subagentStop":         SubagentStop,
	"preCompact":           BeforeCompact,
	"stop":                 Stop,
}

var cursorTools = map[string]tool{
	"Shell": {"Bash", shellTool}, "Bash": {"Bash", shellTool}, "PowerShell": {"PowerShell", shellTool},
	"Write": {"Write", writingTool}, "Edit": {"Edit", writingTool}, "MultiEdit": {"MultiEdit", writingTool},
	"Delete": {"Delete", writingTool}, "NotebookEdit": {"NotebookEdit", writingTool},
	"Read": {"Read", readingTool}, "Grep": {"Grep", readingTool}, "Glob": {"Glob", readingTool},
	"Task": {"Task", plainTool}, "TodoWrite": {"TodoWrite", plainTool},
	"WebFetch": {"WebFetch", plainTool}, "WebSearch": {"WebSearch", plainTool},
}

// parseCursor reads a payload of Cursor's. With imported it came through Claude
// Code's settings, which Cursor runs too.
func parseCursor(event string, payload []byte, imported bool) (Call, error) {
	var p cursorPayload
	err := lenient(payload, &p)
	if p.Hook == "" {
		p.Hook = event
	}
	p.Hook = lowerFirst(p.Hook)
	c := Call{
		Host: "cursor", Hook: p.Hook, Kind: cursorKinds[p.Hook],
		Session: first(p.Conversation, p.SessionID), Dir: p.Dir, Transcript: p.Transcript, Model: p.Model,
		Tool: p.ToolName, ToolUseID: p.ToolUseID, Error: p.Error, Millis: int64(p.Millis),
	}
	if err != nil {
		return c, fmt.Errorf("%w: %w", ErrPayload, err)
	}
	if c.Session == "" {
		return c, fmt.Errorf("%w: no conversation_id", ErrPayload)
	}
	if c.Dir == "" && len(p.Roots) > 0 {
		c.Dir = p.Roots[0]
	}
	switch c.Kind {
	case SessionStart:
		c.Source = "startup"
	case SessionEnd:
		c.Reason = p.Reason
	case Prompt:
		c.Prompt, c.PromptID, c.Origin = p.Prompt, p.Generation, originOf(p.Prompt)
		if p.Background {
			c.Origin = "background"
		}
	case SubagentStart, SubagentStop:
		c.Session, c.Agent, c.AgentType, c.Message = first(p.Parent, c.Session), p.Subagent, p.SubagentType, p.Summary
		if p.Task != "" {
			c.Task = &Task{Type: p.SubagentType, Prompt: p.Task}
		}
	case BeforeCompact:
		c.Reason = p.Trigger
	case Stop:
		c.Again = p.Loops > 0
	case BeforeTool, AfterTool, ToolFailed:
		return c, c.readCursorTool(p, imported)
	default:
	}
	return c, nil
}

func (c *Call) readCursorTool(p cursorPayload, imported bool) error {
	switch c.Hook {
	case "beforeShellExecution", "afterShellExecution":
		c.Tool, c.Shell = "Bash", p.Command
		c.Input, _ = json.Marshal(map[string]*string{"command": p.Command})
		if p.Command == nil {
			return fmt.Errorf("%w: %s without a command", ErrPayload, c.Hook)
		}
		return nil
	case "beforeMCPExecution", "afterMCPExecution":
		return c.readTool(nil, "MCP:"+strings.TrimPrefix(p.ToolName, "MCP:"), p.ToolInput, true)
	case "beforeReadFile":
		c.Tool, c.Reads = "Read", []string{p.FilePath}
		return nil
	}
	server := strings.HasPrefix(p.ToolName, "MCP:") || strings.HasPrefix(p.ToolName, "mcp__")
	shell := cursorTools[p.ToolName].kind == shellTool
	if !imported && (server || shell) && c.Kind != ToolFailed {
		// Judged by the events of their own, which can ask the user.
		c.Kind = Other
		return nil
	}
	err := c.readTool(cursorTools, p.ToolName, p.ToolInput, server)
	c.endedWith(p.ToolOutput)
	return err
}

func first(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

// cursorOutput is what Cursor reads from a hook. A hook that blocks on failure
// needs an explicit permission: nothing at all counts as a failure.
type cursorOutput struct {
	Continue   *bool  `json:"continue,omitempty"`
	Permission string `json:"permission,omitempty"`
	User       string `json:"user_message,omitempty"`
	Agent      string `json:"agent_message,omitempty"`
	Context    string `json:"additional_context,omitempty"`
	Followup   string `json:"followup_message,omitempty"`
}

func renderCursor(c Call, a Answer) schemas.HookReply {
	if c.Hook == "preToolUse" || c.Hook == "subagentStart" {
		a = a.unasked("Cursor") // accepted there, but not enforced
	}
	yes, no := true, false
	reason := clip(a.Reason)
	switch c.Hook {
	case "preToolUse", "beforeShellExecution", "beforeMCPExecution", "beforeReadFile", "subagentStart":
		out := cursorOutput{Continue: &yes, Permission: "allow", User: clip(a.Notice)}
		switch a.Verdict {
		case Refuse:
			out.Permission, out.User, out.Agent = "deny", reason, reason
			return refused(out, a.Reason)
		case AskUser:
			out.Permission, out.User, out.Agent = "ask", reason, reason
		case Pass:
		}
		return schemas.HookReply{Stdout: object(out)}
	case "beforeSubmitPrompt", "userPromptSubmit":
		out := cursorOutput{Continue: &yes, User: clip(a.Notice)}
		if a.Verdict == Refuse {
			out.Continue, out.User = &no, reason
		}
		return schemas.HookReply{Stdout: object(out)}
	case "sessionStart":
		return schemas.HookReply{Stdout: object(cursorOutput{Context: clip(a.Context)})}
	case "postToolUse":
		told := a.Context
		if a.Verdict == Refuse {
			told = both(a.Reason, a.Context)
		}
		return schemas.HookReply{Stdout: object(cursorOutput{Context: clip(told)})}
	case "stop", "subagentStop":
		out := cursorOutput{}
		if a.Verdict == Refuse {
			out.Followup = clip(returned + a.Reason)
		}
		return schemas.HookReply{Stdout: object(out)}
	case "preCompact":
		return schemas.HookReply{Stdout: object(cursorOutput{User: clip(a.Notice)})}
	}
	return schemas.HookReply{Stdout: "{}\n"}
}
