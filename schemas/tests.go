package schemas

import "time"

func registerTests(add func(Type, definition)) {
	add(define[TestsFinished](KindSession, unchanged, unchanged))
	add(define[TestsSeen](KindSession))
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
	// Passed counts the tests that passed, as far as they can be told apart, and
	// Known those that fail in the last commit before the session too: they are no
	// failures of the run. Uncompared says why the others were not compared.
	Passed     int    `json:"passed,omitempty"`
	Known      int    `json:"known,omitempty"`
	Uncompared string `json:"uncompared,omitempty"`
	// Unrun says of a run in which tests ran why others could not.
	Unrun string `json:"unrun,omitempty"`
	Late  bool   `json:"late,omitempty"` // it ended in the background, after the turn
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

// NoHead stands for the commit of a work tree that has none.
const NoHead = "none"

// TestRun is what a hook's process is asked to run before a turn may end.
type TestRun struct {
	ID string `json:"id"` // names the run in its result
	// Command is the project's own, for a POSIX shell; "" where the tests that
	// Changed can reach are to be found, or only Files run.
	Command string `json:"command"`
	Project string `json:"project"` // where it runs, absolute
	// Changed are the files that tests are due for, relative to the project.
	Changed []string `json:"changed,omitempty"`
	// Chosen says that all tests of a project ran once in this turn already: only
	// tests that are chosen by the change run again.
	Chosen bool `json:"chosen,omitempty"`
	// Began is when the session began, in seconds since 1970: failures that the
	// last commit before have too are not new. 0 compares with nothing.
	Began int64 `json:"began,omitempty"`
	// Head is the commit that the work tree was at when the session began, NoHead
	// where there was none. "" is not known: the last one before Began by its date
	// stands for it.
	Head string `json:"head,omitempty"`
	// Base is the commit that earlier failures were compared with; Known are those
	// that it has too, and New those that it has not.
	Base  string   `json:"base,omitempty"`
	Known []string `json:"known,omitempty"`
	New   []string `json:"new,omitempty"`
	// WaitMillis is how long the end of the turn waits for the result. What takes
	// longer goes on in the background and is reported when it ends.
	WaitMillis int64 `json:"wait_millis,omitempty"`
	// Confine are the options of `writ confine` it runs under, none where this
	// system cannot confine.
	Confine []string `json:"confine,omitempty"`
	Millis  int64    `json:"millis"` // its time; what still runs then is killed
	// Files are test files that run one by one, confined, each as often as Times
	// says, within FilesMillis in all.
	Files       []TestFile `json:"files,omitempty"`
	Times       int        `json:"times,omitempty"`
	FilesMillis int64      `json:"files_millis,omitempty"`
}

// TestResult says how a [TestRun] ended.
type TestResult struct {
	ID       string `json:"id"`
	Exit     int    `json:"exit"`
	TimedOut bool   `json:"timed_out,omitempty"`
	NotRun   string `json:"not_run,omitempty"` // why it could not be started
	Millis   int64  `json:"millis"`
	Output   string `json:"output,omitempty"` // of what failed anew: a line a test, and the output's end
	// Command is what ran, "" for nothing. Passed counts the tests that passed, as
	// far as they can be told apart.
	Command string `json:"command,omitempty"`
	Passed  int    `json:"passed,omitempty"`
	// New are tests that failed and that Base has not failing; Known fail there too.
	// Uncompared says why nothing was compared.
	New        []string `json:"new,omitempty"`
	Known      []string `json:"known,omitempty"`
	Base       string   `json:"base,omitempty"`
	Uncompared string   `json:"uncompared,omitempty"`
	Unrun      []string `json:"unrun,omitempty"` // why some tests could not be run
	// Whole says that nothing chose among some of the tests, and Left that such
	// were left out, as [TestRun.Chosen] asks.
	Whole bool `json:"whole,omitempty"`
	Left  bool `json:"left,omitempty"`
	// Behind says that the run goes on in the background: nothing else is known yet.
	Behind bool `json:"behind,omitempty"`
	// Files are the results of the run's files, in their order.
	Files []TestFileResult `json:"files,omitempty"`
}

// Verdicts on a test file that ran before its approval, or at the end of the work
// (persisted; never change).
const (
	SeenRed     = "red"     // failed each time, for something that the plan promises
	SeenPasses  = "passes"  // all that ran passed
	SeenDiffers = "differs" // passed once and failed once
	SeenBroken  = "broken"  // failed by a fault of the tests themselves
	SeenUnclear = "unclear" // failed for something that the plan does not promise
	SeenNotRun  = "not_run" // nothing of it came to an end
)

// TestsSeen records what running a test file showed, the content being that of its
// digest.
type TestsSeen struct {
	Path    string `json:"path"` // relative to the project, slashes
	SHA256  string `json:"sha256"`
	Support string `json:"support,omitempty"` // fingerprint of the files that serve the session's tests, "" for none
	Verdict string `json:"verdict"`           // red, passes, differs, broken, unclear, not_run
	Red     int    `json:"red,omitempty"`     // tests that failed for something that the plan promises; a file that cannot be built counts once
	Passed  int    `json:"passed,omitempty"`
	Skipped int    `json:"skipped,omitempty"`
	Other   int    `json:"other,omitempty"` // tests that failed for anything else, or only sometimes
	// Line is the first line that says why a test failed, and Reason why the file
	// was not run.
	Line   string `json:"line,omitempty"`
	Reason string `json:"reason,omitempty"`
	Millis int64  `json:"millis,omitempty"`
}

// EventType names the event "tests.seen".
func (TestsSeen) EventType() Type { return "tests.seen" }

// Check requires path and verdict.
func (p TestsSeen) Check() error { return require("path", p.Path, "verdict", p.Verdict) }

// Causes of a test's failure.
const (
	FailAssertion = "assertion" // what the test asserts does not hold
	FailMissing   = "missing"   // a module, or a name that a module has not
	FailFault     = "fault"     // the test itself cannot run
	FailOther     = "other"     // anything else
)

// TestFile is a test file to be run by itself.
type TestFile struct {
	Path    string `json:"path"` // relative to the project, slashes
	Dir     string `json:"dir,omitempty"`
	Tool    string `json:"tool"`              // whose output is to be read
	Command string `json:"command"`           // for a POSIX shell in Dir; its standard output is what is read
	Make    string `json:"make,omitempty"`    // a file that the tool has to make, relative to the project
	Support string `json:"support,omitempty"` // as of TestsSeen
}

// TestFileResult says what running a test file showed, as often as it ran.
type TestFileResult struct {
	Path    string        `json:"path"`
	SHA256  string        `json:"sha256"`
	Support string        `json:"support,omitempty"`
	NotRun  string        `json:"not_run,omitempty"` // why nothing came to an end
	Passed  int           `json:"passed,omitempty"`
	Skipped int           `json:"skipped,omitempty"`
	Differs []string      `json:"differs,omitempty"` // tests that passed once and failed once
	Failed  []TestFailure `json:"failed,omitempty"`  // in the last run, those that failed each time
	Millis  int64         `json:"millis,omitempty"`
}

// TestFailure is a test that failed.
type TestFailure struct {
	Name  string `json:"name,omitempty"`
	Cause string `json:"cause"`
	// Module and Symbol are what is missing: a module as the test names it or a path,
	// a name, or a name of a module.
	Module string `json:"module,omitempty"`
	Symbol string `json:"symbol,omitempty"`
	Whole  bool   `json:"whole,omitempty"` // no test of the file could begin
	Line   string `json:"line,omitempty"`  // what the runner says of it, in a line
}
