package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/writbus/writ/bus"

	"github.com/writbus/writ/enforcement/dialect"
	"github.com/writbus/writ/observer/agent/schedule"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/schemas"
)

const (
	// idle is how long the runner waits where nothing is due: clocks are set, and
	// another daemon may have been meant to fire.
	idle = 10 * time.Minute
	// retryFire is how long it waits after a failure.
	retryFire = 10 * time.Second
	// orphaned is how old a claim is whose run nobody began, before another one
	// begins it.
	orphaned = time.Minute
)

// Wake has the runner look again.
func (s *Schedules) Wake() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Run fires what is due until the context ends. Of several that run on one log,
// one fires.
func (s *Schedules) Run(ctx context.Context) {
	for {
		wait, err := s.tick(ctx)
		if err != nil && ctx.Err() == nil {
			s.problem(err)
			wait = retryFire
		}
		waiting, cancel := context.WithTimeout(ctx, wait)
		select {
		case <-s.wake:
		case <-waiting.Done():
		}
		cancel()
		if ctx.Err() != nil {
			return
		}
	}
}

func (s *Schedules) problem(err error) {
	if s.Problem != nil {
		s.Problem(err)
	}
}

// hopeless reports whether a run cannot begin later either.
func hopeless(err error) bool {
	return errors.Is(err, ErrNoAgent) || errors.Is(err, ErrDelegation) || errors.Is(err, ErrWorkspace) || errors.Is(err, dialect.ErrConstitution)
}

// tick fires what is due, and returns how long nothing will be.
func (s *Schedules) tick(ctx context.Context) (wait time.Duration, err error) {
	var all []schedule.State
	if err := s.all(ctx, func(state schedule.State) { all = append(all, state) }); err != nil {
		return retryFire, err
	}
	if all, err = s.own(ctx, all); err != nil {
		return retryFire, err
	}
	now := s.Now()
	wait = idle
	for _, state := range all {
		if state.Cancelled {
			continue
		}
		if err := s.begun(ctx, state, now); err != nil {
			return retryFire, err
		}
		if state.Paused {
			continue
		}
		at, ok := state.Next(now)
		if ok && !at.After(now) {
			if err := s.fire(ctx, state, now); err != nil {
				return retryFire, err
			}
			wait = 0 // its next moment is computed from the log
			continue
		}
		if ok {
			wait = min(wait, at.Sub(now))
		}
	}
	return max(wait, 0), nil
}

// own leaves out the schedules that were made by a run of another daemon.
func (s *Schedules) own(ctx context.Context, all []schedule.State) (own []schedule.State, err error) {
	if s.Daemon == "" {
		return all, nil
	}
	err = s.Views.Read(ctx, projections.ViewAgentRuns, func(r projections.Reader) error {
		for _, state := range all {
			made, known, err := runView.Run(r, state.Added.Run)
			if err != nil {
				return err
			}
			if !known || made.Daemon == s.Daemon {
				own = append(own, state)
			}
		}
		return nil
	})
	return own, err
}

// fire claims what is due and starts its run. Whoever else claims it first fires
// it.
func (s *Schedules) fire(ctx context.Context, state schedule.State, now time.Time) error {
	decision, err := schedule.Decide(state, schedule.Claim{Now: now, Run: s.NewID()})
	if err != nil || len(decision.Record) == 0 {
		return err
	}
	e := entry(schemas.AgentSchedule(state.Added.ScheduleID), schemas.Writ(TriggerSchedule))
	e.Time = now
	err = claim(ctx, s.Log, state.Seq, e, decision.Record...)
	if errors.Is(err, bus.ErrConflict) {
		return nil
	}
	if err != nil {
		return err
	}
	fired, _ := decision.Record[0].(schemas.ScheduleFired)
	return s.start(ctx, state, fired)
}

// start starts the run of a claim. That it was started before is no failure: its
// first event is appended once.
func (s *Schedules) start(ctx context.Context, state schedule.State, fired schemas.ScheduleFired) error {
	err := s.Fire(ctx, Start{
		Run: fired.Run, File: state.Added.File, Chain: state.Added.Chain, Agent: state.Added.Agent, Workspace: state.Added.Workspace,
		Message: due(state, fired, s.Now()), Origin: state.Added.Origin, Trigger: TriggerSchedule, Schedule: state.Added.ScheduleID,
	})
	if err == nil || errors.Is(err, ErrStarted) {
		return nil
	}
	if !hopeless(err) {
		return err
	}
	s.problem(fmt.Errorf("schedule %s of %s: %w", state.Added.ScheduleID, state.Added.Agent, err))
	err = Claim(ctx, s.Log, 0, schemas.AgentRun(fired.Run), schemas.Writ(TriggerSchedule),
		schemas.AgentStarted{
			Agent: state.Added.Agent, Message: state.Added.Line, Origin: state.Added.Origin, Trigger: TriggerSchedule, File: state.Added.File,
			Workspace: state.Added.Workspace, Chain: state.Added.Chain, Schedule: state.Added.ScheduleID,
		},
		schemas.AgentFinished{Outcome: Failed, Reason: err.Error()})
	if errors.Is(err, bus.ErrConflict) {
		return nil
	}
	return err
}

// begun begins the run of a claim that nobody began: whoever claimed it died in
// between.
func (s *Schedules) begun(ctx context.Context, state schedule.State, now time.Time) error {
	if state.Last == nil || now.Sub(state.LastTime) < orphaned {
		return nil
	}
	known := false
	err := s.Views.Read(ctx, projections.ViewAgentRuns, func(r projections.Reader) (err error) {
		_, known, err = runView.Run(r, state.Last.Run)
		return err
	})
	if err != nil || known {
		return err
	}
	return s.start(ctx, state, *state.Last)
}

var runView projections.AgentRuns

// late is from when on a fire says that it is late.
const late = 2 * time.Minute

// due is the message of a fire: what the agent wrote to itself, and what became
// of its times.
func due(state schedule.State, fired schemas.ScheduleFired, now time.Time) string {
	message := state.Added.Line
	at := fired.At
	if plan, err := state.Plan(); err == nil {
		message = plan.Message
	}
	if zone, err := schedule.LoadZone(state.Added.Zone); err == nil {
		at = at.In(zone)
	}
	head := fmt.Sprintf("[schedule %s, due %s", state.Added.ScheduleID, at.Format("2006-01-02 15:04 MST"))
	if delay := now.Sub(fired.At); delay >= late {
		head += fmt.Sprintf(", %s late", delay.Round(time.Minute))
	}
	if fired.Missed > 0 {
		head += fmt.Sprintf("; %d earlier time(s) passed while nobody was there and are made up for by this one", fired.Missed)
	}
	if state.Added.Origin != schemas.OriginAgent {
		head += "; it was written after text from outside, and is not the user's"
	}
	return head + "]\n" + message
}
