package copilot

import (
	"cmp"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/writbus/writ/enforcement/host"
	"github.com/writbus/writ/enforcement/host/claude"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/excerpt"
)

// maxContext is the most bytes of context that Copilot takes from the
// hooks of an event together.
const maxContext = 10_000

// hookPayload holds the fields of Copilot's hook payloads that Writ reads.
// An event configured by its camelCase name has camelCase fields, one by its
// PascalCase name those of Claude Code.
type hookPayload struct {
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

// kinds knows the events by their camelCase names; the PascalCase ones
// differ in the first letter, or are Claude Code's.
var kinds = map[string]host.Kind{
	"sessionStart":        host.SessionStart,
	"sessionEnd":          host.SessionEnd,
	"userPromptSubmitted": host.Prompt,
	"userPromptSubmit":    host.Prompt,
	"preToolUse":          host.BeforeTool,
	"postToolUse":         host.AfterTool,
	"postToolUseFailure":  host.ToolFailed,
	"permissionRequest":   host.Permission,
	"subagentStart":       host.SubagentStart,
	"subagentStop":        host.SubagentStop,
	"preCompact":          host.BeforeCompact,
	"agentStop":           host.Stop,
	"stop":                host.Stop,
}

var tools = map[string]host.Tool{
	"bash": host.Shell("Bash"), "Bash": host.Shell("Bash"), "powershell": host.Shell("PowerShell"), "PowerShell": host.Shell("PowerShell"),
	"write_bash": host.Shell("Bash"), "write_powershell": host.Shell("PowerShell"), // into a command that runs
	"create": host.Writing("Write"), "Write": host.Writing("Write"),
	"edit": host.Writing("Edit"), "Edit": host.Writing("Edit"), "str_replace_editor": host.Writing("Edit"),
	"apply_patch": host.Patch("apply_patch"),
	"view":        host.Reading("Read"), "Read": host.Reading("Read"), "glob": host.Reading("Glob"), "Glob": host.Reading("Glob"),
	"grep": host.Reading("Grep"), "rg": host.Reading("Grep"), "Grep": host.Reading("Grep"),
	"task": host.Plain("Task"), "Agent": host.Plain("Agent"), "update_todo": host.Plain("TodoWrite"), "TodoWrite": host.Plain("TodoWrite"),
	"ask_user": host.Plain("AskUserQuestion"), "AskUserQuestion": host.Plain("AskUserQuestion"),
	"web_fetch": host.Plain("WebFetch"), "web_search": host.Plain("WebSearch"), "report_intent": host.Plain("TodoWrite"), "sql": host.Plain("sql"), // of the session's own lists
}

// Queues are the tools by which Copilot CLI's agent starts turns with a text of its own.
var Queues = host.Queues{"Task": {"prompt"}, "Agent": {"prompt"}, "write_agent": nil}

// Parse reads a payload of Copilot.
func Parse(event string, payload []byte) (host.Call, error) {
	var p hookPayload
	err := host.Lenient(payload, &p)
	if _, known := kinds[host.LowerFirst(p.Hook)]; !known && (p.Hook == "" || kinds[host.LowerFirst(event)] != host.Other) {
		p.Hook = event
	}
	c := host.Call{
		Host: "copilot", Facts: host.Facts{ForgetsHooks: true}, Hook: p.Hook, Kind: kinds[host.LowerFirst(p.Hook)],
		Session: cmp.Or(p.SessionID, p.SessionIDOther), Agent: cmp.Or(p.AgentID, p.AgentIDOther), AgentType: p.AgentName,
		Dir: p.Dir, Transcript: p.Transcript, Reason: cmp.Or(p.Reason, p.StopReason),
		Tool: cmp.Or(p.ToolName, p.ToolNameOther), ToolUseID: cmp.Or(p.CallID, p.CallIDOther),
	}
	if err := c.Readable(err); err != nil {
		return c, err
	}
	switch c.Kind {
	case host.SessionStart:
		c.Source = p.Source
	case host.Prompt:
		c.Prompt, c.Origin = p.Prompt, host.OriginOf(p.Prompt)
	case host.BeforeCompact:
		c.Reason = p.Trigger
	case host.SubagentStop:
		c.Message = p.Response
	case host.Stop:
		c.Again = p.StopActive
	case host.BeforeTool, host.AfterTool, host.ToolFailed, host.Permission:
		return c, readTool(&c, p)
	default:
	}
	return c, nil
}

func readTool(c *host.Call, p hookPayload) error {
	if c.Kind == host.ToolFailed {
		c.Error = strings.Trim(string(p.Error), `"`)
	}
	if c.Kind == host.AfterTool && (p.Result.Type == "failure" || p.Result.Type == "denied") {
		c.Kind, c.Error = host.ToolFailed, p.Result.Type
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
	if strings.HasPrefix(name, "write_") && tools[name].Kind == host.ShellTool {
		input = typed(input)
	}
	if tools[name].Kind == host.WritingTool && isPatch(input) {
		name = "apply_patch" // known as Edit to hooks with Claude Code's names
	}
	err := c.ReadTool(tools, name, input, strings.HasPrefix(name, "mcp__") || strings.Contains(name, "-")) // no tool of the host's own has a hyphen
	if c.Kind == host.AfterTool && c.Shell != nil {
		readEnd(c, p.Result.Text)
	}
	return err
}

// endLine is the last line of a command's result. The host calls a command
// that ran a success whatever its exit status, which stands only here.
var endLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`<shellId: \S+ completed with exit code (-?\d+)>\s*$`)
})

