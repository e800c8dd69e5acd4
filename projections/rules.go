package projections

import (
	"bytes"
	"fmt"
	"iter"
	"time"

	"github.com/writbus/writ/schemas"
)

// Rules is the corpus: every rule that ever was, as it stands, with the events
// that made it. A query helper takes a Reader of the view "rules".
//
//	r/<id>             RuleState
//	h/<id>/<revision>  RuleRevision
//	f/<source>/<id>    "": <id> was last imported from <source>
type Rules struct{}

// NewRules returns the view.
func NewRules() Rules { return Rules{} }

// RuleRevision is one event in the history of a rule.
type RuleRevision struct {
	Revision int              `json:"revision"` // from 1
	Type     schemas.Type     `json:"type"`
	EventID  string           `json:"event_id"`
	Position schemas.Position `json:"position"` // where the content is found
	Time     time.Time        `json:"time"`
	Actor    string           `json:"actor,omitempty"`
	Reason   string           `json:"reason,omitempty"`
	Hash     string           `json:"hash,omitempty"` // of an import
}

// Name implements Projector.
func (Rules) Name() string { return "rules" }

// Version implements Projector.
func (Rules) Version() int { return 3 }

// Types implements Projector.
func (Rules) Types() []schemas.Type { return ruleTypes() }

// Apply implements Projector.
func (Rules) Apply(v View, e schemas.Event) error {
	id := e.Aggregate.ID
	before, _, err := getDocument[RuleState](v, idKey('r', id))
	if err != nil {
		return err
	}
	state := EvolveRule(before, e)
	if err := setDocument(v, idKey('r', id), state); err != nil {
		return err
	}
	if err := moveSource(v, id, before.Source, state.Source); err != nil {
		return err
	}
	rev := RuleRevision{
		Revision: state.Revisions,
		Type:     e.Type(),
		EventID:  e.ID,
		Position: e.Position,
		Time:     e.Time,
		Actor:    e.Actor.String(),
	}
	switch p := e.Data.(type) {
	case schemas.RuleImported:
		rev.Hash = p.Hash
	case schemas.RuleEdited:
		rev.Reason = p.Reason
	case schemas.RuleRetired:
		rev.Reason = p.Reason
	case schemas.RulePromoted:
		rev.Reason = p.Reason
	case schemas.RuleRejected:
		rev.Reason = p.Reason
	case schemas.RuleDownweighted:
		rev.Reason = p.Reason
	}
	return setDocument(v, ordinal(idPrefix('h', id), uint64(rev.Revision)), rev)
}

func moveSource(v View, id, from, to string) error {
	if from == to {
		return nil
	}
	if from != "" {
		if err := v.Delete(idKey('f', from, id)); err != nil {
			return err
		}
	}
	if to == "" {
		return nil
	}
	return v.Set(idKey('f', to, id), nil)
}

// From returns the ids of the rules, of any status, whose last import came from
// a source that begins with a prefix, ordered by encoded source. It reads none
// of the rules.
func (Rules) From(r Reader, prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		begins := []byte("f/")
		if prefix != "" { // of which the token is no prefix
			begins = append(begins, schemas.EncodeToken(prefix)...)
		}
		for e, err := range r.Scan(begins) {
			var id string
			if err == nil {
				if id, err = schemas.DecodeToken(string(e.Key[bytes.LastIndexByte(e.Key, '/')+1:])); err != nil {
					err = fmt.Errorf("projections: key %q: %w", e.Key, err)
				}
			}
			if !yield(id, err) || err != nil {
				return
			}
		}
	}
}

// Rule returns a rule of any status by its id. An id that was only ever
// refused, retired or the like without content has Status "".
func (Rules) Rule(r Reader, id string) (RuleState, bool, error) {
	return getDocument[RuleState](r, idKey('r', id))
}

// All returns the rules of every status, ordered by encoded id.
func (Rules) All(r Reader) iter.Seq2[RuleState, error] {
	return documents[RuleState](r, idPrefix('r'))
}

// Active returns the rules that are in the corpus and that no other rule
// supersedes, ordered by encoded id.
func (w Rules) Active(r Reader) ([]RuleState, error) {
	var all []RuleState
	superseded := map[string]bool{}
	for s, err := range w.All(r) {
		if err != nil {
			return nil, err
		}
		if s.Status != RuleActive {
			continue
		}
		all = append(all, s)
		for _, id := range s.Supersedes() {
			superseded[id] = true
		}
	}
	active := all[:0]
	for _, s := range all {
		if !superseded[s.Rule.ID] {
			active = append(active, s)
		}
	}
	return active, nil
}

// History returns the events of a rule, oldest first.
func (Rules) History(r Reader, id string) iter.Seq2[RuleRevision, error] {
	return documents[RuleRevision](r, idPrefix('h', id))
}
