package enforcement

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/writbus/writ/enforcement/phrase"
	"github.com/writbus/writ/schemas"
)

// Command is something that is about to happen in a session, or just happened.
// The set of commands is closed: those of this package.
type Command interface {
	// check returns ErrMisuse where an identifying field is missing.
	check() error
	// decide is pure.
	decide(State) Decision
}

// Settings is a project's policy. Use DefaultSettings: the zero value is in
// nothing laxer than the default.
type Settings struct {
	// Approval is the least assurance with which a gate opens, "" for any.
	Approval string
	// DenyToAsk turns the second refusal by the same gate in a row into a
	// question to the user.
	DenyToAsk bool
	// Subagents is "" (inherit, unless the parent is an orchestrator),
	// "exempt" or "inherit".
	Subagents string
	// AllowUnsourcedPrompts lets prompts approve whose host does not say who
	// typed them.
	AllowUnsourcedPrompts bool
	// MCPWriters are patterns (path.Match) of tools whose effect nobody can
	// tell, such as "mcp__fs__write_*".
	MCPWriters []string
	// AdvanceOnGreen ends the implementation when Writ ran the tests, they passed
	// and every planned file exists.
	AdvanceOnGreen bool
	// SmallLines is how many lines of code one prompt may change in small mode.
	SmallLines int
	// RequireWork lets an agent declare work mode only.
	RequireWork bool
	// Under is the released policy that decides in the place of approvals, nil for
	// none.
	Under *Released
	// Phrases are approval wordings of the project's language.
	Phrases phrase.Phrases
}

// Values of Settings.Subagents.
const (
	SubagentsExempt  = "exempt"
	SubagentsInherit = "inherit"
)

// DefaultSettings are those of a project that configures nothing.
func DefaultSettings() Settings {
	return Settings{AllowUnsourcedPrompts: true, SmallLines: DefaultSmallLines}
}

// Workspace is what stands in the project while a command is decided. The
// caller reads it just before.
type Workspace struct {
	// Files has the state of every path of State.Watched (of the parent's, for a
	// sub-agent; of State.ApprovalFiles, for AdvancePhase and approvals), by
	// relative path. A missing entry means that the file does not exist.
	Files map[string]schemas.FileState
	// Plan and Capabilities are the contents of plan.md and capabilities.md,
	// nil where there is none.
	Plan         []byte
	Capabilities []byte
	// Tests are the contents of the existing test files of State.TestFiles, and
	// of those of linked sub-agents, by relative path.
	Tests map[string][]byte
	// Runs has of each test file that would be approved why it is not run here, ""
	// where it is. Nothing is asked of files that it does not have.
	Runs map[string]string
	// Known tells whether a rule exists; nil skips that check.
	Known func(id string) bool
	// Left are the contents (SHA-256) in which allowed writes of linked
	// sessions left files, by relative path: for a session those of its
	// sub-agents, see State.LeftFiles.
	Left map[string][]string
	// PlanOf is another session that left plan.md as it stands, "" where none is
	// known to have.
	PlanOf string
}

// Actor says who asks. The zero Actor is the main thread of the session.
type Actor struct {
	// Agent is the host's id of the sub-agent, "" for the main thread.
	Agent string
	// Parent is the state of the session the sub-agent works for, when the
	// sub-agent has a session of its own. Of nested sub-agents it is the
	// outermost session's.
	Parent *State
}

func (a Actor) sub() bool { return a.Agent != "" || a.Parent != nil }

// StartSession registers a session, again or for the first time.
type StartSession struct {
	schemas.SessionStarted
}

// SubmitPrompt is a prompt that the host delivers, which may be a user's act.
type SubmitPrompt struct {
	Prompt string
	// ActID identifies the prompt: the host's prompt id, or one that the caller
	// made. Required, valid UTF-8.
	ActID    string
	PromptID string // the host's id, "" where it gives none
	Origin   string // the host's word for who submitted it: "user", "sdk", …; "" where it does not say
	// Command is the name of the slash command (without the slash), when the
	// host reports a typed command that a model cannot invoke, and Arguments
	// what followed it.
	Command   string
	Arguments string
	// Expands says that the host reports a typed command of Writ's once more, as
	// itself: then that is the act, and the prompt is only recorded.
	Expands bool
	// Agent is the sub-agent whose prompt it is, "" for the conversation with the
	// user. What a sub-agent is told, another agent says.
	Agent string
	// Handed says that a tool in another session of the project, or of a sub-agent,
	// handed in the same text for later.
	Handed bool
	// Unread says that what tools of other sessions handed in cannot be read now.
	Unread bool
	// Late says that the hook has stopped waiting, and told the user that nobody saw it.
	Late bool
	// Shown is the fingerprint of what waited for approval when the agent ended its
	// turn, "" where nothing did or nobody knows.
	Shown     string
	Workspace Workspace
	Settings  Settings
}

