package projections

import (
	"encoding/binary"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/writbus/writ/schemas"
)

// Observations is what was observed, as it stands: with the verdicts that
// people changed, without what was forgotten. What an observation says stays
// sealed as it is in the log, so that the view holds no text that has to be
// erased. A query helper takes a Reader of the view "observations".
//
//	o/<scope>/<observation>            ObservationState
//	s<seq><part>                       the key of the observation recorded there
//	a/<alarm>                          Alarm, while it is raised
//	u/<session>/<scope>/<observation>  "": the session was shown it
//	w/<path>                           TranscriptObserved: how far it was read
//	p<seq><part>                       ProposalState
//	i/<proposal>                       the key of the proposal
//	r/<scope>                          Watermark: how far it was reflected on
type Observations struct {
	onChange func(ObservationChange) error
}

// NewObservations returns the view. onChange, if not nil, hears of every
// change.
func NewObservations(onChange func(ObservationChange) error) *Observations {
	return &Observations{onChange: onChange}
}

// ObservationKey names an observation.
type ObservationKey struct {
	Scope string `json:"scope"`
	ID    string `json:"id"`
}

// ObservationChange is a new state of the view. It is valid until onChange
// returns.
type ObservationChange struct {
	Rebuilt bool             // anything may have changed
	Changed []ObservationKey // whose state is new or changed
}

// ObservationState is one observation as it stands.
type ObservationState struct {
	ObservationKey
	// Recorded is the event, sealed as it was. Only its id is left of one that
	// was forgotten, with verdict, confidence and, of a fallback, the reason.
	Recorded schemas.ObservationRecorded `json:"recorded"`
	Position schemas.Position            `json:"position"` // of the record
	Time     time.Time                   `json:"time"`
	Actor    string                      `json:"actor,omitempty"`
	Regated  []ObservationRegate         `json:"regated,omitempty"` // oldest first
	// Forgotten says who had it erased, and why.
	Forgotten *ObservationRegate `json:"forgotten,omitempty"`
	Shown     int                `json:"shown,omitempty"` // to how many sessions
	// Reflected is the reflection that read it, which happens once. MergedInto
	// is the older observation of its scope that says nearly the same.
	Reflected        string  `json:"reflected,omitempty"`
	MergedInto       string  `json:"merged_into,omitempty"`
	MergedSimilarity float64 `json:"merged_similarity,omitempty"`
}

// ObservationRegate is a change of a verdict, or of a forgotten observation the
// act of forgetting.
type ObservationRegate struct {
	Verdict string    `json:"verdict,omitempty"`
	Reason  string    `json:"reason"`
	Actor   string    `json:"actor,omitempty"`
	Time    time.Time `json:"time"`
}

// Verdict is the one that holds now.
func (s ObservationState) Verdict() string {
	if n := len(s.Regated); n > 0 {
		return s.Regated[n-1].Verdict
	}
	return s.Recorded.Verdict
}

// Alarm is an alarm of drift that is raised.
type Alarm struct {
	schemas.DriftRaised
	Since time.Time `json:"since"`
}

// Name implements Projector.
func (*Observations) Name() string { return "observations" }

// Version implements Projector.
func (*Observations) Version() int { return 4 }

// Types implements Projector.
func (*Observations) Types() []schemas.Type {
	return []schemas.Type{
		schemas.ObservationRecorded{}.EventType(), schemas.ObservationRegated{}.EventType(), schemas.ObservationForgotten{}.EventType(),
		schemas.MemoryShown{}.EventType(), schemas.DriftRaised{}.EventType(), schemas.DriftCleared{}.EventType(),
		schemas.TranscriptObserved{}.EventType(), schemas.ReflectionMade{}.EventType(), schemas.ObservationMerged{}.EventType(),
		schemas.ProposalMade{}.EventType(), schemas.ProposalTriaged{}.EventType(),
	}
}

// Apply implements Projector.
func (*Observations) Apply(v View, e schemas.Event) error {
	switch p := e.Data.(type) {
	case schemas.ObservationRecorded:
		return recordObservation(v, e, p)
	case schemas.ObservationRegated:
		return changeObservation(v, e.Aggregate.ID, p.ObservationID, func(s *ObservationState) {
			s.Regated = append(s.Regated, ObservationRegate{Verdict: p.Verdict, Reason: p.Reason, Actor: e.Actor.String(), Time: e.Time})
		})
	case schemas.ObservationForgotten:
		return forgetObservation(v, e, p)
	case schemas.MemoryShown:
		return showObservations(v, p)
	case schemas.DriftRaised:
		return setDocument(v, idKey('a', p.Alarm), Alarm{DriftRaised: p, Since: e.Time})
	case schemas.DriftCleared:
		return v.Delete(idKey('a', p.Alarm))
	case schemas.TranscriptObserved:
		return setDocument(v, idKey('w', p.Path), p)
	}
	return applyReflection(v, e)
}

