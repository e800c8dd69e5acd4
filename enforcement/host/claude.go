package host

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/writbus/writ/schemas"
)

// maxClaudeText is the most characters of one hook output string that reach
// Claude Code's model whole; more is moved to a file.
const maxClaudeText = 10_000

// claudePayload holds the fields of Claude Code's hook payloads that Writ
// reads. Every field is optional: documents and versions differ. Pointers are of
// those whose presence tells who sent the payload.
type claudePayload struct {
	SessionID     string          `json:"session_id"`
	PromptID      string          `json:"prompt_id"`
	Transcript    *string         `json:"transcript_path"`
	Dir           string          `json:"cwd"`
	Hook          string          `json:"hook_event_name"`
	AgentID       string          `json:"agent_id"`
	AgentType     string          `json:"agent_type"`
	Model         string          `json:"model"`
	Permissions   *string         `json:"permission_mode"`
	Source        string          `json:"source"`
	Reason        string          `json:"reason"`
	Trigger       string          `json:"trigger"`
	Prompt        string          `json:"prompt"`
	CommandName   string          `json:"command_name"`
	CommandArgs   string          `json:"command_args"`
	CommandSource string          `json:"command_source"`
	ToolName      string          `json:"tool_name"`
	ToolUseID     string          `json:"tool_use_id"`
	ToolInput     json.RawMessage `json:"tool_input"`
	ToolResponse  json.RawMessage `json:"tool_response"`
	Error         string          `json:"error"`
	Millis        float64         `json:"duration_ms"`
	LastMessage   string          `json:"last_assistant_message"`
	StopActive    bool            `json:"stop_hook_active"`
	FilePath      string          `json:"file_path"`

	// Never Claude Code's own.
	Cursor *string `json:"cursor_version"`
	Time   *string `json:"timestamp"`
	Camel  *string `json:"sessionId"`
}

// sender tells which host ran a hook of Claude Code's.
func (p *claudePayload) sender() string {
	switch {
	case p.Cursor != nil:
		return "cursor"
	case p.Camel != nil, p.Time != nil && p.Transcript == nil && p.Permissions == nil:
		return "copilot"
	}
	return "claude"
}

// claudeInput is the union of the tool inputs that Writ reads.
type claudeInput struct {
	FilePath     string
	NotebookPath string
	Path         string
	Content      *string
	OldString    string
	NewString    string
	ReplaceAll   bool
	Edits        []struct {
		OldString  string `json:"old_string"`
		NewString  string `json:"new_string"`
		ReplaceAll bool   `json:"replace_all"`
	}
	Command *string
	Plan    string
}

var claudeKinds = map[string]Kind{
	"SessionStart":        SessionStart,
	"SessionEnd":          SessionEnd,
	"UserPromptSubmit":    Prompt,
	"UserPromptExpansion": Command,
	"PreToolUse":          BeforeTool,
	"PostToolUse":         AfterTool,
	"PostToolUseFailure":  ToolFailed,
	"PermissionRequest":   Permission,
	"SubagentStart":       SubagentStart,
	"SubagentStop":        SubagentStop,
	"PreCompact":          BeforeCompact,
	"PostCompact":         AfterCompact,
	"Stop":                Stop,
	"InstructionsLoaded":  Instructions,
}

