package gemini

import (
	"cmp"
	"encoding/json"
	"regexp"
	"strings"
	"sync"

	"github.com/writbus/writ/enforcement/host"
	"github.com/writbus/writ/schemas"
)

// hookPayload holds the fields of Gemini CLI's hook payloads that Writ reads.
type hookPayload struct {
	SessionID  string          `json:"session_id"`
	Transcript string          `json:"transcript_path"`
	Dir        string          `json:"cwd"`
	Hook       string          `json:"hook_event_name"`
	Source     string          `json:"source"`
	Reason     string          `json:"reason"`
	Trigger    string          `json:"trigger"`
	Prompt     string          `json:"prompt"`
	Response   string          `json:"prompt_response"`
	StopActive bool            `json:"stop_hook_active"`
	ToolName   string          `json:"tool_name"`
	Original   string          `json:"original_request_name"`
	ToolInput  json.RawMessage `json:"tool_input"`
	MCP        *struct {
		Server string `json:"server_name"`
		Tool   string `json:"tool_name"`
	} `json:"mcp_context"`
	ToolResponse struct {
		Error json.RawMessage `json:"error"`
		Text  json.RawMessage `json:"llmContent"`
	} `json:"tool_response"`
}

var kinds = map[string]host.Kind{
	"SessionStart": host.SessionStart,
	"SessionEnd":   host.SessionEnd,
	"BeforeAgent":  host.Prompt,
	"AfterAgent":   host.Stop,
	"BeforeTool":   host.BeforeTool,
	"AfterTool":    host.AfterTool,
	"PreCompress":  host.BeforeCompact,
}

var tools = map[string]host.Tool{
	"run_shell_command": host.Shell("Bash"),
	"write_file":        host.Writing("Write"), "replace": host.Writing("Edit"),
	"read_file": host.Reading("Read"), "read_many_files": host.Reading("Read"), "glob": host.Reading("Glob"),
	"list_directory": host.Reading("Glob"), "grep_search": host.Reading("Grep"), "search_file_content": host.Reading("Grep"),
	"web_fetch": host.Plain("WebFetch"), "google_web_search": host.Plain("WebSearch"),
	"write_todos": host.Plain("TodoWrite"), "ask_user": host.Plain("AskUserQuestion"), "activate_skill": host.Plain("Skill"),
	"exit_plan_mode": host.Plain("exit_plan_mode"), // its file is one of the host's own plans
}

// memoryFile is the file that Gemini CLI's save_memory appends to.
const memoryFile = "~/.gemini/GEMINI.md"

// facts: the user's rules for commands are applied before the hooks.
var facts = host.Facts{TakesCommand: true, TellsBeforeTools: true, ForgetsHooks: true}

// Queues are the tools by which Gemini CLI's agent starts turns with a text of its own.
var Queues = host.Queues{"Skill": nil}

// Parse reads a payload of Gemini CLI.
func Parse(event string, payload []byte) (host.Call, error) {
	var p hookPayload
	err := host.Lenient(payload, &p)
	p.Hook = host.EventOf(kinds, p.Hook, event)
	c := host.Call{
		Host: "gemini", Facts: facts, Hook: p.Hook, Kind: kinds[p.Hook],
		Session: p.SessionID, Dir: p.Dir, Transcript: p.Transcript, Reason: p.Reason, Tool: p.ToolName,
	}
	if err := c.Readable(err); err != nil {
		return c, err
	}
	switch c.Kind {
	case host.SessionStart:
		c.Source = p.Source
	case host.Prompt:
		c.Prompt = typedText(p.Prompt)
		c.Origin = host.OriginOf(c.Prompt)
	case host.Stop:
		c.Again, c.Message = p.StopActive, p.Response
	case host.BeforeCompact:
		c.Reason = p.Trigger
		if c.Reason == "auto" {
			// Said before every request to the model, whether or not anything is
			// compacted.
			c.Kind = host.Other
		}
	case host.BeforeTool, host.AfterTool:
		return c, readTool(&c, p)
	default:
	}
	return c, nil
}