// recordObservation takes a record in, unless its id is known, forgotten or
// not.
func recordObservation(v View, e schemas.Event, p schemas.ObservationRecorded) error {
	key := idKey('o', e.Aggregate.ID, p.ObservationID)
	if _, found, err := v.Get(key); err != nil || found {
		return err
	}
	state := ObservationState{
		ObservationKey: ObservationKey{e.Aggregate.ID, p.ObservationID},
		Recorded:       p, Position: e.Position, Time: e.Time, Actor: e.Actor.String(),
	}
	return placeObservation(v, key, state)
}

func placeObservation(v View, key []byte, state ObservationState) error {
	if err := v.Set(sequenceKey(state.Position), key); err != nil {
		return err
	}
	return setDocument(v, key, state)
}

func sequenceKey(p schemas.Position) []byte {
	return ordinal(ordinal([]byte{'s'}, p.Seq), uint64(p.Part))
}

func changeObservation(v View, scope, id string, change func(*ObservationState)) error {
	key := idKey('o', scope, id)
	state, found, err := getDocument[ObservationState](v, key)
	if err != nil || !found {
		return err
	}
	change(&state)
	return setDocument(v, key, state)
}

// forgetObservation leaves the tombstone, also of an observation that never
// came: it is not taken in later either.
func forgetObservation(v View, e schemas.Event, p schemas.ObservationForgotten) error {
	key := idKey('o', e.Aggregate.ID, p.ObservationID)
	state, found, err := getDocument[ObservationState](v, key)
	if err != nil {
		return err
	}
	if !found {
		state = ObservationState{ObservationKey: ObservationKey{e.Aggregate.ID, p.ObservationID}, Position: e.Position, Time: e.Time}
		state.Recorded.ObservationID = p.ObservationID
	}
	if state.Forgotten != nil {
		return nil
	}
	r := &state.Recorded
	r.Original, r.Text, r.Category, r.Sealed = nil, "", "", nil
	if !r.Fallback {
		r.Reason = ""
	}
	state.Forgotten = &ObservationRegate{Reason: p.Reason, Actor: e.Actor.String(), Time: e.Time}
	if !found {
		return placeObservation(v, key, state)
	}
	return setDocument(v, key, state)
}

func showObservations(v View, p schemas.MemoryShown) error {
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
		if err := changeObservation(v, shown.Scope, shown.ObservationID, func(s *ObservationState) { s.Shown++ }); err != nil {
			return err
		}
	}
	return nil
}

// Committed implements the hook of the same name.
func (w *Observations) Committed(c Commit) error {
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
func observationKey(key []byte) (k ObservationKey, err error) {
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
func (*Observations) Observation(r Reader, k ObservationKey) (ObservationState, bool, error) {
	return getDocument[ObservationState](r, idKey('o', k.Scope, k.ID))
}

// All returns the observations in the order of the log, those recorded after a
// sequence.
func (*Observations) All(r Reader, after uint64) iter.Seq2[ObservationState, error] {
	return func(yield func(ObservationState, error) bool) {
		for e, err := range r.Scan([]byte{'s'}) {
			if err == nil && sequenceOf(e.Key) <= after {
				continue
			}
			var state ObservationState
			if err == nil {
				state, _, err = getDocument[ObservationState](r, e.Value)
			}
			if !yield(state, err) || err != nil {
				return
			}
		}
	}
}

// Alarms returns the alarms that are raised, ordered by name.
func (*Observations) Alarms(r Reader) iter.Seq2[Alarm, error] {
	return documents[Alarm](r, idPrefix('a'))
}

// Transcript returns how far a transcript was read.
func (*Observations) Transcript(r Reader, path string) (schemas.TranscriptObserved, error) {
	t, _, err := getDocument[schemas.TranscriptObserved](r, idKey('w', path))
	return t, err
}

// ShownTo returns what a session was shown.
func (*Observations) ShownTo(r Reader, session string) (map[ObservationKey]bool, error) {
	shown := map[ObservationKey]bool{}
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
