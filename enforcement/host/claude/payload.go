package claude

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/writbus/writ/enforcement/host"
	"github.com/writbus/writ/schemas"
)

// hookPayload holds the fields of Claude Code's hook payloads that Writ
// reads. Every field is optional: documents and versions differ. Pointers are of
// those whose presence tells who sent the payload.
type hookPayload struct {
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
	Expansion     string          `json:"expansion_type"`
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
func (p *hookPayload) sender() string {
	switch {
	case p.Cursor != nil:
		return "cursor"
	case p.Camel != nil, p.Time != nil && p.Transcript == nil && p.Permissions == nil:
		return "copilot"
	}
	return "claude"
}

// toolInput is the union of the tool inputs that Writ reads.
type toolInput struct {
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

var kinds = map[string]host.Kind{
	"SessionStart":        host.SessionStart,
	"SessionEnd":          host.SessionEnd,
	"UserPromptSubmit":    host.Prompt,
	"UserPromptExpansion": host.Command,
	"PreToolUse":          host.BeforeTool,
	"PostToolUse":         host.AfterTool,
	"PostToolUseFailure":  host.ToolFailed,
	"PermissionRequest":   host.Permission,
	"SubagentStart":       host.SubagentStart,
	"SubagentStop":        host.SubagentStop,
	"PreCompact":          host.BeforeCompact,
	"PostCompact":         host.AfterCompact,
	"Stop":                host.Stop,
	"InstructionsLoaded":  host.Instructions,
}

var facts = host.Facts{TakesCommand: true, RulesSeeCommand: true, TellsBeforeTools: true, ExpandsCommands: true}

// Parse reads a payload of a hook of Claude Code's. Other hosts run those,
// too: elsewhere reads the payloads of theirs.
func Parse(event string, payload []byte, elsewhere func(sender string) (host.Call, error)) (host.Call, error) {
	var p hookPayload
	if err := host.Lenient(payload, &p); err != nil {
		return host.Call{Host: "claude", Facts: facts, Hook: event, Kind: kinds[event]}, fmt.Errorf("%w: %w", host.ErrPayload, err)
	}
	if sender := p.sender(); sender != "claude" {
		return elsewhere(sender)
	}
	p.Hook = host.EventOf(kinds, p.Hook, event)
	c := host.Call{
		Host: "claude", Facts: facts, Hook: p.Hook, Kind: kinds[p.Hook],
		Session: p.SessionID, Agent: p.AgentID, AgentType: p.AgentType,
		Dir: p.Dir, Transcript: orEmpty(p.Transcript), Model: p.Model, Permissions: orEmpty(p.Permissions),
		Reason: p.Reason, Prompt: p.Prompt, PromptID: p.PromptID,
		Tool: p.ToolName, ToolUseID: p.ToolUseID, Error: p.Error, Millis: int64(p.Millis),
		Message: p.LastMessage, Input: p.ToolInput,
	}
	if c.Session == "" {
		return c, fmt.Errorf("%w: no session_id", host.ErrPayload)
	}
	switch c.Kind {
	case host.SessionStart:
		c.Source = p.Source
	case host.Prompt, host.Command:
		c.Origin = p.Source
		var said struct {
			Source json.RawMessage `json:"source"`
		}
		if _ = json.Unmarshal(payload, &said); c.Origin == "" && len(said.Source) > 0 && string(said.Source) != "null" {
			c.Origin = unreadableSource
		}
		if c.Kind == host.Command {
			c.Command, c.Args = strings.TrimPrefix(p.CommandName, "/"), p.CommandArgs
			if p.Expansion == "" || p.Expansion == "slash_command" {
				c.Origin = cmp.Or(c.Origin, kept[p.CommandSource])
			}
			c.Origin = cmp.Or(c.Origin, p.CommandSource, unreadableSource)
		}
	case host.Stop:
		c.Again = p.StopActive
	case host.Instructions:
		c.File = p.FilePath
	case host.BeforeCompact, host.AfterCompact:
		c.Reason = p.Trigger
	case host.BeforeTool, host.AfterTool, host.ToolFailed, host.Permission:
		if err := readTool(&c, p.ToolResponse); err != nil {
			return c, err
		}
		readEnd(&c, p.ToolResponse)
		readBefore(&c, p.ToolResponse)
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

// kept are the places of slash commands that a person keeps files in: who types one
// is a person. A prompt of an MCP server is expanded like one.
var kept = map[string]string{"": "user", "userSettings": "user", "projectSettings": "user", "localSettings": "user", "policySettings": "user", "plugin": "user"}

// readBefore notes what a file held before a tool that wrote it.
func readBefore(c *host.Call, response json.RawMessage) {
	var out struct {
		Type string  `json:"type"`
		Was  *string `json:"originalFile"`
	}
	if isWriting(c.Tool) && json.Unmarshal(response, &out) == nil {
		c.Was, c.Made = out.Was, c.Tool == "Write" && out.Type == "create"
	}
}

func readTool(c *host.Call, response json.RawMessage) error {
	var in toolInput
	if c.Tool == "" {
		return fmt.Errorf("%w: a tool without a name", host.ErrPayload)
	}
	if len(c.Input) == 0 {
		c.Input = json.RawMessage("{}")
	}
	if err := in.read(c.Input); err != nil {
		if isWriting(c.Tool) || isShell(c.Tool) {
			return fmt.Errorf("%w: input of %s: %w", host.ErrPayload, c.Tool, err)
		}
		// A server's tool may take what it likes under the same keys.
		if !ownTools[c.Tool] {
			c.ReadUnknown(c.Tool, c.Input, strings.HasPrefix(c.Tool, "mcp__"))
		}
		return nil
	}
	switch c.Tool {
	case "Write":
		c.Writes = []host.Write{{Path: in.FilePath, Content: in.Content, Opaque: in.Content == nil}}
	case "Edit":
		c.Writes = []host.Write{{Path: in.FilePath, Edits: []host.Edit{{Old: in.OldString, New: in.NewString, All: in.ReplaceAll}}}}
	case "MultiEdit":
		w := host.Write{Path: in.FilePath}
		for _, e := range in.Edits {
			w.Edits = append(w.Edits, host.Edit{Old: e.OldString, New: e.NewString, All: e.ReplaceAll})
		}
		c.Writes = []host.Write{w}
	case "NotebookEdit":
		path := cmp.Or(in.NotebookPath, in.FilePath)
		c.Writes = []host.Write{{Path: path, Opaque: true}}
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
		if !ownTools[c.Tool] {
			c.ReadUnknown(c.Tool, c.Input, strings.HasPrefix(c.Tool, "mcp__"))
		}
	}
	if isWriting(c.Tool) && (len(c.Writes) == 0 || c.Writes[0].Path == "") {
		return fmt.Errorf("%w: %s without a path", host.ErrPayload, c.Tool)
	}
	if isShell(c.Tool) && c.Tool != "Monitor" && c.Shell == nil {
		return fmt.Errorf("%w: %s without a command", host.ErrPayload, c.Tool)
	}
	return nil
}

// readEnd notes how a command ended: this host tells a bad end by an event
// of its own. What runs in the background has not ended.
func readEnd(c *host.Call, response json.RawMessage) {
	if c.Shell == nil || c.Kind != host.AfterTool {
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
		c.Exited(0)
	}
}

// read takes the keys that are spelled as the host reads them: a decoder that
// takes FILE_PATH for file_path would judge another file than is written.
func (in *toolInput) read(input json.RawMessage) error {
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

// ownTools are Claude Code's own tools that neither write files nor run
// commands, whatever their names and inputs look like.
var ownTools = map[string]bool{
	"Task": true, "Agent": true, "TaskOutput": true, "TaskStop": true, "TaskCreate": true, "TaskUpdate": true, "TaskGet": true, "TaskList": true,
	"TodoWrite": true, "TodoRead": true, "WebFetch": true, "WebSearch": true, "AskUserQuestion": true, "Skill": true, "SlashCommand": true,
	"BashOutput": true, "KillShell": true, "KillBash": true, "EnterPlanMode": true, "ToolSearch": true, "SendMessage": true,
	"ListMcpResourcesTool": true, "ReadMcpResourceTool": true,
}

func isShell(tool string) bool {
	return tool == "Bash" || tool == "PowerShell" || tool == "Monitor"
}

func isWriting(tool string) bool {
	switch tool {
	case "Write", "Edit", "MultiEdit", "NotebookEdit":
		return true
	}
	return false
}

// output is what Claude Code reads from a hook's standard output.
type output struct {
	Decision      string          `json:"decision,omitempty"`
	Reason        string          `json:"reason,omitempty"`
	SystemMessage string          `json:"systemMessage,omitempty"`
	Specific      *SpecificOutput `json:"hookSpecificOutput,omitempty"`
}

// SpecificOutput is the part of an answer that is of one event.
type SpecificOutput struct {
	HookEventName            string `json:"hookEventName"`
	PermissionDecision       string `json:"permissionDecision,omitempty"`
	PermissionDecisionReason string `json:"permissionDecisionReason,omitempty"`
	AdditionalContext        string `json:"additionalContext,omitempty"`
	// UpdatedInput replaces the whole input of the tool.
	UpdatedInput *json.RawMessage `json:"updatedInput,omitempty"`
	Decision     *Behavior        `json:"decision,omitempty"`
}

// Behavior answers a question of the host.
type Behavior struct {
	Behavior string `json:"behavior"`
	Message  string `json:"message,omitempty"`
}

// Render writes an answer. A refusal of a tool is given three times –
// JSON, standard error, exit status 2 – because each form alone is dropped by
// some version or by a host that reads Claude's settings.
func Render(c host.Call, a host.Answer) schemas.HookReply {
	out := output{SystemMessage: host.Clip(a.Notice)}
	specific := SpecificOutput{HookEventName: c.Hook}
	reply := schemas.HookReply{}
	switch {
	case a.Verdict == host.Refuse && c.Kind == host.Permission:
		specific.Decision = &Behavior{Behavior: "deny", Message: host.Clip(a.Reason)}
	case a.Verdict == host.Refuse && c.Kind == host.BeforeTool:
		specific.PermissionDecision, specific.PermissionDecisionReason = "deny", host.Clip(a.Reason)
		reply.Stderr, reply.Exit = a.Reason+"\n", 2
	case a.Verdict == host.AskUser && c.Kind == host.BeforeTool:
		specific.PermissionDecision, specific.PermissionDecisionReason = "ask", host.Clip(a.Reason)
	case a.Vouched && a.Verdict == host.Pass && c.Kind == host.BeforeTool:
		// Before the user's own rules, of which those that deny or ask still hold. The
		// host's question itself is not answered: such a rule may have raised it.
		specific.PermissionDecision, specific.PermissionDecisionReason = "allow", "Writ asked for this."
	case a.Verdict == host.Refuse && blocks(c.Kind):
		out.Decision, out.Reason = "block", host.Clip(a.Reason)
	}
	if a.Command != "" && a.Verdict != host.Refuse && c.Kind == host.BeforeTool {
		specific.UpdatedInput = withCommand(c.Input, a.Command)
	}
	if takesContext(c.Kind) {
		specific.AdditionalContext = host.Clip(a.Context)
	} else if a.Context != "" && out.SystemMessage == "" {
		out.SystemMessage = host.Clip(a.Context)
	}
	if specific != (SpecificOutput{HookEventName: c.Hook}) {
		out.Specific = &specific
	}
	if out == (output{}) {
		return reply
	}
	if c.Kind == host.AfterCompact { // whose output is shown as it is
		reply.Stdout = out.SystemMessage + "\n"
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

func blocks(k host.Kind) bool {
	switch k {
	case host.Prompt, host.Command, host.AfterTool, host.ToolFailed, host.Stop, host.SubagentStop, host.BeforeCompact:
		return true
	default:
		return false
	}
}

func takesContext(k host.Kind) bool {
	switch k {
	case host.SessionStart, host.Prompt, host.Command, host.BeforeTool, host.AfterTool, host.ToolFailed, host.SubagentStart, host.SubagentStop, host.Stop:
		return true
	default:
		return false
	}
}
