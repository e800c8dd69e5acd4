package host

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/writbus/writ/schemas"
)

// maxCopilotText is the most bytes of context that Copilot takes from the
// hooks of an event together.
const maxCopilotText = 10_000

// copilotPayload holds the fields of Copilot's hook payloads that Writ reads.
// An event configured by its camelCase name has camelCase fields, one by its
// PascalCase name those of Claude Code.
type copilotPayload struct {
	SessionID      string          `json:"sessionId"`
	SessionIDOther string          `json:"session_id"`
	Dir            string          `json:"cwd"`
	Hook           string          `json:"hook_event_name"`
	ToolName       string          `json:"toolName"`
	ToolNameOther  string          `json:"tool_name"`
	ToolArgs       json.RawMessage `json:"toolArgs"`
	ToolInput      json.RawMessage `json:"tool_input"`
	ToolAsked      json.RawMessage `json:"toolInput"` // permissionRequest's
	CallID         string          `json:"toolCallId"`
	CallIDOther    string          `json:"tool_use_id"`
	Source         string          `json:"source"`
	Reason         string          `json:"reason"`
	StopReason     string          `json:"stopReason"`
	Trigger        string          `json:"trigger"`
	Prompt         string          `json:"prompt"`
	Error          json.RawMessage `json:"error"`
	Transcript     string          `json:"transcriptPath"`
	AgentID        string          `json:"agentId"`
	AgentIDOther   string          `json:"agent_id"`
	AgentName      string          `json:"agentName"`
	Response       string          `json:"response"`
	StopActive     bool            `json:"stop_hook_active"`
	Result         struct {
		Type string `json:"resultType"`
		Text string `json:"textResultForLlm"`
	} `json:"toolResult"`
}

// copilotKinds knows the events by their camelCase names; the PascalCase ones
// differ in the first letter, or are Claude Code's.
var copilotKinds = map[string]Kind{
	"sessionStart":        SessionStart,
	"sessionEnd":          SessionEnd,
	"userPromptSubmitted": Prompt,
	"userPromptSubmit":    Prompt,
	"preToolUse":          BeforeTool,
	"postToolUse":         AfterTool,
	"postToolUseFailure":  ToolFailed,
	"permissionRequest":   Permission,
	"subagentStart":       SubagentStart,
	"subagentStop":        SubagentStop,
	"preCompact":          BeforeCompact,
	"agentStop":           Stop,
	"stop":                Stop,
}

var copilotTools = map[string]tool{
	"bash": {"Bash", shellTool}, "Bash": {"Bash", shellTool}, "powershell": {"PowerShell", shellTool}, "PowerShell": {"PowerShell", shellTool},
	"create": {"Write", writingTool}, "Write": {"Write", writingTool},
	"edit": {"Edit", writingTool}, "Edit": {"Edit", writingTool}, "str_replace_editor": {"Edit", writingTool},
	"apply_patch": {"apply_patch", patchTool},
	"view":        {"Read", readingTool}, "Read": {"Read", readingTool}, "glob": {"Glob", readingTool}, "Glob": {"Glob", readingTool},
	"grep": {"Grep", readingTool}, "rg": {"Grep", readingTool}, "Grep": {"Grep", readingTool},
	"task": {"Task", plainTool}, "Agent": {"Agent", plainTool}, "update_todo": {"TodoWrite", plainTool}, "TodoWrite": {"TodoWrite", plainTool},
	"ask_user": {"AskUserQuestion", plainTool}, "AskUserQuestion": {"AskUserQuestion", plainTool},
	"web_fetch": {"WebFetch", plainTool}, "web_search": {"WebSearch", plainTool}, "report_intent": {"TodoWrite", plainTool},
}

func parseCopilot(event string, payload []byte) (Call, error) {
	var p copilotPayload
	err := lenient(payload, &p)
	if p.Hook == "" {
		p.Hook = event
	}
	c := Call{
		Host: "copilot", Hook: p.Hook, Kind: copilotKinds[lowerFirst(p.Hook)],
		Session: first(p.SessionID, p.SessionIDOther), Agent: first(p.AgentID, p.AgentIDOther), AgentType: p.AgentName,
		Dir: p.Dir, Transcript: p.Transcript, Reason: first(p.Reason, p.StopReason),
		Tool: first(p.ToolName, p.ToolNameOther), ToolUseID: first(p.CallID, p.CallIDOther),
	}
	if err != nil {
		return c, fmt.Errorf("%w: %w", ErrPayload, err)
	}
	if c.Session == "" {
		return c, fmt.Errorf("%w: no session id", ErrPayload)
	}
	switch c.Kind {
	case SessionStart:
		c.Source = p.Source
	case Prompt:
		c.Prompt, c.Origin = p.Prompt, originOf(p.Prompt)
	case BeforeCompact:
		c.Reason = p.Trigger
	case SubagentStop:
		c.Message = p.Response
	case Stop:
		c.Again = p.StopActive
	case BeforeTool, AfterTool, ToolFailed, Permission:
		return c, c.readCopilotTool(p)
	default:
	}
	return c, nil
}