// parseClaude reads a payload of a hook of Claude Code's, which other hosts run,
// too.
func parseClaude(event string, payload []byte) (Call, error) {
	var p claudePayload
	payload = bytes.TrimPrefix(payload, []byte("\xef\xbb\xbf"))
	if err := lenient(payload, &p); err != nil {
		return Call{Host: "claude", Hook: event, Kind: claudeKinds[event]}, fmt.Errorf("%w: %w", ErrPayload, err)
	}
	switch p.sender() {
	case "cursor":
		return parseCursor(event, payload, true)
	case "copilot":
		return parseCopilot(event, payload)
	}
	if p.Hook == "" {
		p.Hook = event
	}
	c := Call{
		Host: "claude", Hook: p.Hook, Kind: claudeKinds[p.Hook],
		Session: p.SessionID, Agent: p.AgentID, AgentType: p.AgentType,
		Dir: p.Dir, Transcript: orEmpty(p.Transcript), Model: p.Model, Permissions: orEmpty(p.Permissions),
		Reason: p.Reason, Prompt: p.Prompt, PromptID: p.PromptID,
		Tool: p.ToolName, ToolUseID: p.ToolUseID, Error: p.Error, Millis: int64(p.Millis),
		Message: p.LastMessage, Input: p.ToolInput,
	}
	if c.Session == "" {
		return c, fmt.Errorf("%w: no session_id", ErrPayload)
	}
	switch c.Kind {
	case SessionStart:
		c.Source = p.Source
	case Prompt:
		c.Origin = p.Source
		var said struct {
			Source json.RawMessage `json:"source"`
		}
		if _ = json.Unmarshal(payload, &said); c.Origin == "" && len(said.Source) > 0 && string(said.Source) != "null" {
			c.Origin = unreadableSource
		}
	case Command:
		c.Origin, c.Command, c.Args = "user", strings.TrimPrefix(p.CommandName, "/"), p.CommandArgs
	case Stop:
		c.Again = p.StopActive
	case Instructions:
		c.File = p.FilePath
	case BeforeCompact, AfterCompact:
		c.Reason = p.Trigger
	case BeforeTool, AfterTool, ToolFailed, Permission:
		if err := c.readClaudeTool(p.ToolResponse); err != nil {
			return c, err
		}
		c.readClaudeEnd(p.ToolResponse)
	default:
	}
	return c, nil
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// unreadableSource is the origin of a prompt whose host says where it comes from
// in a way that Writ does not know: not the user's.
const unreadableSource = "unreadable"

// lenient decodes JSON whose fields may have other types than documented: a
// field that does not fit stays empty, the rest is read.
func lenient(raw []byte, into any) error {
	err := json.Unmarshal(raw, into)
	var wrongType *json.UnmarshalTypeError
	if errors.As(err, &wrongType) && wrongType.Field != "" {
		return nil
	}
	return err
}

func (c *Call) readClaudeTool(response json.RawMessage) error {
	var in claudeInput
	if len(c.Input) == 0 {
		c.Input = json.RawMessage("{}")
	}
	if err := in.read(c.Input); err != nil {
		if claudeWrites(c.Tool) || claudeShell(c.Tool) {
			return fmt.Errorf("%w: input of %s: %w", ErrPayload, c.Tool, err)
		}
		return nil
	}
	switch c.Tool {
	case "Write":
		c.Writes = []Write{{Path: in.FilePath, Content: in.Content, Opaque: in.Content == nil}}
	case "Edit":
		c.Writes = []Write{{Path: in.FilePath, Edits: []Edit{{in.OldString, in.NewString, in.ReplaceAll}}}}
	case "MultiEdit":
		w := Write{Path: in.FilePath}
		for _, e := range in.Edits {
			w.Edits = append(w.Edits, Edit{e.OldString, e.NewString, e.ReplaceAll})
		}
		c.Writes = []Write{w}
	case "NotebookEdit":
		path := in.NotebookPath
		if path == "" {
			path = in.FilePath
		}
		c.Writes = []Write{{Path: path, Opaque: true}}
	case "Read", "Glob", "Grep":
		for _, path := range []string{in.FilePath, in.Path} {
			if path != "" {
				c.Reads = append(c.Reads, path)
			}
		}
	case "Bash", "PowerShell", "Monitor":
		c.Shell = in.Command
	case "ExitPlanMode":
		c.Plan = in.Plan
		var accepted struct {
			Plan string `json:"plan"`
		}
		if len(response) > 0 && json.Unmarshal(response, &accepted) == nil && accepted.Plan != "" {
			c.Plan = accepted.Plan
		}
	default:
		if !claudeOwn[c.Tool] {
			c.readServer(c.Tool, c.Input)
		}
	}
	if claudeWrites(c.Tool) && (len(c.Writes) == 0 || c.Writes[0].Path == "") {
		return fmt.Errorf("%w: %s without a path", ErrPayload, c.Tool)
	}
	if claudeShell(c.Tool) && c.Tool != "Monitor" && c.Shell == nil {
		return fmt.Errorf("%w: %s without a command", ErrPayload, c.Tool)
	}
	return nil
}

// readClaudeEnd notes how a command ended: this host tells a bad end by an event
// of its own. What runs in the background has not ended.
func (c *Call) readClaudeEnd(response json.RawMessage) {
	if c.Shell == nil || c.Kind != AfterTool {
		return
	}
	var in struct {
		Background bool `json:"run_in_background"`
	}
	var out struct {
		Interrupted bool   `json:"interrupted"`
		Task        string `json:"backgroundTaskId"`
	}
	_ = json.Unmarshal(c.Input, &in)
	_ = json.Unmarshal(response, &out)
	if !in.Background && !out.Interrupted && out.Task == "" {
		c.exited(0)
	}
}

// read takes the keys that are spelled as the host reads them: a decoder that
// takes FILE_PATH for file_path would judge another file than is written.
func (in *claudeInput) read(input json.RawMessage) error {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(input, &all); err != nil {
		return err
	}
	for _, field := range []struct {
		key  string
		into any
	}{
		{"command", &in.Command},
		{"content", &in.Content},
		{"edits", &in.Edits},
		{"file_path", &in.FilePath},
		{"new_string", &in.NewString},
		{"notebook_path", &in.NotebookPath},
		{"old_string", &in.OldString},
		{"path", &in.Path},
		{"plan", &in.Plan},
		{"replace_all", &in.ReplaceAll},
	} {
		value, given := all[field.key]
		if !given {
			continue
		}
		if err := json.Unmarshal(value, field.into); err != nil {
			return fmt.Errorf("%s: %w", field.key, err)
		}
	}
	return nil
}

// claudeOwn are Claude Code's own tools that neither write files nor run
// commands, whatever their names and inputs look like.
var claudeOwn = map[string]bool{
	"Task": true, "Agent": true, "TaskOutput": true, "TaskStop": true, "TaskCreate": true, "TaskUpdate": true, "TaskGet": true, "TaskList": true,
	"TodoWrite": true, "TodoRead": true, "WebFetch": true, "WebSearch": true, "AskUserQuestion": true, "Skill": true, "SlashCommand": true,
	"BashOutput": true, "KillShell": true, "KillBash": true, "EnterPlanMode": true, "ToolSearch": true, "SendMessage": true,
	"ListMcpResourcesTool": true, "ReadMcpResourceTool": true,
}

func claudeShell(tool string) bool {
	return tool == "Bash" || tool == "PowerShell" || tool == "Monitor"
}

func claudeWrites(tool string) bool {
	switch tool {
	case "Write", "Edit", "MultiEdit", "NotebookEdit":
		return true
	}
	return false
}

// claudeOutput is what Claude Code reads from a hook's standard output.
type claudeOutput struct {
	Decision      string                `json:"decision,omitempty"`
	Reason        string                `json:"reason,omitempty"`
	SystemMessage string                `json:"systemMessage,omitempty"`
	Specific      *claudeSpecificOutput `json:"hookSpecificOutput,omitempty"`
}

type claudeSpecificOutput struct {
	HookEventName            string `json:"hookEventName"`
	PermissionDecision       string `json:"permissionDecision,omitempty"`
	PermissionDecisionReason string `json:"permissionDecisionReason,omitempty"`
	AdditionalContext        string `json:"additionalContext,omitempty"`
	// UpdatedInput replaces the whole input of the tool.
	UpdatedInput *json.RawMessage `json:"updatedInput,omitempty"`
	Decision     *claudeBehavior  `json:"decision,omitempty"`
}

type claudeBehavior struct {
	Behavior string `json:"behavior"`
	Message  string `json:"message,omitempty"`
}

// renderClaude writes an answer. A refusal of a tool is given three times –
// JSON, standard error, exit status 2 – because each form alone is dropped by
// some version or by a host that reads Claude's settings.
func renderClaude(c Call, a Answer) schemas.HookReply {
	out := claudeOutput{SystemMessage: clip(a.Notice)}
	specific := claudeSpecificOutput{HookEventName: c.Hook}
	reply := schemas.HookReply{}
	switch {
	case a.Verdict == Refuse && c.Kind == Permission:
		specific.Decision = &claudeBehavior{Behavior: "deny", Message: clip(a.Reason)}
	case a.Verdict == Refuse && c.Kind == BeforeTool:
		specific.PermissionDecision, specific.PermissionDecisionReason = "deny", clip(a.Reason)
		reply.Stderr, reply.Exit = a.Reason+"\n", 2
	case a.Verdict == AskUser && c.Kind == BeforeTool:
		specific.PermissionDecision, specific.PermissionDecisionReason = "ask", clip(a.Reason)
	case a.Verdict == Refuse && claudeBlocks(c.Kind):
		out.Decision, out.Reason = "block", clip(a.Reason)
	}
	if a.Command != "" && a.Verdict != Refuse && c.Kind == BeforeTool {
		specific.UpdatedInput = withCommand(c.Input, a.Command)
	}
	if claudeTakesContext(c.Kind) {
		specific.AdditionalContext = clip(a.Context)
	} else if a.Context != "" && out.SystemMessage == "" {
		out.SystemMessage = clip(a.Context)
	}
	if specific != (claudeSpecificOutput{HookEventName: c.Hook}) {
		out.Specific = &specific
	}
	if out == (claudeOutput{}) {
		return reply
	}
	raw, err := json.Marshal(out)
	if err != nil {
		return schemas.HookReply{Stderr: a.Reason + "\n", Exit: 2}
	}
	reply.Stdout = string(raw) + "\n"
	return reply
}

// withCommand is a tool's input with another command and everything else as it
// was; nil where that cannot be made, which leaves the input as it is.
func withCommand(input json.RawMessage, command string) *json.RawMessage {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(input, &fields); err != nil || fields == nil {
		return nil
	}
	quoted, err := json.Marshal(command)
	if err != nil {
		return nil
	}
	fields["command"] = quoted
	raw, err := json.Marshal(fields)
	if err != nil {
		return nil
	}
	updated := json.RawMessage(raw)
	return &updated
}

func claudeBlocks(k Kind) bool {
	switch k {
	case Prompt, Command, AfterTool, ToolFailed, Stop, SubagentStop, BeforeCompact:
		return true
	default:
		return false
	}
}

func claudeTakesContext(k Kind) bool {
	switch k {
	case SessionStart, Prompt, Command, BeforeTool, AfterTool, ToolFailed, SubagentStart, SubagentStop, Stop:
		return true
	default:
		return false
	}
}

// clip bounds a text to what reaches the model whole, on a rune boundary.
func clip(s string) string {
	if utf8.RuneCountInString(s) <= maxClaudeText {
		return s
	}
	const mark = "\n[cut]"
	runes := []rune(s)
	return string(runes[:maxClaudeText-len(mark)]) + mark
}
