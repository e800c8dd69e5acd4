package projections

import (
	"iter"

	"github.com/writbus/writ/schemas"
)

// AgentSchedules is the schedules that agents made. A query helper takes a Reader
// of ViewAgentSchedules.
//
//	s/<aggregate>  S
type AgentSchedules[S Known] struct {
	evolve   func(S, schemas.Event) S
	onChange func()
}

// NewAgentSchedules returns the view of a fold. evolve cannot fail and depends on
// its arguments alone; S is stored as JSON. onChange, if not nil, is called after
// a change; it must not wait.
func NewAgentSchedules[S Known](evolve func(S, schemas.Event) S, onChange func()) AgentSchedules[S] {
	return AgentSchedules[S]{evolve, onChange}
}

// Name implements Projector.
func (AgentSchedules[S]) Name() string { return ViewAgentSchedules }

// Version implements Projector.
func (AgentSchedules[S]) Version() int { return 1 }

// Types implements Projector.
func (AgentSchedules[S]) Types() []schemas.Type {
	return []schemas.Type{
		schemas.ScheduleAdded{}.EventType(), schemas.ScheduleFired{}.EventType(), schemas.SchedulePaused{}.EventType(),
		schemas.ScheduleResumed{}.EventType(), schemas.ScheduleCancelled{}.EventType(),
	}
}

// Apply implements Projector.
func (w AgentSchedules[S]) Apply(v View, e schemas.Event) error {
	key := idKey('s', e.Aggregate.ID)
	state, _, err := getDocument[S](v, key)
	if err != nil {
		return err
	}
	if state = w.evolve(state, e); !state.Known() {
		return nil
	}
	return setDocument(v, key, state)
}

// Committed implements the hook of the same name.
func (w AgentSchedules[S]) Committed(Commit) error {
	if w.onChange != nil {
		w.onChange()
	}
	return nil
}

// Schedule returns one schedule by its id.
func (AgentSchedules[S]) Schedule(r Reader, id string) (S, bool, error) {
	return getDocument[S](r, idKey('s', schemas.AgentSchedule(id).ID))
}

// All returns every schedule, ordered by id.
func (AgentSchedules[S]) All(r Reader) iter.Seq2[S, error] {
	return documents[S](r, idPrefix('s'))
}
