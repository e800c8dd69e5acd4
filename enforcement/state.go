package enforcement

import (
	"slices"
	"time"

	"github.com/writbus/writ/schemas"
)

// StateVersion is the version of State's encoding and of the fold. A stored
// state of another version is folded again from the log.
const StateVersion = 13

// Modes (persisted; never change). The empty mode is "not chosen yet".
const (
	ModeConversation = "conversation"
	ModeDebug        = "debug"
	ModeReview       = "review"
	ModeSmall        = "small"
	ModeWork         = "work"
)

// Phases of work (persisted; never change).
const (
	PhasePlanning       = "planning"
	PhaseTesting        = "testing"
	PhaseImplementation = "implementation"
	PhaseVerification   = "verification"
)

// Gates between the phases (persisted; never change).
const (
	GatePlan           = "plan"
	GateTests          = "tests"
	GateImplementation = "implementation"
)

// Files that stand for the plan, relative to the project root.
const (
	PlanFile         = "plan.md"
	CapabilitiesFile = "capabilities.md"
)

// State is a session as its events tell it. The zero State is a session before
// its first event. A State is a value: Evolve never changes one that it was
// given, and readers must not change the maps and slices in it.
//
// Between the fields holds, after any events (TestEvolveTakesAnything):
//
//  1. Outside work mode Work has no phase and no open gate.
//  5. Fresh and Instructed are part of Shown.
//  6. Refusals is the sum of Denials, and Streak counts at most the denials of
//     its rule.
//  7. Before is empty unless Resuming.
//  8. Roles are those of Agents.
//  9. Pending has at most maxPending writes (TestPendingIsBounded).
//  10. Small is empty outside of small mode (TestSmallCountsWhatWasWritten).
//  11. Every list of names is sorted and has no name twice; Violations are sorted
//     by path and line.
//  12. While Closed is set no gate is open, in parked work and in work that was put
//     aside as well.
//
// and after the events of decisions, in their order (TestModel), besides:
//
//  2. In work mode no work is parked.
//  3. Tests are open only where the plan is, the implementation only where the
//     tests are; in parked work as well.
//  4. The act that opened a gate is in Acts, used up for this gate.
type State struct {
	Host      string `json:"host,omitempty"`
	Project   string `json:"project,omitempty"` // absolute root
	Dir       string `json:"dir,omitempty"`     // absolute working folder
	Model     string `json:"model,omitempty"`
	Parent    string `json:"parent,omitempty"` // session id of the parent, for a sub-agent
	AgentType string `json:"agent_type,omitempty"`
	Subagents string `json:"subagents,omitempty"` // "", "exempt" or "inherit", the project's word
	Began     int64  `json:"began,omitempty"`     // seconds since 1970, 0 where that is not known
	// Head is the commit that the work tree was at then, NoHead where there was none,
	// "" where that is not known.
	Head  string `json:"head,omitempty"`
	Ended bool   `json:"ended,omitempty"`

	Mode         string   `json:"mode,omitempty"`
	Orchestrator bool     `json:"orchestrator,omitempty"`
	Repro        []string `json:"repro,omitempty"` // files of the debug reproduction, as declared
	Small        Small    `json:"small,omitempty"`
	Work         Work     `json:"work,omitzero"` // of work mode
	Parked       *Work    `json:"parked,omitempty"`
	// Closed says why nothing that the user opened before counts any more, until
	// they open something again; "" where it counts.
	Closed string `json:"closed,omitempty"`

	Shown  []string `json:"shown,omitempty"`  // rules shown to this session, sorted
	Fresh  []string `json:"fresh,omitempty"`  // those of Shown that the model still has and need not be repeated in this phase, sorted
	Named  []string `json:"named,omitempty"`  // rules of which the model has a line, since Fresh began anew, sorted
	Tokens int      `json:"tokens,omitempty"` // injected since Fresh began anew
	Spent  int      `json:"spent,omitempty"`  // tokens of rules that were injected in all
	// Instructed are rules that stand in the instructions which the host itself
	// gives the model, sorted.
	Instructed []string `json:"instructed,omitempty"`
	// Resuming is set from a compaction until the model was told where it stands;
	// Before are the rules it had then.
	Resuming bool     `json:"resuming,omitempty"`
	Before   []string `json:"before,omitempty"`

	Written []string `json:"written,omitempty"` // files written, relative or absolute, sorted
	// PendingTests are the files changed since tests last ran, and Unverified
	// those changed since a run of tests or checks last ended well; relative to
	// the project, sorted.
	PendingTests []string       `json:"pending_tests,omitempty"`
	Unverified   []string       `json:"unverified,omitempty"`
	Evidence     Evidence       `json:"evidence,omitzero"` // the last run of tests or checks
	Failing      bool           `json:"failing,omitempty"` // the last tests failed
	Late         bool           `json:"late,omitempty"`    // they ended after the turn, and nobody was told
	Unrun        string         `json:"unrun,omitempty"`   // why the last tests that could not be run could not
	Ran          Ran            `json:"ran,omitzero"`
	Pending      []PendingWrite `json:"pending,omitempty"` // decided and not yet finished, oldest first
	Denials      map[string]int `json:"denials,omitempty"` // by rule id
	Streak       Streak         `json:"streak,omitzero"`
	Refusals     int            `json:"refusals,omitempty"` // tool requests refused

	// Violations of rules in files this session changed, not fixed yet, by path
	// and line.
	Violations []schemas.Violation `json:"violations,omitempty"`
	Followed   []string            `json:"followed,omitempty"` // rules whose check a change passed, sorted
	Broken     []string            `json:"broken,omitempty"`   // rules whose check a change broke, sorted

	// Acts are the users' acts that were used up, with what they did: a gate's
	// name, or "refused".
	Acts map[string]string `json:"acts,omitempty"`
	// Given are the approvals of single persons, where two are needed.
	Given []Given `json:"given,omitempty"`
	// ApprovedNow is the gate approved since the last prompt began, if one was.
	ApprovedNow string `json:"approved_now,omitempty"`
	// Queued are digests of prompts that tools handed in for later, oldest first.
	Queued []string `json:"queued,omitempty"`
	// Accepted are tools of servers that the user let run although nothing says
	// that they only read, sorted.
	Accepted   []string `json:"accepted,omitempty"`
	LastPrompt Prompt   `json:"last_prompt,omitzero"`
	// Draft is the SHA-256 of plan.md as this session last left it.
	Draft         string         `json:"draft,omitempty"`
	Invalidations []Invalidation `json:"invalidations,omitempty"` // in order
	Agents        []string       `json:"agents,omitempty"`        // running sub-agents, sorted
	Briefs        []Brief        `json:"briefs,omitempty"`        // sub-agents asked for, oldest first
	// Roles are those of running sub-agents, by id.
	Roles map[string]string `json:"roles,omitempty"`
	// Unreviewed are the files changed since somebody compared the work with the
	// plan, sorted.
	Unreviewed  []string `json:"unreviewed,omitempty"`
	Stops       bool     `json:"stops,omitempty"` // the host has told of a turn's end
	Compactions int      `json:"compactions,omitempty"`
	Compacting  bool     `json:"compacting,omitempty"` // between PreCompact and PostCompact
}

