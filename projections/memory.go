package projections

import (
	"encoding/binary"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/writbus/writ/schemas"
)

// Known is what a view needs of a state: whether an event began it. What the
// events mean is not decided here: their fold is handed in.
type Known interface{ Known() bool }

// Observations is what was observed and proposed, as it stands. What an
// observation says stays sealed as it is in the log, so that the view holds no
// text that has to be erased. A query helper takes a Reader of the view
// "observations".
//
//	o/<scope>/<observation>            S
//	s<seq><part>                       the key of the observation that began there
//	a/<alarm>                          Alarm, while it is raised
//	u/<session>/<scope>/<observation>  "": the session was shown it
//	w/<path>                           TranscriptObserved: how far it was read
//	p<seq><part>                       P
//	i/<proposal>                       the key of the proposal
//	r/<scope>                          Watermark: how far it was reflected on
type Observations[S, P Known] struct {
	evolve   func(S, schemas.Event) S
	propose  func(P, schemas.Event) P
	onChange func(ObservationChange) error
}

// NewObservations returns the view of two folds: evolve of observations, of which
// it sees the events that name one, and of what a session is shown the first
// time alone; propose of proposals. They cannot fail and depend on their
// arguments alone; S and P are stored as JSON. onChange, if not nil, hears of
// every change.
func NewObservations[S, P Known](evolve func(S, schemas.Event) S, propose func(P, schemas.Event) P, onChange func(ObservationChange) error) *Observations[S, P] {
	return &Observations[S, P]{evolve, propose, onChange}
}

// ObservationChange is a new state of the view. It is valid until onChange
// returns.
type ObservationChange struct {
	Rebuilt bool                     // anything may have changed
	Changed []schemas.ObservationKey // whose state is new or changed
}

// Alarm is an alarm of drift that is raised.
type Alarm struct {
	schemas.DriftRaised
	Since time.Time `json:"since"`
}

// Name implements Projector.
func (*Observations[S, P]) Name() string { return "observations" }

// Version implements Projector.
func (*Observations[S, P]) Version() int { return 4 }

// Types implements Projector.
func (*Observations[S, P]) Types() []schemas.Type {
	return []schemas.Type{
		schemas.ObservationRecorded{}.EventType(), schemas.ObservationRegated{}.EventType(), schemas.ObservationForgotten{}.EventType(),
		schemas.MemoryShown{}.EventType(), schemas.DriftRaised{}.EventType(), schemas.DriftCleared{}.EventType(),
		schemas.TranscriptObserved{}.EventType(), schemas.ReflectionMade{}.EventType(), schemas.ObservationMerged{}.EventType(),
		schemas.ProposalMade{}.EventType(), schemas.ProposalTriaged{}.EventType(),
	}
}

// Apply implements Projector.
func (w *Observations[S, P]) Apply(v View, e schemas.Event) error {
	scope := e.Aggregate.ID
	switch p := e.Data.(type) {
	case schemas.ObservationRecorded:
		return w.fold(v, e, scope, p.ObservationID)
	case schemas.ObservationRegated:
		return w.fold(v, e, scope, p.ObservationID)
	case schemas.ObservationForgotten:
		return w.fold(v, e, scope, p.ObservationID)
	case schemas.ObservationMerged:
		return w.fold(v, e, scope, p.ObservationID)
	case schemas.MemoryShown:
		return w.show(v, e, p)
	case schemas.DriftRaised:
		return setDocument(v, idKey('a', p.Alarm), Alarm{DriftRaised: p, Since: e.Time})
	case schemas.DriftCleared:
		return v.Delete(idKey('a', p.Alarm))
	case schemas.TranscriptObserved:
		return setDocument(v, idKey('w', p.Path), p)
	}
	return w.reflect(v, e)
}

// fold hands an event to an observation that it names.
func (w *Observations[S, P]) fold(v View, e schemas.Event, scope, id string) error {
	key := idKey('o', scope, id)
	state, found, err := getDocument[S](v, key)
	if err != nil {
		return err
	}
	if state = w.evolve(state, e); !state.Known() {
		return nil
	}
	if !found {
		if err := v.Set(numberedKey('s', e.Position), key); err != nil {
			return err
		}
	}
	return setDocument(v, key, state)
}

