package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/writbus/writ/bus"

	"github.com/writbus/writ/observer/agent/schedule"
	"github.com/writbus/writ/observer/agent/verbs"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/schemas"
)

var scheduleView projections.AgentSchedules

// ErrZone is returned for the name of a zone that is not known here.
var ErrZone = errors.New("agents: unknown time zone")

// maxSchedules bounds the schedules of one agent that are not over.
const maxSchedules = 100

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

// LoadZone returns the zone of a name: IANA's, or an offset such as -03:30.
func LoadZone(name string) (*time.Location, error) {
	if t, err := time.Parse("-07:00", name); err == nil {
		_, offset := t.Zone()
		return time.FixedZone(name, offset), nil
	}
	if name == "" || name == "Local" {
		return nil, fmt.Errorf("%w: %q", ErrZone, name)
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("%w: %q", ErrZone, name)
	}
	return zone, nil
}

// planOf reads a schedule's phrase again, as it was given.
func planOf(s projections.ScheduleState) (schedule.Plan, error) {
	zone, err := LoadZone(s.Added.Zone)
	if err != nil {
		return schedule.Plan{}, err
	}
	return schedule.Parse(s.Added.Line, s.Given, zone)
}

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
		done, err := s.Act(ctx, id, call.Sub, call.Agent, caller(call), func(state projections.ScheduleState) bool {
			return state.Added.Agent == call.Agent && state.Added.Workspace == call.Workspace
		})
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
	zone, err := LoadZone(s.Zone)
	if err != nil {
		return verbs.Result{}, err
	}
	if r, bad := tooLong("message", call.Args, maxKept); bad {
		return r, nil
	}
	now := s.Now()
	plan, err := schedule.Parse(call.Args, now, zone)
	if err != nil {
		return verbs.Err(strings.TrimPrefix(err.Error(), schedule.ErrPhrase.Error()+": "), "/help schedule shows the phrases"), nil
	}
	active := 0
	err = s.Views.Read(ctx, projections.ViewAgentSchedules, func(r projections.Reader) error {
		for state, err := range scheduleView.All(r) {
			if err != nil {
				return err
			}
			if state.Added.Agent == call.Agent && state.Added.Workspace == call.Workspace && stateOf(state) != stateOver && !state.Cancelled {
				active++
			}
		}
		return nil
	})
	switch {
	case err != nil:
		return verbs.Result{}, err
	case active >= maxSchedules:
		return verbs.Err(fmt.Sprintf("there are %d schedules already", active), "cancel some of them"), nil
	}
	id := s.shortID()
	e := entry(schemas.AgentSchedule(id), caller(call))
	e.Time = now
	err = claim(ctx, s.Log, 0, e, schemas.ScheduleAdded{
		ScheduleID: id, Line: call.Args, Zone: s.Zone, Agent: call.Agent, File: c.file, Workspace: c.workspace, Chain: c.run.Chain, Run: c.id,
	})
	if err != nil {
		return verbs.Result{}, err
	}
	s.Wake()
	return verbs.OK("schedule %s first fires at %s", id, plan.First().In(zone).Format("2006-01-02 15:04 MST")).With("schedule", id), nil
}

// shortID is the end of an id, which is its random part.
func (s *Schedules) shortID() string {
	id := strings.ReplaceAll(s.NewID(), "-", "")
	return "s" + id[max(len(id)-8, 0):]
}

// States of a schedule, as they are shown.
const (
	stateActive    = "active"
	statePaused    = "paused"
	stateCancelled = "cancelled"
	stateOver      = "over"
)

func stateOf(s projections.ScheduleState) string {
	switch {
	case s.Cancelled:
		return stateCancelled
	case s.Paused:
		return statePaused
	}
	if plan, err := planOf(s); err != nil || plan.Kind == schedule.Once && s.Fired > 0 {
		return stateOver
	}
	return stateActive
}

// View shows a schedule to a person.
func View(s projections.ScheduleState) schemas.ScheduleView {
	v := schemas.ScheduleView{
		ID: s.Added.ScheduleID, Line: s.Added.Line, Agent: s.Added.Agent, Workspace: s.Added.Workspace,
		State: stateOf(s), Given: s.Given, Fired: s.Fired,
	}
	if s.Last != nil {
		v.LastRun = s.Last.Run
	}
	if v.State == stateActive {
		v.Next, _ = next(s)
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
	zone, err := LoadZone(s.Zone)
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
	err := s.Views.Read(ctx, projections.ViewAgentSchedules, func(r projections.Reader) error {
		for state, err := range scheduleView.All(r) {
			if err != nil {
				return err
			}
			v := View(state)
			if q.Agent != "" && q.Agent != v.Agent || q.Workspace != "" && q.Workspace != v.Workspace || !q.All && (v.State == stateOver || v.State == stateCancelled) {
				continue
			}
			all = append(all, v)
		}
		return nil
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

// Act cancels, pauses or resumes a schedule, and says what it did. One that may
// refuses by not being there.
func (s *Schedules) Act(ctx context.Context, id, act, by string, actor schemas.Actor, may func(projections.ScheduleState) bool) (done string, err error) {
	payloads := map[string]schemas.Payload{"cancel": schemas.ScheduleCancelled{By: by}, "pause": schemas.SchedulePaused{By: by}, "resume": schemas.ScheduleResumed{By: by}}
	payload := payloads[act]
	if payload == nil {
		return "", refuse("there is no act "+act, "use cancel, pause or resume")
	}
	done = map[string]string{"cancel": "is cancelled", "pause": "is paused", "resume": "goes on"}[act]
	load := func(ctx context.Context) (state *projections.ScheduleState, seq uint64, err error) {
		err = s.Views.Read(ctx, projections.ViewAgentSchedules, func(r projections.Reader) error {
			stored, found, err := scheduleView.Schedule(r, id)
			if found {
				state = &stored
			}
			seq = stored.Seq
			return err
		})
		return state, seq, err
	}
	_, _, err = bus.Decide(ctx, s.Log, load, nil, func(state *projections.ScheduleState) ([]schemas.Payload, error) {
		if state == nil || !may(*state) {
			return nil, noSchedule(id)
		}
		return []schemas.Payload{payload}, mayAct(*state, id, act)
	}, bus.Change{Event: entry(schemas.AgentSchedule(id), actor)})
	if err == nil {
		s.Wake()
	}
	return done, err
}

func noSchedule(id string) error {
	return refuse("there is no schedule "+id, "/schedule list shows them")
}

func mayAct(s projections.ScheduleState, id, act string) error {
	state := stateOf(s)
	switch {
	case state == stateCancelled || state == stateOver:
		return refuse(id+" is "+state, "make a new one")
	case act == "pause" && s.Paused:
		return refuse(id+" is paused already", "resume or cancel it")
	case act == "resume" && !s.Paused:
		return refuse(id+" is not paused", "pause or cancel it")
	}
	return nil
}

// Refusal returns what a refused act says, for a person; ok is false for an
// error that is none.
func Refusal(err error) (text string, ok bool) {
	var refused errRefused
	ok = errors.As(err, &refused)
	return strings.TrimPrefix(refused.result.Text, "ERR: "), ok
}
