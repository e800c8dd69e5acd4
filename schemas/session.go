package schemas

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/writbus/writ/schemas/digest"
)

func registerSession(add func(Type, definition)) {
	add(define[SessionStarted](KindSession, unchanged))
	add(define[SessionEnded](KindSession))
	add(define[PromptSubmitted](KindSession))
	add(define[RulesShown](KindSession))
	add(define[ToolDecided](KindSession, unchanged, unchanged, unchanged))
	add(define[ToolFinished](KindSession))
	add(define[ModeChanged](KindSession))
	add(define[PhaseChanged](KindSession))
	add(define[GateApproved](KindSession, unchanged, unchanged))
	add(define[ApprovalGiven](KindSession))
	add(define[GateDrifted](KindSession))
	add(define[GateInvalidated](KindSession))
	add(define[GateDeclined](KindSession))
	add(define[GatesClosed](KindSession))
	add(define[PlanExtended](KindSession))
	add(define[ToolAccepted](KindSession))
	add(define[PlanReopened](KindSession))
	add(define[PlanResumed](KindSession))
	add(define[ApprovalRefused](KindSession))
	add(define[SubagentStarted](KindSession))
	add(define[SubagentStopped](KindSession))
	add(define[ContextCompacted](KindSession))
	add(define[HookObserved](KindSession))
}

// SessionStarted registers a host's session. A host sends it again when a
// conversation is resumed, cleared or compacted; Source tells which.
type SessionStarted struct {
	Host       string `json:"host"`                 // "claude", "cursor", …
	Source     string `json:"source,omitempty"`     // the host's word: startup, resume, clear, compact, fork
	Project    string `json:"project"`              // absolute root of the project
	Dir        string `json:"dir,omitempty"`        // absolute working folder
	Model      string `json:"model,omitempty"`      // the host's model name
	Parent     string `json:"parent,omitempty"`     // session id of the parent, for a sub-agent
	AgentType  string `json:"agent_type,omitempty"` // the sub-agent's type
	Transcript string `json:"transcript,omitempty"` // path of the host's transcript
	Mode       string `json:"mode,omitempty"`       // mode the project's settings start a session in
	Subagents  string `json:"subagents,omitempty"`  // "", "exempt" or "inherit"
	// Repository is the one that the project is in, nil where that is not known.
	Repository *Repository `json:"repository,omitempty"`
}

// Repository names the repository of a project by what its work trees and clones
// have in common.
type Repository struct {
	Remote string `json:"remote,omitempty"`       // host and path, such as example.org/shop/web
	First  string `json:"first_commit,omitempty"` // id of the first commit, along first parents
	Below  string `json:"below,omitempty"`        // the project's folder in the work tree, slashes; "" for its root
	// Head is the id of the commit that the work tree was at when this was noted, ""
	// where it had none. It says nothing of which repository it is.
	Head string `json:"head,omitempty"`
}

// Same reports whether two projects are one: they lie at the same place of the same
// repository. Remotes decide where both have one, else the first commits: a
// shallow clone has no first commit, a history that was written anew another, and
// what was made from one template has the same.
func (r Repository) Same(other Repository) bool {
	switch {
	case r.Below != other.Below:
		return false
	case r.Remote != "" && other.Remote != "":
		return r.Remote == other.Remote
	}
	return r.First != "" && r.First == other.First
}

// EventType names the event "session.started".
func (SessionStarted) EventType() Type { return "session.started" }

// Check requires host and project.
func (p SessionStarted) Check() error { return require("host", p.Host, "project", p.Project) }

// SessionEnded closes a session with its audit.
type SessionEnded struct {
	Reason   string   `json:"reason,omitempty"` // the host's word
	Shown    []string `json:"shown,omitempty"`  // rule ids shown, sorted
	Denied   []string `json:"denied,omitempty"` // rule ids that refused something, sorted
	Written  int      `json:"written"`          // files written
	Refusals int      `json:"refusals"`         // requests refused
}

// EventType names the event "session.ended".
func (SessionEnded) EventType() Type { return "session.ended" }

// PromptSubmitted records what was put to the agent, whole.
type PromptSubmitted struct {
	Prompt   string `json:"prompt"`
	PromptID string `json:"prompt_id,omitempty"` // the host's id of the prompt
	Origin   string `json:"origin,omitempty"`    // who submitted it: "user", "sdk", "system", …; "" where the host does not say
	Command  string `json:"command,omitempty"`   // the slash command it came from, without the slash
}