// readEnd notes how a command ended; one that runs on has no such line.
func readEnd(c *host.Call, text string) {
	found := endLine().FindStringSubmatch(text)
	if found == nil {
		return
	}
	status, err := strconv.Atoi(found[1])
	if err != nil {
		return
	}
	c.Exited(status)
	if status != 0 {
		c.Kind, c.Error = host.ToolFailed, text
	}
}

// typed gives what is typed into a command the name that the other hosts have for it.
func typed(input json.RawMessage) json.RawMessage {
	_, object, err := host.ReadInput(input)
	var in struct {
		Text *string `json:"input"`
	}
	if err != nil || json.Unmarshal(object, &in) != nil || in.Text == nil {
		return input
	}
	raw, err := json.Marshal(map[string]string{"command": *in.Text})
	if err != nil {
		return input
	}
	return raw
}

func viewsOnly(input json.RawMessage) bool {
	in, _, err := host.ReadInput(input)
	return err == nil && in.Command != nil && *in.Command == "view"
}

// isPatch says that an input has no path of its own but a patch's text.
func isPatch(input json.RawMessage) bool {
	in, _, err := host.ReadInput(input)
	if err != nil {
		var text string
		return json.Unmarshal(input, &text) == nil && strings.Contains(text, "*** Begin Patch")
	}
	return len(in.Paths) == 0 && in.Command != nil && strings.Contains(*in.Command, "*** Begin Patch")
}

// output is what Copilot reads from a hook: one JSON object.
type output struct {
	PermissionDecision       string                 `json:"permissionDecision,omitempty"`
	PermissionDecisionReason string                 `json:"permissionDecisionReason,omitempty"`
	Behavior                 string                 `json:"behavior,omitempty"`
	Message                  string                 `json:"message,omitempty"`
	Decision                 string                 `json:"decision,omitempty"`
	Reason                   string                 `json:"reason,omitempty"`
	AdditionalContext        string                 `json:"additionalContext,omitempty"`
	Specific                 *claude.SpecificOutput `json:"hookSpecificOutput,omitempty"`
}

// Render writes an answer for Copilot.
func Render(c host.Call, a host.Answer) schemas.HookReply {
	var out output
	told := a.Context
	switch c.Kind {
	case host.BeforeTool:
		if a.Verdict == host.Pass && !a.Vouched {
			break
		}
		out.PermissionDecision, out.PermissionDecisionReason = "deny", host.Clip(a.Reason)
		if a.Verdict == host.Pass {
			out.PermissionDecision, out.PermissionDecisionReason = "allow", "Writ asked for this."
		}
		if a.Verdict == host.AskUser {
			out.PermissionDecision = "ask"
		}
		if r, _ := utf8.DecodeRuneInString(c.Hook); unicode.IsUpper(r) {
			out.Specific = &claude.SpecificOutput{
				HookEventName:      c.Hook,
				PermissionDecision: out.PermissionDecision, PermissionDecisionReason: out.PermissionDecisionReason,
			}
		}
		if a.Verdict == host.Refuse {
			return host.Refused(out, a.Reason)
		}
	case host.Permission:
		if a.Verdict == host.Refuse {
			out.Behavior, out.Message = "deny", host.Clip(a.Reason)
		}
	case host.Stop, host.SubagentStop:
		if a.Verdict == host.Refuse {
			out.Decision, out.Reason = "block", host.Clip(host.Returned+a.Reason)
		}
	case host.AfterTool, host.SessionStart, host.SubagentStart:
		if a.Verdict == host.Refuse {
			told = host.Both(a.Reason, a.Context)
		}
		out.AdditionalContext = excerpt.BytesWith(told, maxContext, host.CutMark)
	case host.ToolFailed:
		// Here exit status 2 hands standard error to the model.
		if told = host.Both(a.Reason, a.Context); told != "" {
			return schemas.HookReply{Stderr: excerpt.BytesWith(told, maxContext, host.CutMark) + "\n", Exit: 2}
		}
	default:
	}
	return schemas.HookReply{Stdout: host.Object(out)}
}
