package daemon

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/enforcement/dialect"
	"github.com/writbus/writ/observer/agent"
	"github.com/writbus/writ/observer/journal"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/schemas"
)

// defaultRuns is how many runs a list shows.
const defaultRuns = 50

// agentEndpoints are the services of agents.
func (d *Daemon) agentEndpoints() []bus.Endpoint {
	return []bus.Endpoint{
		bus.Answer("agent_run", schemas.SvcAgentRun, d.agentRun),
		bus.Answer("dispatch", schemas.SvcDispatch, d.dispatch),
		bus.Answer("agent_follow", schemas.SvcAgentFollow, d.agentFollow),
		bus.Answer("agent_answer", schemas.SvcAgentAnswer, d.agentAnswer),
		bus.Answer("agent_stop", schemas.SvcAgentStop, d.agentStop),
		bus.Answer("agent_list", schemas.SvcAgentList, d.agentList),
		bus.Answer("agent_show", schemas.SvcAgentShow, d.agentShow),
		bus.Answer("schedule_list", schemas.SvcSchedules, d.scheduleList),
		bus.Answer("schedule_act", schemas.SvcScheduleAct, d.scheduleAct),
	}
}

// launch begins a run and lets it go on by itself.
func (d *Daemon) launch(s agent.Start, work func(context.Context, agent.Start, *liveRun) (func(), error)) (*liveRun, error) {
	w := d.agents
	w.mu.Lock()
	if w.atWork >= runsAtMost {
		w.mu.Unlock()
		return nil, schemas.Faultf(schemas.CodeRefused, "%d runs are at work. Wait for one of them to end, or stop one", runsAtMost)
	}
	if w.live[s.Run] != nil {
		defer w.mu.Unlock()
		return w.live[s.Run], nil // the same request again
	}
	ctx, cancel := context.WithCancelCause(w.ctx)
	l := newLiveRun(s.Run, cancel)
	w.live[s.Run] = l
	w.atWork++
	w.mu.Unlock()
	s.Watch = l
	proceed, err := work(ctx, s, l)
	if err != nil {
		cancel(nil)
		w.mu.Lock()
		delete(w.live, s.Run)
		w.atWork--
		w.mu.Unlock()
		return nil, err
	}
	w.wait.Go(func() {
		defer cancel(nil)
		d.guarded(l, proceed)
		w.mu.Lock()
		w.atWork--
		w.mu.Unlock()
		time.AfterFunc(fetchedWithin, func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			delete(w.live, s.Run)
		})
	})
	return l, nil
}

// guarded does a run's work: what breaks in it ends the run, not the daemon.
func (d *Daemon) guarded(l *liveRun, work func()) {
	defer func() {
		if p := recover(); p != nil {
			d.logger.Error("agent run: panic", "panic", p, "stack", string(debug.Stack()))
			l.end(schemas.AgentFinished{Outcome: agent.Failed, Reason: "an internal error of writ; the daemon's log says where"}, "")
		}
	}()
	work()
}

// converse is the work of a run with a model.
func (d *Daemon) converse(ctx context.Context, s agent.Start, l *liveRun) (func(), error) {
	ask, err := d.agents.engine.Begin(ctx, s)
	if err != nil {
		return nil, err
	}
	return func() { l.end(ask(ctx), "") }, nil
}

// fireRun begins the run of a schedule.
func (d *Daemon) fireRun(s agent.Start) error {
	_, err := d.launch(s, d.converse)
	return err
}

// startOf is the run that a request asks for.
func startOf(r schemas.AgentRunRequest, trigger string) (agent.Start, error) {
	switch {
	case !filepath.IsAbs(r.File):
		return agent.Start{}, schemas.Faultf(schemas.CodeBadRequest, "the constitution's path must be absolute, not %q", r.File)
	case !filepath.IsAbs(r.Workspace):
		return agent.Start{}, schemas.Faultf(schemas.CodeBadRequest, "the workspace must be absolute, not %q", r.Workspace)
	case len(r.Run) > 64:
		return agent.Start{}, schemas.Faultf(schemas.CodeBadRequest, "the id of a run has at most 64 bytes")
	}
	return agent.Start{
		Run: cmp.Or(r.Run, bus.NewID()), File: r.File, Workspace: filepath.Clean(r.Workspace), Message: r.Message, Model: r.Model, Trigger: trigger,
	}, nil
}

// agentRun starts a run for a person.
func (d *Daemon) agentRun(_ context.Context, r schemas.AgentRunRequest) (schemas.AgentRunReply, error) {
	s, err := startOf(r, agent.TriggerRun)
	switch {
	case err != nil:
		return schemas.AgentRunReply{}, err
	case r.Message == "":
		return schemas.AgentRunReply{}, schemas.Faultf(schemas.CodeBadRequest, "a run needs a message")
	}
	if d.model == nil {
		return schemas.AgentRunReply{}, schemas.Faultf(schemas.CodeRefused, "%v", d.noModel)
	}
	_, err = d.launch(s, func(ctx context.Context, s agent.Start, l *liveRun) (func(), error) {
		if r.Confirms {
			s.Confirm = l.confirm
		}
		return d.converse(ctx, s, l)
	})
	return schemas.AgentRunReply{Run: s.Run}, refusedRun(err)
}

