package schemas

import "time"

func registerTests(add func(Type, definition)) {
	add(define[TestsFinished](KindSession))
	add(define[ContentChecked](KindSession))
	add(define[SessionAudited](KindSession))
}

// Outcomes of tests and checks (persisted; never change).
const (
	OutcomePassed   = "passed"
	OutcomeFailed   = "failed"
	OutcomeUnknown  = "unknown"   // they ran, and how they ended cannot be told
	OutcomeTimedOut = "timed_out" // ended by Writ after their time
	OutcomeNotRun   = "not_run"   // the command could not be started
)

// TestsFinished records that tests or other checks ran, and how they ended: the
// evidence that a change was verified.
type TestsFinished struct {
	Trigger   string   `json:"trigger"` // "stop": Writ ran them as the turn ended; "tool": the agent's own command
	Kind      string   `json:"kind"`    // "test", or "check": a compiler, linter or type checker
	Command   string   `json:"command"`
	Outcome   string   `json:"outcome"` // passed, failed, unknown, timed_out, not_run
	Exit      int      `json:"exit,omitempty"`
	Millis    int64    `json:"millis,omitempty"`
	Files     []string `json:"files,omitempty"`  // changed since the run before, relative to the project
	Output    string   `json:"output,omitempty"` // its end
	Confined  bool     `json:"confined,omitempty"`
	ToolUseID string   `json:"tool_use_id,omitempty"`
	Agent     string   `json:"agent,omitempty"`
}

// EventType names the event "tests.finished".
func (TestsFinished) EventType() Type { return "tests.finished" }

// Check requires trigger, kind, command and outcome.
func (p TestsFinished) Check() error {
	return require("trigger", p.Trigger, "kind", p.Kind, "command", p.Command, "outcome", p.Outcome)
}

// ContentChecked records which rules' mechanical checks a change passed and
// which it broke, of the rules that had been shown.
type ContentChecked struct {
	Path      string   `json:"path"`               // relative to the project, slashes
	Followed  []string `json:"followed,omitempty"` // rule ids, sorted
	Broken    []string `json:"broken,omitempty"`   // rule ids, sorted
	ToolUseID string   `json:"tool_use_id,omitempty"`
}

// EventType names the event "content.checked".
func (ContentChecked) EventType() Type { return "content.checked" }

// Check requires the path.
func (p ContentChecked) Check() error { return require("path", p.Path) }

// SessionAudited sums a session up: what it was shown, what it did with that,
// and what stands open.
type SessionAudited struct {
	Shown       []string       `json:"shown,omitempty"`       // rule ids that reached the agent
	Followed    []string       `json:"followed,omitempty"`    // of those, rules whose check a change passed
	Broken      []string       `json:"broken,omitempty"`      // rules whose check a change broke
	Left        []Violation    `json:"left,omitempty"`        // violations not fixed
	Coverage    float64        `json:"coverage"`              // share of the shown rules that a check judged, 0 to 1
	Denied      map[string]int `json:"denied,omitempty"`      // refusals by rule id
	Refusals    int            `json:"refusals,omitempty"`    // tool requests refused
	Written     []string       `json:"written,omitempty"`     // files written
	Approvals   []string       `json:"approvals,omitempty"`   // "plan by command", in the order of the gates
	Untested    []string       `json:"untested,omitempty"`    // files changed since the tests last ran
	TestRuns    int            `json:"test_runs,omitempty"`   // runs of tests and checks
	TestFails   int            `json:"test_fails,omitempty"`  // of those, failed
	LastRun     string         `json:"last_run,omitempty"`    // outcome of the last
	Compacted   int            `json:"compacted,omitempty"`   // times the conversation was shortened
	Invalidated int            `json:"invalidated,omitempty"` // approvals taken back
}

// EventType names the event "session.audited".
func (SessionAudited) EventType() Type { return "session.audited" }

// MaxTestTime is the longest that tests may hold the end of a turn. Hooks of
// the end of a turn wait that long, and a little more.
const MaxTestTime = 5 * time.Minute

// TestRun is what a hook's process is asked to run before a turn may end.
type TestRun struct {
	ID      string `json:"id"`      // names the run in its result
	Command string `json:"command"` // for a POSIX shell
	Project string `json:"project"` // where it runs, absolute
	// Confine are the options of `writ confine` it runs under, none where this
	// system cannot confine.
	Confine []string `json:"confine,omitempty"`
	Millis  int64    `json:"millis"` // its time; what still runs then is killed
}

// TestResult says how a [TestRun] ended.
type TestResult struct {
	ID       string `json:"id"`
	Exit     int    `json:"exit"`
	TimedOut bool   `json:"timed_out,omitempty"`
	NotRun   string `json:"not_run,omitempty"` // why it could not be started
	Millis   int64  `json:"millis"`
	Output   string `json:"output,omitempty"` // its end
}