func readTool(c *host.Call, p hookPayload) error {
	if failed := string(p.ToolResponse.Error); c.Kind == host.AfterTool && failed != "" && failed != "null" {
		c.Kind, c.Error = host.ToolFailed, failed
	}
	name := p.ToolName
	if p.MCP != nil && p.MCP.Server != "" {
		name = "mcp__" + p.MCP.Server + "__" + cmp.Or(p.MCP.Tool, p.ToolName)
	}
	if name == "save_memory" {
		c.Input, c.Writes = p.ToolInput, []host.Write{{Path: memoryFile, Opaque: true}}
		return nil
	}
	err := c.ReadTool(tools, name, p.ToolInput, p.MCP != nil || strings.HasPrefix(name, "mcp_"))
	if c.Kind == host.AfterTool && c.Shell != nil {
		readEnd(c, p.ToolResponse.Text)
	}
	return err
}

// typedText is a prompt without what hooks had to say at the session's start,
// which the host puts in front of the first one. A closing mark within is
// escaped there.
func typedText(prompt string) string {
	const opening, closing = "<hook_context>", "</hook_context>"
	if rest, found := strings.CutPrefix(prompt, opening); found {
		if _, typed, found := strings.Cut(rest, closing); found {
			return strings.TrimLeft(typed, "\r\n")
		}
	}
	return prompt
}

// badLine are lines of a command's result that say it ended badly. A command
// that prints such a line itself counts as failed.
var badLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^(?:Exit Code: -?[1-9]\d*|Signal: \S+|Error: \S.*)$`)
})

// ranLine is the line that ends the result of a command that came to its end.
var ranLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^Process Group PGID: \d+$`)
})

// readEnd notes how a command ended. Its exit status is told only where
// it is not zero.
func readEnd(c *host.Call, result json.RawMessage) {
	var text string
	if json.Unmarshal(result, &text) != nil {
		return
	}
	switch bad := badLine().FindString(text); {
	case bad != "":
		c.Exited(1)
		c.Kind, c.Error = host.ToolFailed, text
	case ranLine().MatchString(text):
		c.Exited(0)
	}
}

// output is what Gemini CLI reads from a hook; its standard output may
// hold nothing but JSON.
type output struct {
	Decision      string          `json:"decision,omitempty"`
	Reason        string          `json:"reason,omitempty"`
	SystemMessage string          `json:"systemMessage,omitempty"`
	Specific      *specificOutput `json:"hookSpecificOutput,omitempty"`
}

type specificOutput struct {
	HookEventName     string `json:"hookEventName"`
	AdditionalContext string `json:"additionalContext,omitempty"`
	// ToolInput is merged into the tool's input.
	ToolInput *commandInput `json:"tool_input,omitempty"`
}

type commandInput struct {
	Command string `json:"command"`
}

// Render writes an answer for Gemini CLI.
func Render(c host.Call, a host.Answer) schemas.HookReply {
	a = a.Unasked("Gemini CLI")
	out := output{SystemMessage: host.Clip(a.Notice)}
	told := a.Context
	switch c.Kind {
	case host.BeforeTool:
		if a.Verdict == host.Refuse {
			// The object decides, whatever the exit status: with 2 this host shows a
			// hook that failed in place of the reason.
			out.Decision, out.Reason = "deny", host.Clip(a.Reason)
		}
	case host.Prompt:
		if a.Verdict == host.Refuse {
			out.Decision, out.Reason = "deny", host.Clip(a.Reason)
		}
	case host.Stop:
		if a.Verdict == host.Refuse {
			out.Decision, out.Reason = "deny", host.Clip(host.Returned+a.Reason)
		}
	case host.AfterTool, host.ToolFailed:
		// A refusal here would hide the tool's result from the model.
		if a.Verdict == host.Refuse {
			told = host.Both(a.Reason, a.Context)
		}
	default:
	}
	specific := specificOutput{HookEventName: c.Hook}
	if c.Kind != host.SessionEnd && c.Kind != host.BeforeCompact && c.Kind != host.Other {
		specific.AdditionalContext = host.Clip(told)
	}
	if a.Command != "" && c.Kind == host.BeforeTool {
		specific.ToolInput = &commandInput{a.Command}
	}
	if specific != (specificOutput{HookEventName: c.Hook}) {
		out.Specific = &specific
	}
	return schemas.HookReply{Stdout: host.Object(out)}
}
