// Package host is what the adapters of coding agents share: one package per host
// below this one reads the host's hook payload into a Call and writes an Answer
// the way that host understands it. Package turn takes the Call
// to a decision: all policy lives behind it, once.
//
// Their guarantees are that no payload makes them panic, that unknown fields and
// events are tolerated, and that a refusal is written in every form its host
// honours. They decide nothing and do no IO.
package host

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/excerpt"
)

var (
	// ErrPayload is returned for a hook payload that is not what the host
	// documents: not JSON, not an object, without a session.
	ErrPayload = errors.New("host: the hook's payload cannot be read")
	// ErrUnknownHost is returned for a host that has no adapter.
	ErrUnknownHost = errors.New("host: no adapter for this agent")
)

// Kind is what a hook event is about, whatever the host calls it.
type Kind int

// The kinds of calls.
const (
	Other Kind = iota // recorded, passed
	SessionStart
	SessionEnd
	Prompt  // a prompt on its way to the model
	Command // a typed slash command
	BeforeTool
	AfterTool
	ToolFailed
	Permission // the host is about to ask its user
	SubagentStart
	SubagentStop
	BeforeCompact
	AfterCompact
	Stop
	Instructions // the host loaded a file of instructions
)

// Harmless says that a tool call neither writes, runs nor reads anything that
// a gate is about, by the tool's name alone.
func (c Call) Harmless() bool {
	if c.Shell != nil || len(c.Writes) > 0 || len(c.Queues) > 0 {
		return false
	}
	switch c.Tool {
	case "Read", "Glob", "Grep", "TodoWrite", "TaskCreate", "TaskUpdate", "WebFetch", "WebSearch", "Task", "Agent", "AskUserQuestion", "Skill":
		return true
	}
	return false
}

// Edit is one replacement within a file.
type Edit struct {
	Old, New string
	All      bool
}

// Write is what a tool would do to one file: Content whole, or Edits.
type Write struct {
	Path    string
	Content *string
	Edits   []Edit
	// Opaque says that the result cannot be computed from the payload.
	Opaque bool
	// Gone says that the file is deleted; it is opaque, too.
	Gone bool
}

// Facts are what a host does with what its hooks answer. The zero value is that
// of a host that does as little as any, and waits for hooks at a turn's end.
type Facts struct {
	// TakesCommand: a hook may replace the command of a shell tool.
	TakesCommand bool
	// RulesSeeCommand: the command that a hook gives back, and not the one the agent
	// wrote, is held against the user's own rules for commands.
	RulesSeeCommand bool
	// TellsBeforeTools: what a hook says before a tool is handed to the model; to
	// others it is said after the tool.
	TellsBeforeTools bool
	// ExpandsCommands: a typed command of Writ's is reported as itself, after the
	// prompt that it was typed as.
	ExpandsCommands bool
	// EndsTurns: no hook can send an agent back to work at the end of its turn.
	EndsTurns bool
	// ForgetsHooks: a conversation that is resumed in another process is without what
	// hooks said to the model.
	ForgetsHooks bool
}

// Call is one hook event, free of its host.
type Call struct {
	Host, Hook string // "claude", "PreToolUse"
	Facts      Facts
	Kind       Kind
	Session    string // the host's session id; a sub-agent's calls carry their parent's
	Agent      string // sub-agent id, "" for the main thread
	AgentType  string
	Dir        string // absolute working folder
	Transcript string
	Model      string
	// Permissions is the host's mode of asking its user, "bypassPermissions" for
	// one that asks nothing.
	Permissions string
	Source      string // how a session started
	Reason      string // why it ended, what triggered a compaction
	Prompt      string
	PromptID    string
	Origin      string // who submitted the prompt, "" where the host does not say
	Command     string // slash command without the slash
	Args        string
	Tool        string
	ToolUseID   string
	Writes      []Write
	Reads       []string // paths that a reading tool names
	Shell       *string  // the command line of a shell tool
	Code        bool     // runs code that is no command line: nobody can tell what it writes
	FromServer  bool     // the tool is one of an MCP server
	Server      string   // how that is started or reached, where the host says so
	Unproven    string   // of a server's tool: why it is not known to do no more than read, "" where it is
	Holds       string   // what a yes to it holds for, "" where only for this call
	Elsewhere   bool     // the paths are of another place than this machine
	Was         *string  // what the file held that a tool wrote, where the host says so
	Made        bool     // the host says that the tool made the file
	Error       string
	Millis      int64
	Exit        *int     // a command's exit status, nil where the host does not say it
	Done        []string // items that a list of tasks calls done
	Queues      []string // prompts that a tool hands in for later
	Task        *Task    // what a sub-agent is to do, nil for other tools
	Plan        string   // text of a native plan dialog
	File        string   // of instructions that the host loaded
	Message     string   // the agent's last words
	Again       bool     // a stop after the agent was sent back to work
	Input       json.RawMessage
}