// EventType names the event "prompt.submitted".
func (PromptSubmitted) EventType() Type { return "prompt.submitted" }

// ShownRule is one rule that reached an agent.
type ShownRule struct {
	ID    string  `json:"id"`
	Score float64 `json:"score"`
	Band  string  `json:"band"` // "mandatory", "retrieved", "instructions" or "line": only its title
}

// RulesShown records which rules were injected.
type RulesShown struct {
	Rules    []ShownRule `json:"rules"`
	Phase    string      `json:"phase,omitempty"`
	Trigger  string      `json:"trigger"` // "session", "prompt", "file", "read", "task", "instructions", "asked"
	Tokens   int         `json:"tokens"`  // size of the injected block
	Embedder string      `json:"embedder,omitempty"`
}

// EventType names the event "rules.shown".
func (RulesShown) EventType() Type { return "rules.shown" }

// Target is a file that a tool would write.
type Target struct {
	Path   string `json:"path"`             // absolute, symlinks resolved
	Rel    string `json:"rel,omitempty"`    // relative to the project root with slashes, "" outside it
	Class  string `json:"class"`            // protected, plan, findings, test, scratch, outside, code
	Result string `json:"result,omitempty"` // SHA-256 of the content the tool would leave, hex; "" where unknown
	Lines  int    `json:"lines,omitempty"`  // in which it would differ from what it held at the prompt, in small mode
}

// ToolDecided records a tool request of an agent together with the verdict, so
// that request and decision are one fact.
type ToolDecided struct {
	Tool      string   `json:"tool"`
	ToolUseID string   `json:"tool_use_id,omitempty"`
	Targets   []Target `json:"targets,omitempty"`
	Command   string   `json:"command,omitempty"` // of a shell tool
	Effect    string   `json:"effect,omitempty"`  // of a command: reads_only, writes, cannot_tell
	Verdict   string   `json:"verdict"`           // allow, deny, ask
	Rule      string   `json:"rule,omitempty"`    // ENF-… id of a refusal
	Gate      string   `json:"gate,omitempty"`    // the gate that refused
	Reason    string   `json:"reason,omitempty"`  // what the agent was told
	Mode      string   `json:"mode,omitempty"`
	Phase     string   `json:"phase,omitempty"`
	Agent     string   `json:"agent,omitempty"`  // sub-agent id, "" for the main thread
	Digest    string   `json:"digest,omitempty"` // SHA-256 of the tool's input as the host sent it
	Bytes     int      `json:"bytes,omitempty"`  // size of that input
	Queued    []string `json:"queued,omitempty"` // digests of prompts that it hands in for later
	// Releases are those whose rules were in force, as Release.Text names them.
	Releases []string `json:"releases,omitempty"`
	// Policy is the released one that it was decided under, as acme@3/deps; "" for none.
	Policy string `json:"policy,omitempty"`
}

// EventType names the event "tool.decided".
func (ToolDecided) EventType() Type { return "tool.decided" }

// Check requires tool and verdict.
func (p ToolDecided) Check() error { return require("tool", p.Tool, "verdict", p.Verdict) }

// Fingerprint identifies a set of files with their contents, whatever their order.
// Persisted; never change.
func Fingerprint(files []FileState) string {
	var text strings.Builder
	for _, f := range slices.SortedFunc(slices.Values(files), func(a, b FileState) int { return strings.Compare(a.Path, b.Path) }) {
		// Lengths keep a path with a line break from posing as two files.
		fmt.Fprintf(&text, "%d:%s %s\n", len(f.Path), f.Path, f.SHA256)
	}
	return digest.Hex(text.String())
}

// FileState is a file's content at a moment.
type FileState struct {
	Path   string `json:"path"`             // relative to the project root with slashes, or absolute outside it
	SHA256 string `json:"sha256,omitempty"` // hex; "" when the file does not exist
	Bytes  int64  `json:"bytes,omitempty"`
}

