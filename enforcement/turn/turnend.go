package turn

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/enforcement/confine/runner"
	"github.com/writbus/writ/enforcement/host"
	"github.com/writbus/writ/enforcement/testrun/due"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/excerpt"
)

const (
	// reportGrace is how long after a run's time its result is waited for.
	reportGrace = 10 * time.Second
	// keptBases bounds the projects of which failures are remembered, and keptRuns the
	// runs of a session that go on behind its turns.
	keptBases, keptRuns = 64, 4
)

// testRuns are the runs of tests that hooks' processes were asked to make.
type testRuns struct {
	sessions Sessions
	runner   runner.Runner
	now      func() time.Time

	mu        sync.Mutex
	bySession map[string][]pendingRun
	// wholes are the prompts in whose turns tests ran that nothing chose, by
	// session, and bases the failures that were compared with a commit, by project.
	wholes map[string]string
	bases  map[string]schemas.TestResult
}

type pendingRun struct {
	schemas.TestRun
	files   []string
	workers []string // linked sessions whose changes the run covers as well
	until   time.Time
	turn    string              // the prompt that it belongs to
	behind  bool                // the turn ended without it
	were    []schemas.FileState // what the files held
	written []schemas.FileState // what all held that the session wrote, while code is written
}

// begin notes a run, unless one of the session is under way that a turn's end waits
// for – a hook that is installed twice asks twice – or one goes on in the background
// that shows the same.
func (r *testRuns) begin(session string, run pendingRun, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, all := range r.bySession {
		if all = slices.DeleteFunc(all, func(other pendingRun) bool { return now.After(other.until) }); len(all) == 0 {
			delete(r.bySession, id)
		} else {
			r.bySession[id] = all
		}
	}
	all := r.bySession[session]
	if slices.ContainsFunc(all, func(other pendingRun) bool { return !other.behind || other.shows(run) }) {
		return false
	}
	if r.bySession == nil {
		r.bySession = map[string][]pendingRun{}
	}
	r.bySession[session] = append(all[max(len(all)-keptRuns+1, 0):], run)
	return true
}

// shows says whether what comes of a run tells all that comes of another.
func (run pendingRun) shows(other pendingRun) bool {
	return len(other.Files) == 0 && slices.Equal(run.files, other.files) && slices.Equal(run.were, other.were)
}

// end takes a run by its id, once, and remembers what the result says of others.
// One that goes on in the background stays.
func (r *testRuns) end(session string, result schemas.TestResult) (pendingRun, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.bySession[session]
	at := slices.IndexFunc(all, func(run pendingRun) bool { return run.ID == result.ID })
	if at < 0 || result.Behind && all[at].behind {
		return pendingRun{}, false
	}
	if result.Behind {
		all[at].behind = true
		return all[at], true
	}
	run := all[at]
	r.bySession[session] = slices.Delete(all, at, at+1)
	if result.Whole {
		r.wholes = remember(r.wholes, session, run.turn)
	}
	if result.Base != "" && result.Uncompared == "" {
		if before := r.bases[run.Project]; before.Base == result.Base {
			result.Known = slices.Compact(slices.Sorted(slices.Values(append(result.Known, before.Known...))))
		}
		r.bases = remember(r.bases, run.Project, schemas.TestResult{Base: result.Base, Known: result.Known, New: result.New})
	}
	return run, true
}

// remember keeps a value, and of all others as many as there is room for.
func remember[V any](all map[string]V, key string, value V) map[string]V {
	if all == nil || len(all) >= keptBases {
		all = map[string]V{}
	}
	all[key] = value
	return all
}

// underWay says whether a turn's end waits for a run of the session, and whether one
// goes on in the background for the files as they stand.
func (r *testRuns) underWay(t turn) (waited, behind bool) {
	r.mu.Lock()
	all, now := slices.Clone(r.bySession[t.Session]), r.now()
	r.mu.Unlock()
	for _, run := range all {
		switch {
		case now.After(run.until):
		case !run.behind:
			waited = true
		case len(run.files) > 0 && slices.Equal(run.were, statesOf(t, run.files)):
			behind = true
		}
	}
	return waited, behind
}

