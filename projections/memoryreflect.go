package projections

import (
	"iter"
	"time"

	"github.com/writbus/writ/schemas"
)

// Watermark says how far a scope was reflected on.
type Watermark struct {
	Through      uint64    `json:"through"`
	ReflectionID string    `json:"reflection_id"`
	Time         time.Time `json:"time"`
}

// ProposalState is a proposal as it stands. Its text stays sealed as it is in
// the log.
type ProposalState struct {
	schemas.ProposalMade
	Scope  string          `json:"scope"`
	Time   time.Time       `json:"time"`
	Actor  string          `json:"actor,omitempty"`
	Triage *ProposalTriage `json:"triage,omitempty"` // nil while it is open
}

// ProposalTriage is the decision about a proposal.
type ProposalTriage struct {
	schemas.ProposalTriaged
	Actor string    `json:"actor,omitempty"`
	Time  time.Time `json:"time"`
}

// RestsOn says whether the proposal was made of an observation.
func (s ProposalState) RestsOn(k ObservationKey) bool {
	if s.Scope != k.Scope {
		return false
	}
	for _, id := range s.Observations {
		if id == k.ID {
			return true
		}
	}
	return false
}

// applyReflection applies the events of reflection.
func applyReflection(v View, e schemas.Event) error {
	scope := e.Aggregate.ID
	switch p := e.Data.(type) {
	case schemas.ReflectionMade:
		for _, id := range p.Read {
			if err := changeObservation(v, scope, id, func(s *ObservationState) { s.Reflected = p.ReflectionID }); err != nil {
				return err
			}
		}
		return setDocument(v, idKey('r', scope), Watermark{Through: p.Through, ReflectionID: p.ReflectionID, Time: e.Time})
	case schemas.ObservationMerged:
		return changeObservation(v, scope, p.ObservationID, func(s *ObservationState) { s.MergedInto, s.MergedSimilarity = p.Into, p.Similarity })
	case schemas.ProposalMade:
		return makeProposal(v, e, p)
	case schemas.ProposalTriaged:
		return triageProposal(v, e, p)
	}
	return nil
}

// makeProposal takes a proposal in, unless its id is known.
func makeProposal(v View, e schemas.Event, p schemas.ProposalMade) error {
	named := idKey('i', p.ProposalID)
	if _, found, err := v.Get(named); err != nil || found {
		return err
	}
	key := ordinal(ordinal([]byte{'p'}, e.Position.Seq), uint64(e.Position.Part))
	if err := v.Set(named, key); err != nil {
		return err
	}
	return setDocument(v, key, ProposalState{ProposalMade: p, Scope: e.Aggregate.ID, Time: e.Time, Actor: e.Actor.String()})
}

// triageProposal applies the first decision about a proposal.
func triageProposal(v View, e schemas.Event, p schemas.ProposalTriaged) error {
	key, found, err := v.Get(idKey('i', p.ProposalID))
	if err != nil || !found {
		return err
	}
	state, found, err := getDocument[ProposalState](v, key)
	if err != nil || !found || state.Triage != nil {
		return err
	}
	state.Triage = &ProposalTriage{ProposalTriaged: p, Actor: e.Actor.String(), Time: e.Time}
	return setDocument(v, key, state)
}

// Proposals returns all proposals in the order of the log.
func (*Observations) Proposals(r Reader) iter.Seq2[ProposalState, error] {
	return documents[ProposalState](r, []byte{'p'})
}

// Proposal returns one proposal.
func (*Observations) Proposal(r Reader, id string) (s ProposalState, found bool, err error) {
	key, found, err := r.Get(idKey('i', id))
	if err != nil || !found {
		return s, found, err
	}
	return getDocument[ProposalState](r, key)
}

// Watermark returns how far a scope was reflected on.
func (*Observations) Watermark(r Reader, scope string) (Watermark, error) {
	w, _, err := getDocument[Watermark](r, idKey('r', scope))
	return w, err
}
