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

// reflect applies the events of reflection.
func (w *Observations[S, P]) reflect(v View, e schemas.Event) error {
	scope := e.Aggregate.ID
	switch p := e.Data.(type) {
	case schemas.ReflectionMade:
		for _, id := range p.Read {
			if err := w.fold(v, e, scope, id); err != nil {
				return err
			}
		}
		return setDocument(v, idKey('r', scope), Watermark{Through: p.Through, ReflectionID: p.ReflectionID, Time: e.Time})
	case schemas.ProposalMade:
		return w.foldProposal(v, e, p.ProposalID)
	case schemas.ProposalTriaged:
		return w.foldProposal(v, e, p.ProposalID)
	}
	return nil
}

// foldProposal hands an event to the proposal that it names.
func (w *Observations[S, P]) foldProposal(v View, e schemas.Event, id string) error {
	named := idKey('i', id)
	key, found, err := v.Get(named)
	if err != nil {
		return err
	}
	var state P
	if !found {
		key = numberedKey('p', e.Position)
	} else if state, _, err = getDocument[P](v, key); err != nil {
		return err
	}
	if state = w.propose(state, e); !state.Known() {
		return nil
	}
	if !found {
		if err := v.Set(named, key); err != nil {
			return err
		}
	}
	return setDocument(v, key, state)
}

// Proposals returns all proposals in the order of the log.
func (*Observations[S, P]) Proposals(r Reader) iter.Seq2[P, error] {
	return documents[P](r, []byte{'p'})
}

// Proposal returns one proposal.
func (*Observations[S, P]) Proposal(r Reader, id string) (s P, found bool, err error) {
	key, found, err := r.Get(idKey('i', id))
	if err != nil || !found {
		return s, found, err
	}
	return getDocument[P](r, key)
}

// Watermark returns how far a scope was reflected on.
func (*Observations[S, P]) Watermark(r Reader, scope string) (Watermark, error) {
	w, _, err := getDocument[Watermark](r, idKey('r', scope))
	return w, err
}
