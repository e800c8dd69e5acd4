package daemon

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/enforcement/confine"
	"github.com/writbus/writ/enforcement/host"
	"github.com/writbus/writ/enforcement/testrun"
	"github.com/writbus/writ/schemas"
)

// reportGrace is how long after a run's time its result is waited for.
const reportGrace = 10 * time.Second

// pendingRuns are the runs of tests that hooks' processes were asked to make.
type pendingRuns struct {
	mu        sync.Mutex
	bySession map[string]pendingRun
}

type pendingRun struct {
	schemas.TestRun
	files   []string
	workers []string // linked sessions whose changes the run covers as well
	until   time.Time
}

// begin notes a run, unless one of the session is under way: a hook that is
// installed twice asks twice.
func (p *pendingRuns) begin(session string, run pendingRun, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, other := range p.bySession {
		if now.After(other.until) {
			delete(p.bySession, id)
		}
	}
	if _, running := p.bySession[session]; running {
		return false
	}
	if p.bySession == nil {
		p.bySession = map[string]pendingRun{}
	}
	p.bySession[session] = run
	return true
}

// end takes a run by its id, once.
func (p *pendingRuns) end(session, id string) (pendingRun, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	run, running := p.bySession[session]
	if !running || run.ID != id {
		return pendingRun{}, false
	}
	delete(p.bySession, session)
	return run, true
}

func (p *pendingRuns) running(session string, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	run, running := p.bySession[session]
	return running && !now.After(run.until)
}

// testsDue is the run that has to come before a turn may end, nil for none. The
// process of the hook makes it, in the environment of the agent's host, and
// calls again; the daemon waits for nobody.
func (d *Daemon) testsDue(ctx context.Context, t turn, header schemas.Header) *schemas.TestRun {
	able := header.Get(schemas.HookHeaderRuns) == "tests" && header.Get(schemas.HookHeaderTests) == ""
	if t.Kind != host.Stop || t.Agent != "" || !able || t.project.settings.Tests != "on" || !host.HoldsTurns(t.Host) {
		return nil
	}
	state, _, err := d.sessions.state(ctx, t.Session)
	if err != nil {
		return nil
	}
	files, workers := d.untested(ctx, t.Session, state)
	if len(files) == 0 {
		return nil
	}
	command := t.project.settings.TestCommand
	if command == "" {
		command = testrun.Command(t.project.root, files)
	}
	if command == "" {
		return nil
	}
	limit := t.project.settings.TestTimeout
	run := pendingRun{files: files, workers: workers, until: d.now().Add(limit + reportGrace), TestRun: schemas.TestRun{
		ID: bus.NewID(), Command: command, Project: t.project.root, Millis: limit.Milliseconds(), Confine: d.confined.forTests(t.project, state),
	}}
	if !d.runs.begin(t.Session, run, d.now()) {
		return nil
	}
	return &run.TestRun
}

// untested are the files that tests are due for, those that exempt workers of
// the session changed included.
func (d *Daemon) untested(ctx context.Context, id string, s enforcement.State) (files, workers []string) {
	files = slices.Clone(s.DueTests())
	if s.Mode != enforcement.ModeWork || s.Phase() != enforcement.PhaseImplementation {
		return files, nil
	}
	for _, child := range d.sessions.linked(id) {
		state, err := d.sessions.peek(ctx, child)
		if err != nil || len(state.PendingTests) == 0 {
			continue
		}
		workers = append(workers, child)
		files = append(files, state.PendingTests...)
	}
	slices.Sort(files)
	return slices.Compact(files), workers
}

// forTests are the options of `writ confine` for a run of tests, none where
// this system cannot confine.
func (c confined) forTests(p project, s enforcement.State) []string {
	if c.writ == "" {
		return nil
	}
	profile := confineProfile(s, false)
	words := []string{"--project", p.root, "--profile", string(profile), "--quiet", "--whole"}
	if profile == confine.Implementation {
		words = append(words, "--lock", enforcement.PlanFile)
	}
	return words
}

// reported reads the result that a hook's process brings of a run that it was
// asked to make. Of any other run nothing is believed.
func (d *Daemon) reported(t turn, header schemas.Header) (*schemas.TestsFinished, []string) {
	text := header.Get(schemas.HookHeaderTests)
	if text == "" {
		return nil, nil
	}
	var result schemas.TestResult
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil || json.Unmarshal(raw, &result) != nil {
		return nil, nil
	}
	run, asked := d.runs.end(t.Session, result.ID)
	if !asked {
		return nil, nil
	}
	e := &schemas.TestsFinished{
		Trigger: "stop", Kind: enforcement.KindTest, Command: clipText(run.Command, 500), Outcome: schemas.OutcomePassed,
		Exit: result.Exit, Millis: result.Millis, Files: run.files, Output: clipText(result.Output, 4000), Confined: len(run.Confine) > 0,
	}
	switch {
	case result.NotRun != "":
		e.Outcome, e.Output = schemas.OutcomeNotRun, clipText(result.NotRun, 500)
	case result.TimedOut:
		e.Outcome = schemas.OutcomeTimedOut
	case result.Exit != 0:
		e.Outcome = schemas.OutcomeFailed
	}
	return e, run.workers
}

// onStop sends an agent back to what it left broken, failing or unverified,
// once in a row.
func (d *Daemon) onStop(ctx context.Context, t turn) (host.Answer, error) {
	if t.ran == nil && d.runs.running(t.Session, d.now()) {
		return host.Answer{}, nil // the same end of a turn, told a second time
	}
	behind, err := d.sinceEnded(ctx, t, t.Session, nil)
	if err != nil {
		return host.Answer{}, err
	}
	decision, _, err := d.sessions.act(ctx, t.Session, t.meta(t.agent()), func(s enforcement.State) (enforcement.Decision, error) {
		return enforcement.Decide(s, enforcement.EndTurn{
			Again: t.Again, Agent: t.Agent, Message: t.Message, Gone: d.gone(t, s), Ran: t.ran,
			Workspace: d.planned(t.project, s), Settings: t.project.policy(),
		})
	})
	if err != nil {
		return host.Answer{}, err
	}
	for _, worker := range t.ranWorkers {
		if _, _, err := d.sessions.act(ctx, worker, t.meta(schemas.Writ("tests")), func(enforcement.State) (enforcement.Decision, error) {
			return enforcement.Decision{Verdict: enforcement.Allow, Record: []schemas.Payload{*t.ran}}, nil
		}); err != nil {
			return host.Answer{}, err
		}
	}
	answer := host.Answer{Notice: join(behind.Notice, decision.Notice)}
	if decision.Verdict == enforcement.Deny {
		answer.Verdict, answer.Reason = host.Refuse, join(decision.Reason, decision.Context)
	}
	return answer, nil
}

// planned is the workspace with the files of the approved plan.
func (d *Daemon) planned(p project, s enforcement.State) enforcement.Workspace {
	ws := d.watched(p, s)
	if !p.settings.AdvanceOnGreen {
		return ws
	}
	for _, rel := range s.Work.Gates[enforcement.GatePlan].Planned {
		if state, found := p.fileState(rel); found {
			ws.Files[rel] = state
		}
	}
	return ws
}
