package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/observer/agent/book"
	"github.com/writbus/writ/observer/agent/schedule"
	"github.com/writbus/writ/observer/agent/verbs"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/schemas"
)

var scheduleView projections.AgentSchedules[schedule.State]

// ScheduleOptions are what Schedules work with.
type ScheduleOptions struct {
	Log    *bus.Writer
	Views  Views
	Engine *Engine // whose runs make schedules
	Now    func() time.Time
	NewID  func() string
	// Zone is the one that times of day are meant in, by a name that means the
	// same elsewhere: IANA's, or an offset such as +02:00.
	Zone string
	// Daemon is the one whose agents' schedules fire here, since a fire needs its
	// workspace; "" is all, where no other daemon shares the log.
	Daemon string
	// Fire begins the run that a fire has claimed, and does not wait for its end.
	// Its error is that of Engine.Begin.
	Fire func(ctx context.Context, s Start) error
	// Problem hears of what could not be fired. Nil hears nothing.
	Problem func(error)
}

// Schedules answers /schedule and fires what is due. It is safe for concurrent
// use.
type Schedules struct {
	ScheduleOptions
	wake chan struct{}
}

// NewSchedules returns them; Run fires.
func NewSchedules(o ScheduleOptions) *Schedules { return &Schedules{o, make(chan struct{}, 1)} }

// handle answers /schedule.
func (s *Schedules) handle(ctx context.Context, call verbs.Call) (verbs.Result, error) {
	switch call.Sub {
	case "list":
		if r, bad := wants(call, 0, "/schedule list"); bad {
			return r, nil
		}
		return s.list(ctx, call)
	case "cancel", "pause", "resume":
		id, rest := cutWord(call.Rest)
		if id == "" || rest != "" {
			return verbs.Err("/schedule "+call.Sub+" needs one schedule", "write /schedule "+call.Sub+" ID"), nil
		}
		act := schedule.Act{ID: id, Name: call.Sub, By: call.Agent}
		done, err := s.change(ctx, id, schedule.ActOf{Agent: call.Agent, Workspace: call.Workspace, Act: act}, caller(call))
		return answered(err, verbs.OK("%s %s", id, done))
	default:
		return s.add(ctx, call)
	}
}

// Handler returns the handler of /schedule.
func (s *Schedules) Handler() verbs.Handler { return verbs.HandlerFunc(s.handle) }

func (s *Schedules) add(ctx context.Context, call verbs.Call) (verbs.Result, error) {
	c, problem, ok := s.Engine.caller(call)
	if !ok {
		return problem, nil
	}
	if err := book.Fits("message", call.Args, book.MaxText); err != nil {
		return answered(err, verbs.Result{})
	}
	others := 0
	err := s.all(ctx, func(state schedule.State) {
		if state.Of(call.Agent, call.Workspace) && !state.Status().Ended() {
			others++
		}
	})
	if err != nil {
		return verbs.Result{}, err
	}
	id, now := s.shortID(), s.Now()
	decision, err := schedule.Decide(schedule.State{}, schedule.Add{Now: now, Others: others, ScheduleAdded: schemas.ScheduleAdded{
		ScheduleID: id, Line: call.Args, Zone: s.Zone, Agent: call.Agent, File: c.file, Workspace: c.workspace, Chain: c.run.Chain, Run: c.id,
		Origin: c.origin(call.Args),
	}})
	if err == nil {
		e := entry(schemas.AgentSchedule(id), caller(call))
		e.Time = now
		err = claim(ctx, s.Log, 0, e, decision.Record...)
	}
	if err == nil {
		s.Wake()
	}
	return answered(err, verbs.OK("%s", decision.Message).With("schedule", id))
}

// shortID is the end of an id, which is its random part.
func (s *Schedules) shortID() string {
	id := strings.ReplaceAll(s.NewID(), "-", "")
	return "s" + id[max(len(id)-8, 0):]
}