// Work is the position in a round of work; leaving work mode parks it.
type Work struct {
	Phase string          `json:"phase,omitempty"`
	Gates map[string]Gate `json:"gates,omitempty"` // the approved ones, by name
	// TestFiles are the test files this session wrote, relative, sorted.
	TestFiles []string `json:"test_files,omitempty"`
	// Left is the content (SHA-256, "" for none) in which this session's own
	// allowed writes left files during implementation, by relative path.
	Left map[string]string `json:"left,omitempty"`
	// Declined has what the user wants changed before they approve, by gate.
	Declined map[string]string `json:"declined,omitempty"`
	// DeclinedAs are the fingerprints of what they saw then.
	DeclinedAs map[string]string `json:"declined_as,omitempty"`
	// Added are the files that the user let in beside those the plan names,
	// sorted, and Asked those last asked for.
	Added []string `json:"added,omitempty"`
	Asked []string `json:"asked,omitempty"`
	// Written are the files written in implementation since the plan was
	// approved, sorted, and Rested says that the agent ended its turn since.
	Written []string `json:"written,omitempty"`
	Rested  bool     `json:"rested,omitempty"`
	// InTurn says that something was written since the agent last ended its turn.
	InTurn bool `json:"in_turn,omitempty"`
	// Seen is what running the test files showed, by relative path.
	Seen map[string]Seen `json:"seen,omitempty"`
	// Drafted says that this session wrote plan.md for this work.
	Drafted bool `json:"drafted,omitempty"`
	// Aside is the work of the plan before, put aside for a new wish.
	Aside *Work `json:"aside,omitempty"`
}

// Gate is a gate that the user opened.
type Gate struct {
	Fingerprint  string               `json:"fingerprint"`
	Files        []schemas.FileState  `json:"files"`
	Channel      string               `json:"channel"`
	Assurance    string               `json:"assurance"`
	ActID        string               `json:"act_id"`
	ApprovedAt   time.Time            `json:"approved_at"`
	Capabilities []string             `json:"capabilities,omitempty"` // of a plan
	Planned      []string             `json:"planned,omitempty"`      // of a plan: files to exist at the end
	Drift        []schemas.FileChange `json:"drift,omitempty"`        // as last recorded
}