func lowerFirst(name string) string {
	if name == "" {
		return ""
	}
	return strings.ToLower(name[:1]) + name[1:]
}

func (c *Call) readCopilotTool(p copilotPayload) error {
	if c.Kind == ToolFailed {
		c.Error = strings.Trim(string(p.Error), `"`)
	}
	if c.Kind == AfterTool && (p.Result.Type == "failure" || p.Result.Type == "denied") {
		c.Kind, c.Error = ToolFailed, p.Result.Type
	}
	input := p.ToolArgs
	for _, other := range []json.RawMessage{p.ToolInput, p.ToolAsked} {
		if len(input) == 0 {
			input = other
		}
	}
	name := c.Tool
	if name == "str_replace_editor" && viewsOnly(input) {
		name = "view"
	}
	if copilotTools[name].kind == writingTool && isPatch(input) {
		name = "apply_patch" // known as Edit to hooks with Claude Code's names
	}
	err := c.readTool(copilotTools, name, input, strings.HasPrefix(name, "mcp__"))
	if c.Kind == AfterTool && c.Shell != nil {
		c.readCopilotEnd(p.Result.Text)
	}
	return err
}

// copilotEnd is the last line of a command's result. The host calls a command
// that ran a success whatever its exit status, which stands only here.
var copilotEnd = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`<shellId: \S+ completed with exit code (-?\d+)>\s*$`)
})

// readCopilotEnd notes how a command ended; one that runs on has no such line.
func (c *Call) readCopilotEnd(text string) {
	found := copilotEnd().FindStringSubmatch(text)
	if found == nil {
		return
	}
	status, err := strconv.Atoi(found[1])
	if err != nil {
		return
	}
	c.exited(status)
	if status != 0 {
		c.Kind, c.Error = ToolFailed, text
	}
}

func viewsOnly(input json.RawMessage) bool {
	in, _, err := readInput(input)
	return err == nil && in.command != nil && *in.command == "view"
}

// isPatch says that an input has no path of its own but a patch's text.
func isPatch(input json.RawMessage) bool {
	in, _, err := readInput(input)
	if err != nil {
		var text string
		return json.Unmarshal(input, &text) == nil && strings.Contains(text, "*** Begin Patch")
	}
	return len(in.paths) == 0 && in.command != nil && strings.Contains(*in.command, "*** Begin Patch")
}

// copilotOutput is what Copilot reads from a hook: one JSON object.
type copilotOutput struct {
	PermissionDecision       string                `json:"permissionDecision,omitempty"`
	PermissionDecisionReason string                `json:"permissionDecisionReason,omitempty"`
	Behavior                 string                `json:"behavior,omitempty"`
	Message                  string                `json:"message,omitempty"`
	Decision                 string                `json:"decision,omitempty"`
	Reason                   string                `json:"reason,omitempty"`
	AdditionalContext        string                `json:"additionalContext,omitempty"`
	Specific                 *claudeSpecificOutput `json:"hookSpecificOutput,omitempty"`
}

func renderCopilot(c Call, a Answer) schemas.HookReply {
	var out copilotOutput
	told := a.Context
	switch c.Kind {
	case BeforeTool:
		if a.Verdict == Pass {
			break
		}
		out.PermissionDecision, out.PermissionDecisionReason = "deny", clip(a.Reason)
		if a.Verdict == AskUser {
			out.PermissionDecision = "ask"
		}
		if r, _ := utf8.DecodeRuneInString(c.Hook); unicode.IsUpper(r) {
			out.Specific = &claudeSpecificOutput{
				HookEventName:      c.Hook,
				PermissionDecision: out.PermissionDecision, PermissionDecisionReason: out.PermissionDecisionReason,
			}
		}
		if a.Verdict == Refuse {
			return refused(out, a.Reason)
		}
	case Permission:
		if a.Verdict == Refuse {
			out.Behavior, out.Message = "deny", clip(a.Reason)
		}
	case Stop, SubagentStop:
		if a.Verdict == Refuse {
			out.Decision, out.Reason = "block", clip(returned+a.Reason)
		}
	case AfterTool, SessionStart, SubagentStart:
		if a.Verdict == Refuse {
			told = both(a.Reason, a.Context)
		}
		out.AdditionalContext = clipBytes(told, maxCopilotText)
	case ToolFailed:
		// Here exit status 2 hands standard error to the model.
		if told = both(a.Reason, a.Context); told != "" {
			return schemas.HookReply{Stderr: clipBytes(told, maxCopilotText) + "\n", Exit: 2}
		}
	default:
	}
	return schemas.HookReply{Stdout: object(out)}
}

// clipBytes bounds a text in bytes, on a rune boundary.
func clipBytes(s string, most int) string {
	if len(s) <= most {
		return s
	}
	const mark = "\n[cut]"
	cut := most - len(mark)
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + mark
}
