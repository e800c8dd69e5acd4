package host

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/writbus/writ/schemas"
)

// geminiPayload holds the fields of Gemini CLI's hook payloads that Writ reads.
type geminiPayload struct {
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

var geminiKinds = map[string]Kind{
	"SessionStart": SessionStart,
	"SessionEnd":   SessionEnd,
	"BeforeAgent":  Prompt,
	"AfterAgent":   Stop,
	"BeforeTool":   BeforeTool,
	"AfterTool":    AfterTool,
	"PreCompress":  BeforeCompact,
}

var geminiTools = map[string]tool{
	"run_shell_command": {"Bash", shellTool},
	"write_file":        {"Write", writingTool}, "replace": {"Edit", writingTool},
	"read_file": {"Read", readingTool}, "read_many_files": {"Read", readingTool}, "glob": {"Glob", readingTool},
	"list_directory": {"Glob", readingTool}, "grep_search": {"Grep", readingTool}, "search_file_content": {"Grep", readingTool},
	"web_fetch": {"WebFetch", plainTool}, "google_web_search": {"WebSearch", plainTool},
	"write_todos": {"TodoWrite", plainTool}, "ask_user": {"AskUserQuestion", plainTool}, "activate_skill": {"Skill", plainTool},
}

// geminiMemory is the file that Gemini CLI's save_memory appends to.
const geminiMemory = "~/.gemini/GEMINI.md"

func parseGemini(event string, payload []byte) (Call, error) {
	var p geminiPayload
	err := lenient(payload, &p)
	if p.Hook == "" {
		p.Hook = event
	}
	c := Call{
		Host: "gemini", Hook: p.Hook, Kind: geminiKinds[p.Hook],
		Session: p.SessionID, Dir: p.Dir, Transcript: p.Transcript, Reason: p.Reason, Tool: p.ToolName,
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
		c.Prompt = typedText(p.Prompt)
		c.Origin = originOf(c.Prompt)
	case Stop:
		c.Again, c.Message = p.StopActive, p.Response
	case BeforeCompact:
		c.Reason = p.Trigger
		if c.Reason == "auto" {
			// Said before every request to the model, whether or not anything is
			// compacted.
			c.Kind = Other
		}
	case BeforeTool, AfterTool:
		return c, c.readGeminiTool(p)
	default:
	}
	return c, nil
}

func (c *Call) readGeminiTool(p geminiPayload) error {
	if failed := string(p.ToolResponse.Error); c.Kind == AfterTool && failed != "" && failed != "null" {
		c.Kind, c.Error = ToolFailed, failed
	}
	name := p.ToolName
	if p.MCP != nil && p.MCP.Server != "" {
		name = "mcp__" + p.MCP.Server + "__" + first(p.MCP.Tool, p.ToolName)
	}
	if name == "save_memory" {
		c.Input, c.Writes = p.ToolInput, []Write{{Path: geminiMemory, Opaque: true}}
		return nil
	}
	err := c.readTool(geminiTools, name, p.ToolInput, p.MCP != nil || strings.HasPrefix(name, "mcp_"))
	if c.Kind == AfterTool && c.Shell != nil {
		c.readGeminiEnd(p.ToolResponse.Text)
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

// geminiBad are lines of a command's result that say it ended badly. A command
// that prints such a line itself counts as failed.
var geminiBad = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^(?:Exit Code: -?[1-9]\d*|Signal: \S+|Error: \S.*)$`)
})

// geminiRan is the line that ends the result of a command that came to its end.
var geminiRan = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^Process Group PGID: \d+$`)
})

// readGeminiEnd notes how a command ended. Its exit status is told only where
// it is not zero.
func (c *Call) readGeminiEnd(result json.RawMessage) {
	var text string
	if json.Unmarshal(result, &text) != nil {
		return
	}
	switch bad := geminiBad().FindString(text); {
	case bad != "":
		c.exited(1)
		c.Kind, c.Error = ToolFailed, text
	case geminiRan().MatchString(text):
		c.exited(0)
	}
}

// geminiOutput is what Gemini CLI reads from a hook; its standard output may
// hold nothing but JSON.
type geminiOutput struct {
	Decision      string          `json:"decision,omitempty"`
	Reason        string          `json:"reason,omitempty"`
	SystemMessage string          `json:"systemMessage,omitempty"`
	Specific      *geminiSpecific `json:"hookSpecificOutput,omitempty"`
}

type geminiSpecific struct {
	HookEventName     string `json:"hookEventName"`
	AdditionalContext string `json:"additionalContext,omitempty"`
	// ToolInput is merged into the tool's input.
	ToolInput *geminiCommand `json:"tool_input,omitempty"`
}

type geminiCommand struct {
	Command string `json:"command"`
}

func renderGemini(c Call, a Answer) schemas.HookReply {
	a = a.unasked("Gemini CLI")
	out := geminiOutput{SystemMessage: clip(a.Notice)}
	told := a.Context
	switch c.Kind {
	case BeforeTool:
		if a.Verdict == Refuse {
			// The object decides, whatever the exit status: with 2 this host shows a
			// hook that failed in place of the reason.
			out.Decision, out.Reason = "deny", clip(a.Reason)
		}
	case Prompt:
		if a.Verdict == Refuse {
			out.Decision, out.Reason = "deny", clip(a.Reason)
		}
	case Stop:
		if a.Verdict == Refuse {
			out.Decision, out.Reason = "deny", clip(returned+a.Reason)
		}
	case AfterTool, ToolFailed:
		// A refusal here would hide the tool's result from the model.
		if a.Verdict == Refuse {
			told = both(a.Reason, a.Context)
		}
	default:
	}
	specific := geminiSpecific{HookEventName: c.Hook}
	if c.Kind != SessionEnd && c.Kind != BeforeCompact && c.Kind != Other {
		specific.AdditionalContext = clip(told)
	}
	if a.Command != "" && c.Kind == BeforeTool {
		specific.ToolInput = &geminiCommand{a.Command}
	}
	if specific != (geminiSpecific{HookEventName: c.Hook}) {
		out.Specific = &specific
	}
	return schemas.HookReply{Stdout: object(out)}
}