// numberedKey is the key of what began at a position.
func numberedKey(kind byte, p schemas.Position) []byte {
	return ordinal(ordinal([]byte{kind}, p.Seq), uint64(p.Part))
}

// show hands what a session was shown to those that it was not shown before.
func (w *Observations[S, P]) show(v View, e schemas.Event, p schemas.MemoryShown) error {
	for _, shown := range p.Shown {
		key := idKey('u', p.Session, shown.Scope, shown.ObservationID)
		if _, found, err := v.Get(key); err != nil {
			return err
		} else if found {
			continue
		}
		if err := v.Set(key, nil); err != nil {
			return err
		}
		if err := w.fold(v, e, shown.Scope, shown.ObservationID); err != nil {
			return err
		}
	}
	return nil
}

// Committed implements the hook of the same name.
func (w *Observations[S, P]) Committed(c Commit) error {
	if w.onChange == nil {
		return nil
	}
	change := ObservationChange{Rebuilt: c.Rebuilt}
	for _, key := range c.Changed {
		if key[0] != 'o' {
			continue
		}
		named, err := observationKey([]byte(key))
		if err != nil {
			return err
		}
		change.Changed = append(change.Changed, named)
	}
	if !c.Rebuilt && len(change.Changed) == 0 {
		return nil
	}
	return w.onChange(change)
}

// observationKey reads the ids that a key ends in: scope and observation.
func observationKey(key []byte) (k schemas.ObservationKey, err error) {
	tokens := splitTokens(key)
	if len(tokens) < 3 {
		return k, fmt.Errorf("projections: key %q names no observation", key)
	}
	if k.Scope, err = schemas.DecodeToken(tokens[len(tokens)-2]); err != nil {
		return k, fmt.Errorf("projections: key %q: %w", key, err)
	}
	if k.ID, err = schemas.DecodeToken(tokens[len(tokens)-1]); err != nil {
		return k, fmt.Errorf("projections: key %q: %w", key, err)
	}
	return k, nil
}

// Observation returns one observation.
func (*Observations[S, P]) Observation(r Reader, k schemas.ObservationKey) (S, bool, error) {
	return getDocument[S](r, idKey('o', k.Scope, k.ID))
}

// All returns the observations in the order of the log, those recorded after a
// sequence.
func (*Observations[S, P]) All(r Reader, after uint64) iter.Seq2[S, error] {
	return func(yield func(S, error) bool) {
		for e, err := range r.Scan([]byte{'s'}) {
			if err == nil && sequenceOf(e.Key) <= after {
				continue
			}
			var state S
			if err == nil {
				state, _, err = getDocument[S](r, e.Value)
			}
			if !yield(state, err) || err != nil {
				return
			}
		}
	}
}

// Alarms returns the alarms that are raised, ordered by name.
func (*Observations[S, P]) Alarms(r Reader) iter.Seq2[Alarm, error] {
	return documents[Alarm](r, idPrefix('a'))
}

// Transcript returns how far a transcript was read.
func (*Observations[S, P]) Transcript(r Reader, path string) (schemas.TranscriptObserved, error) {
	t, _, err := getDocument[schemas.TranscriptObserved](r, idKey('w', path))
	return t, err
}

// ShownTo returns what a session was shown.
func (*Observations[S, P]) ShownTo(r Reader, session string) (map[schemas.ObservationKey]bool, error) {
	shown := map[schemas.ObservationKey]bool{}
	for e, err := range r.Scan(idPrefix('u', session)) {
		if err != nil {
			return nil, err
		}
		k, err := observationKey(e.Key)
		if err != nil {
			return nil, err
		}
		shown[k] = true
	}
	return shown, nil
}

func splitTokens(key []byte) []string { return strings.Split(string(key), "/") }

func sequenceOf(key []byte) uint64 { return binary.BigEndian.Uint64(key[1:]) }