// due is the run that has to come before a turn may end, nil for none. The
// process of the hook makes it, in the environment of the agent's host, and
// calls again; the daemon waits for nobody.
func (r *testRuns) due(ctx context.Context, t turn, header schemas.Header) *schemas.TestRun {
	able := header.Get(schemas.HookHeaderRuns) == "tests" && header.Get(schemas.HookHeaderTests) == ""
	if t.Kind != host.Stop || t.Agent != "" || !able || !t.project.Settings.RunTests || t.Facts.EndsTurns {
		return nil
	}
	state, _, err := r.sessions.State(ctx, t.Session)
	if err != nil {
		return nil
	}
	files, workers := r.untested(ctx, t.Session, state)
	limit := t.project.Settings.TestTimeout
	run := pendingRun{files: files, workers: workers, turn: state.LastPrompt.ID, TestRun: schemas.TestRun{
		ID: bus.NewID(), Project: t.project.Root, Millis: limit.Milliseconds(), Confine: r.runner.ForTests(t.project.Root, state),
		Changed: files, Began: state.Began, Head: state.Head, WaitMillis: t.project.Settings.TestWait.Milliseconds(),
	}}
	if len(files) > 0 {
		run.Command, run.were = t.project.Settings.TestCommand, statesOf(t, files)
		r.recall(&run, t)
	}
	if state.Phase() == enforcement.PhaseTesting && t.secondName() != "" {
		return nil // what runs could write the code by that name
	}
	run.TestRun = due.WithFiles(run.TestRun, state, r.sessions.Approvable(ctx, t.project, t.Session, state), len(workers) > 0)
	if len(files) == 0 && len(run.Files) == 0 {
		return nil
	}
	if len(run.Files) > 0 && state.Phase() != enforcement.PhaseTesting {
		run.written = statesOf(t, state.Written)
	}
	run.until = r.now().Add(limit + time.Duration(run.FilesMillis)*time.Millisecond + reportGrace)
	if !r.begin(t.Session, run, r.now()) {
		return nil
	}
	return &run.TestRun
}

// recall tells a run what earlier ones found.
func (r *testRuns) recall(run *pendingRun, t turn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	whole, ran := r.wholes[t.Session]
	run.Chosen = ran && (t.Again || run.turn != "" && whole == run.turn)
	before := r.bases[run.Project]
	run.Base, run.Known, run.New = before.Base, before.Known, before.New
}

// statesOf are files as they stand, those that are not there without a digest.
func statesOf(t turn, files []string) []schemas.FileState {
	states := make([]schemas.FileState, len(files))
	for i, file := range files {
		states[i], _ = t.project.FileState(file)
	}
	return states
}

// untested are the files that tests are due for, those that exempt workers of
// the session changed included.
func (r *testRuns) untested(ctx context.Context, id string, s enforcement.State) (files, workers []string) {
	files = slices.Clone(s.DueTests())
	if s.Mode != enforcement.ModeWork || s.Phase() != enforcement.PhaseImplementation {
		return files, nil
	}
	for _, child := range r.sessions.Linked(id) {
		state, err := r.sessions.Peek(ctx, child)
		if err != nil || len(state.PendingTests) == 0 {
			continue
		}
		workers = append(workers, child)
		files = append(files, state.PendingTests...)
	}
	slices.Sort(files)
	return slices.Compact(files), workers
}

// tested is what came of the run before a turn's end.
type tested struct {
	ran     *schemas.TestsFinished
	workers []string // linked sessions that it covers
	seen    []schemas.TestFileResult
	behind  bool // it goes on in the background
	late    bool // it is reported after the turn's end
}

// reported reads the result that a hook's process brings of a run that it was
// asked to make. Of any other run nothing is believed.
func (r *testRuns) reported(ctx context.Context, t turn, header schemas.Header) *tested {
	text := header.Get(schemas.HookHeaderTests)
	if text == "" {
		return nil
	}
	var result schemas.TestResult
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil || json.Unmarshal(raw, &result) != nil {
		return nil
	}
	run, asked := r.end(t.Session, result)
	if !asked {
		return nil
	}
	out := &tested{workers: run.workers, seen: result.Files, behind: result.Behind, late: run.behind && !result.Behind}
	if run.written != nil { // what passed may do so no longer
		state, err := r.sessions.Peek(ctx, t.Session)
		if err != nil || !slices.Equal(run.written, statesOf(t, state.Written)) {
			out.seen = nil
		}
	}
	if result.Behind || result.Command == "" && len(result.Unrun) == 0 {
		return out
	}
	if out.late && !slices.Equal(run.were, statesOf(t, run.files)) {
		return out // it shows nothing of what is there: the next end of a turn runs them again
	}
	out.ran = finished(run, result, out.late)
	return out
}