// PendingWrite is a tool that was let through and has not reported back.
type PendingWrite struct {
	ID      string          `json:"id"`
	Tool    string          `json:"tool"`
	Phase   string          `json:"phase,omitempty"`  // when it was decided
	Allowed bool            `json:"allowed"`          // by policy; false: the user was asked
	Open    bool            `json:"open,omitempty"`   // what it writes could not be told
	Beyond  []string        `json:"beyond,omitempty"` // files for which the user was asked, since the plan does not name them
	Old     bool            `json:"old,omitempty"`    // decided before the last prompt, or end of a turn
	Targets []PendingTarget `json:"targets,omitempty"`
}

// PendingTarget is a file that a pending tool writes.
type PendingTarget struct {
	Path   string `json:"path"`             // relative, or absolute outside the project
	Result string `json:"result,omitempty"` // SHA-256 it would leave, "" where unknown
	Lines  int    `json:"lines,omitempty"`  // in which it would differ from the prompt on, in small mode
}

// Streak counts refusals by the same rule in a row.
type Streak struct {
	Rule  string `json:"rule"`
	Count int    `json:"count"`
}

// Prompt is the last prompt as far as decisions need it.
type Prompt struct {
	ID      string `json:"id,omitempty"`      // the host's, "" where it gives none
	Key     string `json:"key,omitempty"`     // as of promptKey
	Text    string `json:"text,omitempty"`    // only of a slash command
	Command bool   `json:"command,omitempty"` // the host reported it as a typed command
}

// Invalidation is an approval taken back.
type Invalidation struct {
	Gate string `json:"gate"`
	Rule string `json:"rule,omitempty"`
}

// Phase is the phase of work, "" in other modes.
func (s State) Phase() string { return s.Work.Phase }

// Approved reports whether the user opened a gate and nobody closed it. Whether
// its files still are as approved is told by Drifted.
func (s State) Approved(gate string) bool { return s.Work.approved(gate) }

func (w Work) approved(gate string) bool {
	_, ok := w.Gates[gate]
	return ok
}

// Watched lists the relative paths whose contents' hashes every decision on
// this session needs in Workspace.Files: the approved files, sorted.
func (s State) Watched() []string {
	var paths []string
	for _, gate := range watchedGates {
		for _, f := range s.Work.Gates[gate].Files {
			paths = insert(paths, f.Path)
		}
	}
	return paths
}

// ApprovalFiles lists the relative paths whose contents a command that may
// approve or advance needs, sorted: plan.md, the test files written in this
// session or approved before, and for the ends of implementation and verification capabilities.md
// and the planned files (of these only whether they exist). Test files of
// linked sub-agents' own states are to be added by the caller.
func (s State) ApprovalFiles() []string {
	if s.Mode != ModeWork {
		return nil
	}
	paths := insert(s.Watched(), PlanFile)
	if s.Work.Phase != PhasePlanning {
		for _, p := range s.Work.TestFiles {
			paths = insert(paths, p)
		}
	}
	if s.building() {
		paths = insert(paths, CapabilitiesFile)
		for _, p := range s.Work.Gates[GatePlan].Planned {
			paths = insert(paths, p)
		}
	}
	return paths
}

// TestFiles lists the test files whose contents belong in Workspace.Tests,
// sorted: those written in this session and those approved before. Of a
// sub-agent's session they belong in the parent's.
func (s State) TestFiles() []string {
	if s.Mode != ModeWork && s.Parent == "" {
		return nil
	}
	paths := s.Work.TestFiles
	for _, f := range s.Work.Gates[GateTests].Files {
		paths = insert(paths, f.Path)
	}
	return paths
}

// watchedGates are the gates whose files are compared before every decision.
// The gate of the implementation binds the same files.
var watchedGates = []string{GatePlan, GateTests}

// insert returns a sorted slice with v in it; it never changes the old one.
func insert(sorted []string, v string) []string {
	i, found := slices.BinarySearch(sorted, v)
	if found {
		return sorted
	}
	out := make([]string, 0, len(sorted)+1)
	out = append(out, sorted[:i]...)
	out = append(out, v)
	return append(out, sorted[i:]...)
}

// remove returns a sorted slice without v; it never changes the old one.
func remove(sorted []string, v string) []string {
	i, found := slices.BinarySearch(sorted, v)
	if !found {
		return sorted
	}
	out := make([]string, 0, len(sorted)-1)
	return append(append(out, sorted[:i]...), sorted[i+1:]...)
}