// ToolFinished records that a tool ran, or failed.
type ToolFinished struct {
	Tool      string      `json:"tool"`
	ToolUseID string      `json:"tool_use_id,omitempty"`
	Failed    bool        `json:"failed,omitempty"`
	Error     string      `json:"error,omitempty"`
	Files     []FileState `json:"files,omitempty"` // what it wrote, as it stands now
	Tests     []string    `json:"tests,omitempty"` // tests now pending because of it, relative paths
	Millis    int64       `json:"millis,omitempty"`
	Agent     string      `json:"agent,omitempty"`
}

// EventType names the event "tool.finished".
func (ToolFinished) EventType() Type { return "tool.finished" }

// ModeChanged records a change of the session's mode.
type ModeChanged struct {
	From         string   `json:"from,omitempty"`
	To           string   `json:"to"`
	Orchestrator bool     `json:"orchestrator,omitempty"`
	Repro        []string `json:"repro,omitempty"`    // files of a debug reproduction, relative or absolute
	Restored     bool     `json:"restored,omitempty"` // work was parked and comes back with its phase and gates
}

// EventType names the event "mode.changed".
func (ModeChanged) EventType() Type { return "mode.changed" }

// Check requires the new mode.
func (p ModeChanged) Check() error { return require("to", p.To) }

// PhaseChanged records a step between the phases of work.
type PhaseChanged struct {
	From   string `json:"from,omitempty"`
	To     string `json:"to"`
	Reason string `json:"reason,omitempty"`
}

// EventType names the event "phase.changed".
func (PhaseChanged) EventType() Type { return "phase.changed" }

// Check requires the new phase.
func (p PhaseChanged) Check() error { return require("to", p.To) }

// ChannelText names a channel of approvals for people.
func ChannelText(channel string) string {
	if channel == "prompt_unsourced" {
		return "prompt (the host does not say who typed it)"
	}
	return channel
}

// GateApproved records that the user let a gate open, and for exactly what.
type GateApproved struct {
	Gate         string      `json:"gate"`        // plan, tests, implementation
	Fingerprint  string      `json:"fingerprint"` // of Files
	Files        []FileState `json:"files"`
	Channel      string      `json:"channel"`   // command, dialog, prompt, prompt_unsourced, dashboard, terminal, passkey
	Assurance    string      `json:"assurance"` // prompt, command, dashboard, terminal, passkey; older: pattern, tool
	ActID        string      `json:"act_id"`    // the user's act; one act approves once
	NextPhase    string      `json:"next_phase,omitempty"`
	Capabilities []string    `json:"capabilities,omitempty"` // of an approved plan
	PlannedFiles []string    `json:"planned_files,omitempty"`
	Signed       *Signed     `json:"signed,omitempty"` // by the person, at the terminal
	// With are the signatures of the others who approved the same, each over an act of
	// its own, where two persons are asked for.
	With []Signed `json:"with,omitempty"`
}

// EventType names the event "gate.approved".
func (GateApproved) EventType() Type { return "gate.approved" }

// Signature implements PersonAct.
func (p GateApproved) Signature() *Signed { return p.Signed }

// ActDigest implements PersonAct.
func (p GateApproved) ActDigest() string { return p.Gate + " " + p.Fingerprint }

// ApprovalGiven records that one of two persons approved, who are both needed before
// the gate opens.
type ApprovalGiven struct {
	Gate        string  `json:"gate"`
	Fingerprint string  `json:"fingerprint"` // of what they approved
	Channel     string  `json:"channel"`
	ActID       string  `json:"act_id"`
	Signed      *Signed `json:"signed"`
}

// EventType names the event "approval.given".
func (ApprovalGiven) EventType() Type { return "approval.given" }

// Check requires the gate, what was approved, and the signature.
func (p ApprovalGiven) Check() error {
	if p.Signed == nil {
		return fmt.Errorf("%w: no signature", ErrInvalid)
	}
	return require("gate", p.Gate, "fingerprint", p.Fingerprint, "act_id", p.ActID)
}

// Act is what the person signed: an approval, whichever of the two it is.
func (p ApprovalGiven) Act() GateApproved {
	return GateApproved{Gate: p.Gate, Fingerprint: p.Fingerprint, ActID: p.ActID, Signed: p.Signed}
}

// Signed is a person's signature over an act: what ActText says of it.
type Signed struct {
	Key       string    `json:"key"`                // public, as `writ approve key` prints it
	Act       string    `json:"act"`                // the act's own id, drawn by who signs
	Revision  int       `json:"revision,omitempty"` // of a rule, as the person saw it; 0 does not say
	Time      time.Time `json:"time"`
	Signature []byte    `json:"signature"` // Ed25519
}

