// Package hosts translates between coding agents and Writ: one file per host
// reads the host's hook payload into a Call and writes an Answer the way that
// host understands it. All policy lives behind the Call, once.
//
// It guarantees that no payload makes it panic, that unknown fields and events
// are tolerated, and that a refusal is written in every form its host honours.
// It decides nothing and does no IO.
package hosts

import (
	"encoding/json"
	"errors"

	"github.com/writbus/writ/schemas"
)

var (
	// ErrPayload is returned for a hook payload that is not what the host
	// documents: not JSON, not an object, without a session.
	ErrPayload = errors.New("hosts: the hook's payload cannot be read")
	// ErrUnknownHost is returned for a host that has no adapter.
	ErrUnknownHost = errors.New("hosts: no adapter for this agent")
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
)

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
}

// Call is one hook event, free of its host.
type Call struct {
	Host, Hook string // "claude", "PreToolUse"
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
	Error       string
	Millis      int64
	Plan        string // text of a native plan dialog
	Message     string // the agent's last words
	Again       bool   // a stop after the agent was sent back to work
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
}

// Parse reads a payload of a host. event is the event name the hook was
// configured for; the payload's own name wins.
func Parse(host, event string, payload []byte) (Call, error) {
	switch host {
	case "claude":
		return parseClaude(event, payload)
	}
	return Call{}, ErrUnknownHost
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

// Render writes an answer for the host of a call.
func Render(c Call, a Answer) schemas.HookReply {
	return renderClaude(c, a)
}