// RequestTool is a tool that an agent is about to use.
type RequestTool struct {
	Tool       string
	ToolUseID  string
	Targets    []schemas.Target // files it would write
	Edits      map[string]Edit  // what it would change of them, by relative path; only in small mode
	Private    []string         // paths of Writ's own data (Layout.InData) it would read
	Secrets    []Secret         // credentials that it would leave in files
	Completes  []string         // items of a list of tasks that it would call done
	Task       *Task            // what it would hand to a sub-agent, nil for other tools
	Queues     []string         // prompts that it would hand in for later
	Shell      *ShellCommand    // of a shell tool, nil for others
	Code       bool             // it runs code that is no command line, whose effect nobody can tell
	Unproven   string           // of a server's tool: why it is not known to do no more than read, "" where it is
	Holds      string           // what a yes to it holds for in the project, "" where only for this call
	Accepted   bool             // the user said that yes in another session of the project
	Repository *Repository      // for a command that NeedsRepository; nil is one that cannot be read
	Confined   bool             // the kernel will hold the command to what may be written now
	Unbounded  string           // why it will not, for the user; "" where nothing is to be said
	Unasked    bool             // nobody would answer a question, and the host lets pass what is asked about
	Plan       []byte           // what a host's plan dialog would present, nil for other tools
	Actor      Actor
	Workspace  Workspace
	Settings   Settings
	Digest     string   // SHA-256 of the input as the host sent it
	Bytes      int      // size of that input
	Releases   []string // of rules that are in force, as schemas.Release.Text names them
}

// FinishTool reports that a tool ran, with the files as they stand now.
type FinishTool struct {
	schemas.ToolFinished
	Command     string // of a shell tool that came to its end
	Uncertain   bool   // the host does not say how it ended
	Unasked     bool   // the host lets pass what a user should be asked about
	Holds       string // as of RequestTool
	TestCommand string // the project's own, "" where it configured none
	Actor       Actor
	Workspace   Workspace
}

// SetMode chooses a mode.
type SetMode struct {
	Mode         string
	Orchestrator bool
	Repro        []string // files of a debug reproduction, relative or absolute
	ByUser       bool     // the caller proved that the user asks for it
	Settings     Settings
}

// ApproveGate is a user's approval outside the conversation.
type ApproveGate struct {
	Gate string // "": whichever waits
	// Fingerprint is what the user saw. "" asks what would be approved and
	// approves nothing; the dialog needs none, it shows the plan itself.
	Fingerprint string
	Channel     string // terminal, dashboard, passkey or dialog
	// Unproven is why a passkey's signature does not count, "" for one that was
	// checked and is over this session, gate and fingerprint.
	Unproven string
	ActID    string // required, valid UTF-8
	// Signed is the person's signature, which was checked; nil for none.
	Signed *schemas.Signed
	// Persons are the keys of those whose approvals count where two are needed.
	Persons   []string
	Presented []byte // the plan that the dialog showed
	Agent     string // the sub-agent that opened the dialog, "" for the main thread
	Workspace Workspace
	Settings  Settings
}

// DeclineGate is a user's "not like this" outside the conversation: what waits
// stays unapproved, and the agent is told what to change.
type DeclineGate struct {
	Gate        string // "": whichever waits
	Fingerprint string // of what the user saw
	Reason      string // the user's words, required
	Channel     string // terminal or dashboard
	ActID       string // required, valid UTF-8
	Workspace   Workspace
}

// InvalidateGate takes an approval back.
type InvalidateGate struct {
	Gate   string
	Reason string
	Rule   string // the rule behind it, if one is
}

// ReopenPhase goes back from verification to implementation for a fix.
type ReopenPhase struct {
	Reason string
}

// AdvancePhase is an agent's wish to go on.
type AdvancePhase struct {
	Gate      string // the gate it believes open, "" for the present one
	Workspace Workspace
	Settings  Settings
}

// StartSubagent links a sub-agent to this session.
type StartSubagent struct {
	schemas.SubagentStarted
}

// StopSubagent records a sub-agent's end.
type StopSubagent struct {
	schemas.SubagentStopped
}

// Compact records that the host shortens the conversation.
type Compact struct {
	schemas.ContextCompacted
}

// EndSession closes a session.
type EndSession struct {
	Reason string
}

// ShowRules records which rules reached the agent.
type ShowRules struct {
	schemas.RulesShown
}

// Observe records a host event that no policy decides.
type Observe struct {
	schemas.HookObserved
}

func (c StartSession) check() error   { return payload(c.SessionStarted) }
func (c StartSubagent) check() error  { return payload(c.SubagentStarted) }
func (c StopSubagent) check() error   { return payload(c.SubagentStopped) }
func (c Compact) check() error        { return payload(c.ContextCompacted) }
func (c Observe) check() error        { return payload(c.HookObserved) }
func (c ShowRules) check() error      { return nil }
func (c EndSession) check() error     { return nil }
func (c SetMode) check() error        { return nil }
func (c ReopenPhase) check() error    { return nil }
func (c AdvancePhase) check() error   { return nil }
func (c SubmitPrompt) check() error   { return actID(c.ActID) }
func (c RequestTool) check() error    { return named("tool", c.Tool) }
func (c FinishTool) check() error     { return named("tool", c.Tool) }
func (c InvalidateGate) check() error { return named("gate", c.Gate) }

func (c ApproveGate) check() error {
	if err := named("channel", c.Channel); err != nil {
		return err
	}
	return actID(c.ActID)
}

func (c DeclineGate) check() error {
	if err := named("reason", strings.TrimSpace(c.Reason)); err != nil {
		return err
	}
	if err := named("channel", c.Channel); err != nil {
		return err
	}
	return actID(c.ActID)
}

func payload(p schemas.Checker) error {
	if err := p.Check(); err != nil {
		return fmt.Errorf("%w: %w", ErrMisuse, err)
	}
	return nil
}

func named(what, value string) error {
	if value == "" {
		return fmt.Errorf("%w: no %s", ErrMisuse, what)
	}
	return nil
}

// actID also refuses invalid UTF-8, which the log would store as another id.
func actID(id string) error {
	if id == "" || !utf8.ValidString(id) {
		return fmt.Errorf("%w: act id %q", ErrMisuse, id)
	}
	return nil
}