// PersonAct is the payload of an act that a person may have signed.
type PersonAct interface {
	Payload
	// Signature is nil where the person has no key, or acted elsewhere than in a
	// terminal.
	Signature() *Signed
	// ActDigest names what was decided about, "" where the revision does. No words
	// of the person are in it: redaction may change those.
	ActDigest() string
}

// ActText is what a person signs of an act (persisted; never change): the subject
// of its event, which has session or rule and the kind of act, its own id, what was
// decided, and when. The key and the signature are not in it.
func ActText(subject, digest string, s Signed) []byte {
	return fmt.Appendf(nil, "writ act v1\n%s\n%s\n%s\n%d\n%s\n", subject, s.Act, digest, s.Revision, s.Time.UTC().Format(time.RFC3339))
}

// Check requires gate, fingerprint, channel and act.
func (p GateApproved) Check() error {
	return require("gate", p.Gate, "fingerprint", p.Fingerprint, "channel", p.Channel, "act_id", p.ActID)
}

// Assurances are the words for how sure it is that a person acted, in rising order
// (persisted; never change).
func Assurances() []string { return []string{"prompt", "command", "dashboard", "terminal", "passkey"} }

// FileChange says how a file left its approved state.
type FileChange struct {
	Path string `json:"path"`
	Was  string `json:"was,omitempty"` // SHA-256 approved
	Is   string `json:"is,omitempty"`  // SHA-256 found, "" when the file is gone
}

// GateDrifted records that approved files were changed from outside.
type GateDrifted struct {
	Gate    string       `json:"gate"`
	Changes []FileChange `json:"changes"`
}

// EventType names the event "gate.drifted".
func (GateDrifted) EventType() Type { return "gate.drifted" }

// Check requires the gate.
func (p GateDrifted) Check() error { return require("gate", p.Gate) }

// GateInvalidated records that an approval was taken back deliberately.
type GateInvalidated struct {
	Gate      string `json:"gate"`
	Reason    string `json:"reason"`
	Rule      string `json:"rule,omitempty"`      // the rule behind it, if one is
	Diagnosis string `json:"diagnosis,omitempty"` // set on escalation: same_rule, different_rules, mixed
}

// EventType names the event "gate.invalidated".
func (GateInvalidated) EventType() Type { return "gate.invalidated" }

// Check requires gate and reason.
func (p GateInvalidated) Check() error { return require("gate", p.Gate, "reason", p.Reason) }

// GatesClosed closes whatever a session was let do, since the log no longer has
// events that may have been the session's and may have closed it.
type GatesClosed struct {
	Reason string `json:"reason"`          // what the log lacks, for people
	Mode   string `json:"mode,omitempty"`  // that is left, "" for none
	Phase  string `json:"phase,omitempty"` // of that
}

// EventType names the event "gates.closed".
func (GatesClosed) EventType() Type { return "gates.closed" }

// Check requires the reason.
func (p GatesClosed) Check() error { return require("reason", p.Reason) }

// GateDeclined records that the user looked at what waits and wants it changed.
type GateDeclined struct {
	Gate        string `json:"gate"`
	Fingerprint string `json:"fingerprint"` // of what the user saw
	Reason      string `json:"reason"`      // the user's words
	Channel     string `json:"channel"`     // dashboard, terminal
	ActID       string `json:"act_id"`
}

// EventType names the event "gate.declined".
func (GateDeclined) EventType() Type { return "gate.declined" }

// Check requires gate, fingerprint, reason, channel and act.
func (p GateDeclined) Check() error {
	return require("gate", p.Gate, "fingerprint", p.Fingerprint, "reason", p.Reason, "channel", p.Channel, "act_id", p.ActID)
}

// PlanExtended records files that the user let in beside those that the approved
// plan names, or those of it that are to go.
type PlanExtended struct {
	Files     []string `json:"files"`                 // relative to the project root; a slash at the end takes in what is below
	Channel   string   `json:"channel"`               // as of an approval, or answer
	ActID     string   `json:"act_id,omitempty"`      // the user's act
	ToolUseID string   `json:"tool_use_id,omitempty"` // the tool that the user was asked about
}