// dispatch runs the commands of a recorded response.
func (d *Daemon) dispatch(_ context.Context, r schemas.AgentRunRequest) (schemas.AgentRunReply, error) {
	s, err := startOf(r, agent.TriggerDispatch)
	if err != nil {
		return schemas.AgentRunReply{}, err
	}
	_, err = d.launch(s, func(ctx context.Context, s agent.Start, l *liveRun) (func(), error) {
		if r.Confirms {
			s.Confirm = l.confirm
		}
		run, err := d.agents.engine.BeginDispatch(ctx, s, r.Transcript)
		if err != nil {
			return nil, err
		}
		return func() {
			batch, finished := run(ctx)
			l.end(finished, batch)
		}, nil
	})
	return schemas.AgentRunReply{Run: s.Run}, refusedRun(err)
}

// refusedRun gives the errors of a start the codes of their causes.
func refusedRun(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, dialect.ErrConstitution), errors.Is(err, agent.ErrWorkspace), errors.Is(err, agent.ErrStarted):
		return schemas.Faultf(schemas.CodeBadRequest, "%v", err)
	case errors.Is(err, agent.ErrNoAgent):
		return schemas.Faultf(schemas.CodeNotFound, "%v", err)
	}
	return err
}

func (d *Daemon) liveRun(id string) (*liveRun, error) {
	d.agents.mu.Lock()
	defer d.agents.mu.Unlock()
	l := d.agents.live[id]
	if l == nil {
		return nil, schemas.Faultf(schemas.CodeNotFound, "run %q is not at work here. writ agent show %s shows what the log has of it", id, id)
	}
	return l, nil
}

// agentFollow returns what a run does next.
func (d *Daemon) agentFollow(ctx context.Context, r schemas.AgentFollowRequest) (schemas.AgentFollowReply, error) {
	l, err := d.liveRun(r.Run)
	if err != nil {
		return schemas.AgentFollowReply{}, err
	}
	return l.follow(ctx, r.After), nil
}

// agentAnswer answers a question of a run.
func (d *Daemon) agentAnswer(_ context.Context, r schemas.AgentAnswerRequest) (bus.None, error) {
	l, err := d.liveRun(r.Run)
	if err == nil && !l.answer(r.ID, r.Yes) {
		err = schemas.Faultf(schemas.CodeNotFound, "nobody asks this any more")
	}
	return bus.None{}, err
}

// agentStop stops a run.
func (d *Daemon) agentStop(_ context.Context, r schemas.AgentQuery) (bus.None, error) {
	l, err := d.liveRun(r.Run)
	if err == nil {
		l.cancel(errStoppedByUser)
	}
	return bus.None{}, err
}

func agentSummary(s projections.RunSummary) schemas.AgentSummary {
	return schemas.AgentSummary{
		Run: s.Run, Agent: s.Agent, Message: s.Message, Trigger: s.Trigger, Workspace: s.Workspace, Parent: s.Parent, Model: s.Model,
		Outcome: s.Outcome, Started: s.Started, Last: s.Last, Calls: s.Calls, Commands: s.Commands, Denied: s.Denied, Tokens: s.Tokens,
	}
}

// agentList lists runs.
func (d *Daemon) agentList(ctx context.Context, q schemas.AgentQuery) (schemas.AgentList, error) {
	list := schemas.AgentList{Runs: []schemas.AgentSummary{}}
	err := agentLog{d}.Read(ctx, projections.ViewAgentRuns, func(r projections.Reader) error {
		for s, err := range d.views.agents.runs.List(r) {
			if err != nil {
				return err
			}
			if q.Agent != "" && q.Agent != s.Agent || q.Workspace != "" && q.Workspace != s.Workspace {
				continue
			}
			if list.Runs = append(list.Runs, agentSummary(s)); len(list.Runs) == cmp.Or(q.Limit, defaultRuns) {
				break
			}
		}
		return nil
	})
	return list, err
}

// agentShow returns one run with all its events.
func (d *Daemon) agentShow(ctx context.Context, q schemas.AgentQuery) (schemas.AgentView, error) {
	view := schemas.AgentView{Events: []schemas.ReplayEvent{}}
	err := agentLog{d}.Read(ctx, projections.ViewAgentRuns, func(r projections.Reader) error {
		s, found, err := d.views.agents.runs.Run(r, q.Run)
		if err == nil && !found {
			err = schemas.Faultf(schemas.CodeNotFound, "there is no run %q. writ agent list shows them", q.Run)
		}
		view.AgentSummary = agentSummary(s)
		return err
	})
	if err != nil {
		return view, err
	}
	size := 0
	for record, err := range d.conn.Tail(ctx, schemas.AgentRun(q.Run), 0) {
		if err != nil {
			return view, err
		}
		for _, e := range journal.Show(record) {
			if e.Type == (schemas.ArtifactKept{}).EventType() {
				e.Data = withoutContent(e.Data)
			}
			view.Events = append(view.Events, e)
			size += len(e.Data)
		}
		if size > shownBytes {
			return view, schemas.Faultf(schemas.CodeRefused, "run %s has more than %d MiB of events. writ replay --stream agents shows them", q.Run, shownBytes>>20)
		}
	}
	return view, nil
}

// shownBytes bounds a run that is shown as a whole.
const shownBytes = 16 << 20
