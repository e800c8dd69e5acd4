package schedule

import (
	"errors"
	"fmt"
	"time"

	"github.com/writbus/writ/schemas"
)

// State is one schedule as its events leave it. It is stored as JSON.
type State struct {
	Added     schemas.ScheduleAdded  `json:"added"`
	Given     time.Time              `json:"given"` // when it was added
	Seq       uint64                 `json:"seq"`   // of its last event: what a change expects
	Paused    bool                   `json:"paused,omitempty"`
	Resumed   time.Time              `json:"resumed,omitzero"` // the last time it was
	Cancelled bool                   `json:"cancelled,omitempty"`
	Fired     int                    `json:"fired,omitempty"`
	Last      *schemas.ScheduleFired `json:"last,omitempty"` // the last fire
	LastTime  time.Time              `json:"last_time,omitzero"`
}

// Evolve folds one event of a schedule. It cannot fail: a schedule is added
// once, and what comes before that changes nothing.
func Evolve(s State, e schemas.Event) State {
	added, adds := e.Data.(schemas.ScheduleAdded)
	if adds == s.Known() {
		return s
	}
	switch p := e.Data.(type) {
	case schemas.ScheduleAdded:
		s.Added, s.Given = added, e.Time
	case schemas.ScheduleFired:
		s.Fired, s.Last, s.LastTime = s.Fired+1, &p, e.Time
	case schemas.SchedulePaused:
		s.Paused = true
	case schemas.ScheduleResumed:
		s.Paused, s.Resumed = false, e.Time
	case schemas.ScheduleCancelled:
		s.Cancelled = true
	default:
		return s
	}
	s.Seq = e.Position.Seq
	return s
}

// Known reports whether it was added.
func (s State) Known() bool { return s.Seq > 0 }

// Of reports whether it is an agent's in a workspace.
func (s State) Of(agent, workspace string) bool {
	return s.Added.Agent == agent && s.Added.Workspace == workspace
}

// Status is what a schedule is shown as.
type Status string

// The statuses.
const (
	Active    Status = "active"
	Paused    Status = "paused"
	Cancelled Status = "cancelled"
	Over      Status = "over"
)

// Ended reports whether it never fires again.
func (s Status) Ended() bool { return s == Cancelled || s == Over }

// Status of a schedule that was added.
func (s State) Status() Status {
	switch {
	case s.Cancelled:
		return Cancelled
	case s.Paused:
		return Paused
	}
	if plan, err := s.Plan(); err != nil || plan.Kind == Once && s.Fired > 0 {
		return Over
	}
	return Active
}

// Plan reads the phrase again, as it was given.
func (s State) Plan() (Plan, error) {
	zone, err := LoadZone(s.Added.Zone)
	if err != nil {
		return Plan{}, err
	}
	return Parse(s.Added.Line, s.Given, zone)
}

// Next is the next moment, past or not; ok is false for one that is over.
func (s State) Next(now time.Time) (at time.Time, ok bool) {
	plan, err := s.Plan()
	if err != nil {
		return time.Time{}, false
	}
	return plan.Next(s.since(plan, now))
}

// clockSet is how far a clock may have been set back while schedules still wait for
// what it showed before.
const clockSet = time.Hour

// since is the moment after which fires count: the last one, or for a recurring
// one when it was resumed. What a single fire missed while it was paused it makes
// up for. A recurring one that fired while the clock was far ahead does not rest
// until then.
func (s State) since(plan Plan, now time.Time) time.Time {
	last := time.Time{}
	if s.Last != nil {
		last = s.Last.At
	}
	if plan.Kind == Recurring && s.Resumed.After(last) {
		last = s.Resumed
	}
	if plan.Kind == Recurring && last.Sub(now) > clockSet {
		last = now.Add(-clockSet)
	}
	return last
}

// ErrZone is returned for the name of a zone that is not known here.
var ErrZone = errors.New("schedule: unknown time zone")

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