// EventType names the event "plan.extended".
func (PlanExtended) EventType() Type { return "plan.extended" }

// Check requires the channel.
func (p PlanExtended) Check() error { return require("channel", p.Channel) }

// ToolAccepted records that the user let a tool of a server run of which nothing
// says that it only reads; it is asked for no more in this project.
type ToolAccepted struct {
	Tool      string `json:"tool"`
	Channel   string `json:"channel"`               // answer
	ToolUseID string `json:"tool_use_id,omitempty"` // the call that the user was asked about
}

// EventType names the event "tool.accepted".
func (ToolAccepted) EventType() Type { return "tool.accepted" }

// Check requires tool and channel.
func (p ToolAccepted) Check() error { return require("tool", p.Tool, "channel", p.Channel) }

// PlanReopened records that the user wished for something new: the approvals are
// put aside and planning begins again.
type PlanReopened struct {
	Reason string `json:"reason"` // done: the plan's work was; named: the user said that it is another task
}

// EventType names the event "plan.reopened".
func (PlanReopened) EventType() Type { return "plan.reopened" }

// Check requires the reason.
func (p PlanReopened) Check() error { return require("reason", p.Reason) }

// PlanResumed records that the user goes on under the approvals put aside.
type PlanResumed struct {
	Channel string `json:"channel"` // as of an approval
	ActID   string `json:"act_id"`
}

// EventType names the event "plan.resumed".
func (PlanResumed) EventType() Type { return "plan.resumed" }

// Check requires channel and act.
func (p PlanResumed) Check() error { return require("channel", p.Channel, "act_id", p.ActID) }

// ApprovalRefused records an attempt to approve that did not count.
type ApprovalRefused struct {
	Gate     string   `json:"gate,omitempty"`
	Channel  string   `json:"channel"`
	Reason   string   `json:"reason"`
	Problems []string `json:"problems,omitempty"`
	ActID    string   `json:"act_id,omitempty"`
}

// EventType names the event "approval.refused".
func (ApprovalRefused) EventType() Type { return "approval.refused" }

// Check requires channel and reason.
func (p ApprovalRefused) Check() error { return require("channel", p.Channel, "reason", p.Reason) }

// SubagentStarted links a sub-agent's session to its parent's.
type SubagentStarted struct {
	AgentID   string `json:"agent_id"`
	AgentType string `json:"agent_type,omitempty"`
}

// EventType names the event "subagent.started".
func (SubagentStarted) EventType() Type { return "subagent.started" }

// Check requires the agent's id.
func (p SubagentStarted) Check() error { return require("agent_id", p.AgentID) }

// SubagentStopped records a sub-agent's end.
type SubagentStopped struct {
	AgentID string `json:"agent_id"`
	Message string `json:"message,omitempty"` // its last words
}

// EventType names the event "subagent.stopped".
func (SubagentStopped) EventType() Type { return "subagent.stopped" }

// Check requires the agent's id.
func (p SubagentStopped) Check() error { return require("agent_id", p.AgentID) }

// ContextCompacted records that the host shortened the conversation: what was
// shown before is forgotten by the model, phase and gates stay.
type ContextCompacted struct {
	Stage   string `json:"stage"` // "before" or "after"
	Trigger string `json:"trigger,omitempty"`
}

// EventType names the event "context.compacted".
func (ContextCompacted) EventType() Type { return "context.compacted" }

// Check requires the stage.
func (p ContextCompacted) Check() error { return require("stage", p.Stage) }

// HookObserved records a host event that no policy decides: it is kept, so
// that audits and later policies see it, and the host goes on.
type HookObserved struct {
	Host   string         `json:"host"`
	Hook   string         `json:"hook"`             // the host's name of the event
	Fields map[string]any `json:"fields,omitempty"` // short scalar fields of the payload
	Digest string         `json:"digest,omitempty"` // SHA-256 of the payload as sent
	Bytes  int            `json:"bytes,omitempty"`
	At     time.Time      `json:"at,omitzero"` // the host's own time, if it gives one
}

// EventType names the event "hook.observed".
func (HookObserved) EventType() Type { return "hook.observed" }

// Check requires host and hook.
func (p HookObserved) Check() error { return require("host", p.Host, "hook", p.Hook) }
