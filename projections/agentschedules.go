package projections

import (
	"iter"
	"time"

	"github.com/writbus/writ/schemas"
)

// AgentSchedules is the schedules that agents made. A query helper takes a Reader
// of ViewAgentSchedules.
//
//	s/<aggregate>  ScheduleState
type AgentSchedules struct {
	onChange func()
}

// ScheduleState is one schedule as it stands.
type ScheduleState struct {
	Added     schemas.ScheduleAdded  `json:"added"`
	Given     time.Time              `json:"given"` // when it was added
	Seq       uint64                 `json:"seq"`   // of its last event: what a fire expects
	Paused    bool                   `json:"paused,omitempty"`
	Resumed   time.Time              `json:"resumed,omitzero"` // the last time it was
	Cancelled bool                   `json:"cancelled,omitempty"`
	Fired     int                    `json:"fired,omitempty"`
	Last      *schemas.ScheduleFired `json:"last,omitempty"` // the last fire
	LastTime  time.Time              `json:"last_time,omitzero"`
}

// NewAgentSchedules returns the view. onChange, if not nil, is called after a
// change; it must not wait.
func NewAgentSchedules(onChange func()) AgentSchedules { return AgentSchedules{onChange} }

// Name implements Projector.
func (AgentSchedules) Name() string { return ViewAgentSchedules }

// Version implements Projector.
func (AgentSchedules) Version() int { return 1 }

// Types implements Projector.
func (AgentSchedules) Types() []schemas.Type {
	return []schemas.Type{
		schemas.ScheduleAdded{}.EventType(), schemas.ScheduleFired{}.EventType(), schemas.SchedulePaused{}.EventType(),
		schemas.ScheduleResumed{}.EventType(), schemas.ScheduleCancelled{}.EventType(),
	}
}

// Apply implements Projector.
func (AgentSchedules) Apply(v View, e schemas.Event) error {
	key := idKey('s', e.Aggregate.ID)
	state, known, err := getDocument[ScheduleState](v, key)
	if err != nil {
		return err
	}
	added, adds := e.Data.(schemas.ScheduleAdded)
	if adds == known {
		return nil // it is added once, and before all else
	}
	state.Seq = e.Position.Seq
	switch p := e.Data.(type) {
	case schemas.ScheduleAdded:
		state.Added, state.Given = added, e.Time
	case schemas.ScheduleFired:
		state.Fired, state.Last, state.LastTime = state.Fired+1, &p, e.Time
	case schemas.SchedulePaused:
		state.Paused = true
	case schemas.ScheduleResumed:
		state.Paused, state.Resumed = false, e.Time
	case schemas.ScheduleCancelled:
		state.Cancelled = true
	}
	return setDocument(v, key, state)
}

// Committed implements the hook of the same name.
func (s AgentSchedules) Committed(Commit) error {
	if s.onChange != nil {
		s.onChange()
	}
	return nil
}

// Schedule returns one schedule by its id.
func (AgentSchedules) Schedule(r Reader, id string) (ScheduleState, bool, error) {
	return getDocument[ScheduleState](r, idKey('s', schemas.AgentSchedule(id).ID))
}

// All returns every schedule, ordered by id.
func (AgentSchedules) All(r Reader) iter.Seq2[ScheduleState, error] {
	return documents[ScheduleState](r, idPrefix('s'))
}