// finished is the event of a run.
func finished(run pendingRun, result schemas.TestResult, late bool) *schemas.TestsFinished {
	e := &schemas.TestsFinished{
		Trigger: "stop", Kind: enforcement.KindTest, Command: excerpt.Runes(cmp.Or(result.Command, "tests"), 500), Outcome: schemas.OutcomePassed,
		Exit: result.Exit, Millis: result.Millis, Files: run.files, Output: excerpt.Runes(result.Output, 3700), Confined: len(run.Confine) > 0,
		Passed: result.Passed, Known: len(result.Known), Uncompared: excerpt.Runes(result.Uncompared, 200), Late: late,
	}
	if result.NotRun == "" {
		e.Unrun = excerpt.Runes(strings.Join(result.Unrun, "; "), 500)
	}
	switch {
	case result.NotRun != "":
		e.Outcome, e.Output = schemas.OutcomeNotRun, excerpt.Runes(result.NotRun, 500)
	case result.Exit != 0:
		e.Outcome = schemas.OutcomeFailed
		if e.Uncompared != "" {
			e.Output += "\nWhether this failed before the session is not known: " + e.Uncompared
		}
	case result.TimedOut:
		e.Outcome = schemas.OutcomeTimedOut
	case result.Command == "" || result.Left:
		e.Outcome, e.Output = schemas.OutcomeNotRun, "all of its tests ran once in this turn already"
	}
	return e
}

// onStop sends an agent back to what it left broken, failing or unverified,
// once in a row.
func (v *Service) onStop(ctx context.Context, t turn) (host.Answer, error) {
	if t.tested == nil {
		waited, behind := v.runs.underWay(t)
		if waited {
			return host.Answer{}, nil // the same end of a turn, told a second time
		}
		t.tested = &tested{behind: behind}
	}
	behind, err := v.afterwards.sinceEnded(ctx, t, t.Session, nil)
	if err != nil {
		return host.Answer{}, err
	}
	var ws enforcement.Workspace
	decision, state, err := v.Sessions.Act(ctx, t.Session, t.agent(), t.PromptID, func(s enforcement.State) (enforcement.Decision, error) {
		if ws = v.Sessions.Watched(t.project, s); s.Mode == enforcement.ModeWork {
			ws = v.Sessions.Approvable(ctx, t.project, t.Session, s)
		}
		return enforcement.Decide(s, enforcement.EndTurn{
			Again: t.Again, Agent: t.Agent, Message: t.Message, Gone: v.contents.gone(t, s), Ran: t.ran, Seen: t.seen, Behind: t.behind, Late: t.late,
			Workspace: ws, Settings: t.project.Settings.Policy,
		})
	})
	if err != nil {
		return host.Answer{}, err
	}
	if t.Agent == "" && !t.late && decision.Verdict != enforcement.Deny {
		v.shown.keep(t.Session, enforcement.Awaits(state, ws))
	}
	for _, worker := range t.workers {
		if t.ran == nil {
			break
		}
		if _, _, err := v.Sessions.Act(ctx, worker, schemas.Writ("tests"), t.PromptID, func(enforcement.State) (enforcement.Decision, error) {
			return enforcement.Decision{Verdict: enforcement.Allow, Record: []schemas.Payload{*t.ran}}, nil
		}); err != nil {
			return host.Answer{}, err
		}
	}
	if t.late {
		v.untold.keep(t.Session, decision.Notice)
		return host.Answer{}, nil // nobody waits for it
	}
	if t.ran != nil {
		v.untold.keep(t.Session, "") // what this run shows is newer
	}
	answer := host.Answer{Notice: join(behind.Notice, decision.Notice)}
	if decision.Verdict == enforcement.Deny {
		answer.Verdict, answer.Reason = host.Refuse, join(decision.Reason, decision.Context)
	} else if t.Agent == "" && state.Mode == enforcement.ModeWork {
		answer.Notice = join(answer.Notice, enforcement.Calls(state, ws, t.project.Settings.Policy))
	}
	return answer, nil
}