// Verdict of an Answer. The zero value says nothing: the host's own permission
// flow goes on.
type Verdict int

// The verdicts a host can be told.
const (
	Pass Verdict = iota
	Refuse
	AskUser
)

// Answer is what Writ tells a host.
type Answer struct {
	Verdict Verdict
	Reason  string // of a refusal or question
	Context string // for the model
	Notice  string // for the user
	// Vouched says of a tool that passes that Writ asked for it, so that the host
	// need not ask its user; what the user's own settings deny or ask about stays.
	Vouched bool
	// Command runs instead of the shell command that was asked for, "" for none.
	// Only hosts whose Facts say so know it.
	Command string
}

// Readable says why nobody can judge a call: with the error of reading its payload,
// or without one that its session is missing.
func (c Call) Readable(err error) error {
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", ErrPayload, err)
	case c.Session == "":
		return fmt.Errorf("%w: no session_id", ErrPayload)
	}
	return nil
}

// EventOf is the name of a hook's event: what its payload says, unless the host calls
// something by it that is not known and the hook was set for an event that is.
func EventOf(kinds map[string]Kind, said, set string) string {
	if _, known := kinds[said]; known {
		return said
	}
	if _, known := kinds[set]; known || said == "" {
		return set
	}
	return said
}

// Fields keeps the short plain fields of a payload, for the record of an event
// that no policy is about.
func Fields(payload []byte) map[string]any {
	var all map[string]any
	if json.Unmarshal(payload, &all) != nil {
		return nil
	}
	for key, v := range all {
		switch v := v.(type) {
		case string:
			if len(v) <= 200 && key != "session_id" && key != "hook_event_name" {
				continue
			}
		case bool, float64:
			continue
		}
		delete(all, key)
	}
	return all
}

// Returned begins every reason to go on that a host hands back to its agent as
// though the user had typed it. Such a prompt is Writ's own, and approves
// nothing.
const Returned = "[writ] "

// OriginOf is who submitted a prompt, for a host that does not say it.
func OriginOf(prompt string) string {
	if strings.HasPrefix(strings.TrimSpace(prompt), strings.TrimSpace(Returned)) {
		return "writ"
	}
	return ""
}

// maxReason bounds a refusal's text, in characters.
const maxReason = 600

// Unasked turns a question that a host cannot put to its user into a refusal:
// the hosts concerned let the action pass otherwise.
func (a Answer) Unasked(host string) Answer {
	if a.Verdict != AskUser {
		return a
	}
	end := " (" + host + " cannot put this question to its user, so it is refused; the user can do it in a terminal.)"
	if reason := []rune(a.Reason); len(reason)+len(end) > maxReason {
		a.Reason = string(reason[:max(0, maxReason-len(end)-1)]) + "…"
	}
	a.Verdict, a.Reason = Refuse, a.Reason+end
	return a
}

// Refused is a tool's refusal in every form: the host's JSON, standard error,
// exit status 2.
func Refused(out any, reason string) schemas.HookReply {
	return schemas.HookReply{Stdout: Object(out), Stderr: reason + "\n", Exit: 2}
}

// Object is a value as one line of JSON.
func Object(value any) string {
	var buf bytes.Buffer
	encoder := json.NewEncoder(&buf)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(value) != nil {
		return "{}\n"
	}
	return buf.String()
}

// Both joins texts for one field.
func Both(texts ...string) string { return excerpt.Joined("\n\n", texts...) }

// LowerFirst is a name with a small first letter.
func LowerFirst(name string) string {
	if name == "" {
		return ""
	}
	return strings.ToLower(name[:1]) + name[1:]
}

// Lenient decodes JSON whose fields may have other types than documented: a
// field that does not fit stays empty, the rest is read.
func Lenient(raw []byte, into any) error {
	err := json.Unmarshal(raw, into)
	if wrongType, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrongType.Field != "" {
		return nil
	}
	return err
}

// maxText is the most characters of one hook output string that reach
// Claude Code's model whole; more is moved to a file. The other hosts are told no
// more.
const maxText = 10_000

// CutMark ends a text that was longer than a host takes.
const CutMark = "\n[cut]"

// Clip bounds a text to what reaches the model whole.
func Clip(s string) string { return excerpt.RunesWith(s, maxText, CutMark) }
