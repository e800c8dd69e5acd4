package runs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"path/filepath"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/enforcement/dialect"
	"github.com/writbus/writ/observer/agent"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/schemas"
)

// defaultRuns is how many runs a list shows.
const defaultRuns = 50

// Endpoints are the services of agents.
func (v *Service) Endpoints() []bus.Endpoint {
	return []bus.Endpoint{
		bus.Answer("agent_run", schemas.SvcAgentRun, v.run),
		bus.Answer("dispatch", schemas.SvcDispatch, v.dispatch),
		bus.Answer("agent_follow", schemas.SvcAgentFollow, v.follow),
		bus.Answer("agent_answer", schemas.SvcAgentAnswer, v.answer),
		bus.Answer("agent_stop", schemas.SvcAgentStop, v.stop),
		bus.Answer("agent_list", schemas.SvcAgentList, v.list),
		bus.Answer("agent_show", schemas.SvcAgentShow, v.show),
		bus.Answer("schedule_list", schemas.SvcSchedules, v.scheduleList),
		bus.Answer("schedule_act", schemas.SvcScheduleAct, v.scheduleAct),
	}
}

// converse is the work of a run with a model.
func (v *Service) converse(ctx context.Context, s agent.Start, l *liveRun) (func(), error) {
	ask, err := v.engine.Begin(ctx, s)
	if err != nil {
		return nil, err
	}
	return func() { l.end(ask(ctx), "") }, nil
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
		Run: cmp.Or(r.Run, bus.NewID()), File: r.File, Workspace: filepath.Clean(r.Workspace), Message: r.Message, Model: r.Model, Origin: schemas.OriginUser, Trigger: trigger,
	}, nil
}

// run starts a run for a person.
func (v *Service) run(_ context.Context, r schemas.AgentRunRequest) (schemas.AgentRunReply, error) {
	s, err := startOf(r, agent.TriggerRun)
	switch {
	case err != nil:
		return schemas.AgentRunReply{}, err
	case r.Message == "":
		return schemas.AgentRunReply{}, schemas.Faultf(schemas.CodeBadRequest, "a run needs a message")
	}
	if v.Model == nil {
		return schemas.AgentRunReply{}, schemas.Faultf(schemas.CodeRefused, "%v", v.NoModel)
	}
	err = v.live.launch(s, func(ctx context.Context, s agent.Start, l *liveRun) (func(), error) {
		if r.Confirms {
			s.Confirm = l.confirm
		}
		return v.converse(ctx, s, l)
	})
	return schemas.AgentRunReply{Run: s.Run}, refusedRun(err)
}

// dispatch runs the commands of a recorded response.
func (v *Service) dispatch(_ context.Context, r schemas.AgentRunRequest) (schemas.AgentRunReply, error) {
	s, err := startOf(r, agent.TriggerDispatch)
	if err != nil {
		return schemas.AgentRunReply{}, err
	}
	err = v.live.launch(s, func(ctx context.Context, s agent.Start, l *liveRun) (func(), error) {
		if r.Confirms {
			s.Confirm = l.confirm
		}
		run, err := v.engine.BeginDispatch(ctx, s, r.Transcript)
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

// follow returns what a run does next.
func (v *Service) follow(ctx context.Context, r schemas.AgentFollowRequest) (schemas.AgentFollowReply, error) {
	l, err := v.live.find(r.Run)
	if err != nil {
		return schemas.AgentFollowReply{}, err
	}
	return l.follow(ctx, r.After), nil
}

// answer answers a question of a run.
func (v *Service) answer(_ context.Context, r schemas.AgentAnswerRequest) (bus.None, error) {
	l, err := v.live.find(r.Run)
	if err == nil && !l.answer(r.ID, r.Yes) {
		err = schemas.Faultf(schemas.CodeNotFound, "nobody asks this any more")
	}
	return bus.None{}, err
}

// stop stops a run.
func (v *Service) stop(_ context.Context, r schemas.AgentQuery) (bus.None, error) {
	l, err := v.live.find(r.Run)
	if err == nil {
		l.cancel(errStoppedByUser)
	}
	return bus.None{}, err
}

func summaryOf(s projections.RunSummary) schemas.AgentSummary {
	return schemas.AgentSummary{
		Run: s.Run, Agent: s.Agent, Message: s.Message, Trigger: s.Trigger, Workspace: s.Workspace, Parent: s.Parent, Model: s.Model,
		Outcome: s.Outcome, Started: s.Started, Last: s.Last, Calls: s.Calls, Commands: s.Commands, Denied: s.Denied, Tokens: s.Tokens,
	}
}

// list lists runs.
func (v *Service) list(ctx context.Context, q schemas.AgentQuery) (schemas.AgentList, error) {
	list := schemas.AgentList{Runs: []schemas.AgentSummary{}}
	err := v.Kept.Read(ctx, projections.ViewAgentRuns, func(r projections.Reader) error {
		for s, err := range v.Kept.Views.runs.List(r) {
			if err != nil {
				return err
			}
			if q.Agent != "" && q.Agent != s.Agent || q.Workspace != "" && q.Workspace != s.Workspace {
				continue
			}
			if list.Runs = append(list.Runs, summaryOf(s)); len(list.Runs) == cmp.Or(q.Limit, defaultRuns) {
				break
			}
		}
		return nil
	})
	return list, err
}

// show returns one run with all its events.
func (v *Service) show(ctx context.Context, q schemas.AgentQuery) (schemas.AgentView, error) {
	view := schemas.AgentView{Events: []schemas.ReplayEvent{}}
	err := v.Kept.Read(ctx, projections.ViewAgentRuns, func(r projections.Reader) error {
		s, found, err := v.Kept.Views.runs.Run(r, q.Run)
		if err == nil && !found {
			err = schemas.Faultf(schemas.CodeNotFound, "there is no run %q. `writ agent list` shows them.", q.Run)
		}
		view.AgentSummary = summaryOf(s)
		return err
	})
	if err != nil {
		return view, err
	}
	size := 0
	for record, err := range v.Conn.Tail(ctx, schemas.AgentRun(q.Run), 0) {
		if err != nil {
			return view, err
		}
		for _, e := range v.Shown(record) {
			if e.Type == (schemas.ArtifactKept{}).EventType() {
				e.Data = withoutContent(e.Data)
			}
			view.Events = append(view.Events, e)
			size += len(e.Data)
		}
		if size > shownBytes {
			return view, schemas.Faultf(schemas.CodeRefused, "run %s has more than %d MiB of events. `writ log --stream agents` shows them.", q.Run, shownBytes>>20)
		}
	}
	return view, nil
}

// shownBytes bounds a run that is shown as a whole.
const shownBytes = 16 << 20

// withoutContent leaves the content out of an artifact that is only shown.
func withoutContent(data json.RawMessage) json.RawMessage {
	var kept schemas.ArtifactKept
	if json.Unmarshal(data, &kept) != nil {
		return data
	}
	kept.Content = nil
	short, err := json.Marshal(kept)
	if err != nil {
		return data
	}
	return short
}