// view shows a schedule to a person.
func view(s schedule.State, now time.Time) schemas.ScheduleView {
	v := schemas.ScheduleView{
		ID: s.Added.ScheduleID, Line: s.Added.Line, Agent: s.Added.Agent, Workspace: s.Added.Workspace,
		State: string(s.Status()), Given: s.Given, Fired: s.Fired,
	}
	if s.Last != nil {
		v.LastRun = s.Last.Run
	}
	if s.Status() == schedule.Active {
		v.Next, _ = s.Next(now)
	}
	return v
}

func (s *Schedules) list(ctx context.Context, call verbs.Call) (verbs.Result, error) {
	views, err := s.List(ctx, schemas.ScheduleQuery{Agent: call.Agent, Workspace: call.Workspace})
	if err != nil {
		return verbs.Result{}, err
	}
	if len(views) == 0 {
		return nothing("schedules"), nil
	}
	zone, err := schedule.LoadZone(s.Zone)
	if err != nil {
		return verbs.Result{}, err
	}
	var out strings.Builder
	for _, v := range views {
		when := v.State
		if !v.Next.IsZero() {
			when = "next " + v.Next.In(zone).Format("2006-01-02 15:04 MST")
		}
		fmt.Fprintf(&out, "- %s %s (%s)\n", v.ID, v.Line, when)
	}
	return kept(out.String()), nil
}

// List returns schedules, what fires next first.
func (s *Schedules) List(ctx context.Context, q schemas.ScheduleQuery) ([]schemas.ScheduleView, error) {
	var all []schemas.ScheduleView
	err := s.all(ctx, func(state schedule.State) {
		v := view(state, s.Now())
		if (q.Agent == "" || q.Agent == v.Agent) && (q.Workspace == "" || q.Workspace == v.Workspace) && (q.All || !state.Status().Ended()) {
			all = append(all, v)
		}
	})
	slices.SortStableFunc(all, func(a, b schemas.ScheduleView) int {
		if a.Next.IsZero() != b.Next.IsZero() {
			if a.Next.IsZero() {
				return 1
			}
			return -1
		}
		return a.Next.Compare(b.Next)
	})
	return all, err
}

// all calls fn with each schedule.
func (s *Schedules) all(ctx context.Context, fn func(schedule.State)) error {
	return s.Views.Read(ctx, projections.ViewAgentSchedules, func(r projections.Reader) error {
		for state, err := range scheduleView.All(r) {
			if err != nil {
				return err
			}
			fn(state)
		}
		return nil
	})
}

// Act cancels, pauses or resumes a schedule, as a person decided.
func (s *Schedules) Act(ctx context.Context, act schedule.Act, by schemas.Actor) error {
	_, err := s.change(ctx, act.ID, act, by)
	return err
}

// change decides a command on a schedule as it is, and says what was done.
func (s *Schedules) change(ctx context.Context, id string, c schedule.Command, by schemas.Actor) (done string, err error) {
	load := func(ctx context.Context) (state schedule.State, seq uint64, err error) {
		err = s.Views.Read(ctx, projections.ViewAgentSchedules, func(r projections.Reader) (err error) {
			state, _, err = scheduleView.Schedule(r, id)
			return err
		})
		return state, state.Seq, err
	}
	_, _, err = bus.Decide(ctx, s.Log, load, schedule.Evolve, func(state schedule.State) ([]schemas.Payload, error) {
		decision, err := schedule.Decide(state, c)
		done = decision.Message
		return decision.Record, err
	}, bus.Change{Event: entry(schemas.AgentSchedule(id), by)})
	if err == nil {
		s.Wake()
	}
	return done, err
}

// Refusal returns what a refused act says, for a person; ok is false for an
// error that is none.
func Refusal(err error) (text string, ok bool) {
	result, ok := refusal(err)
	return strings.TrimPrefix(result.Text, "ERR: "), ok
}
