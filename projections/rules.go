package projections

import (
	"bytes"
	"fmt"
	"iter"
	"time"

	"github.com/writbus/writ/schemas"
)

// RuleState is what the views need of a rule as its events leave it. What the
// events mean is not decided here: their fold is handed in.
type RuleState interface {
	// Standing is the rule, and whether agents are shown it.
	Standing() (rule schemas.Rule, shown bool)
	// Origin is the source of its last import, "" for none, and the number of its
	// last revision, from 1.
	Origin() (source string, revision int)
}

// Rules is the corpus: every rule that ever was, as it stands, with the events
// that made it. A query helper takes a Reader of the view "rules".
//
//	r/<id>             S
//	h/<id>/<revision>  RuleRevision
//	f/<source>/<id>    "": <id> was last imported from <source>
type Rules[S RuleState] struct{ evolve func(S, schemas.Event) S }

// NewRules returns the view of a fold. evolve cannot fail and depends on its
// arguments alone; S is stored as JSON.
func NewRules[S RuleState](evolve func(S, schemas.Event) S) Rules[S] { return Rules[S]{evolve} }

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
func (Rules[S]) Name() string { return "rules" }

// Version implements Projector.
func (Rules[S]) Version() int { return 4 }

// Types implements Projector.
func (Rules[S]) Types() []schemas.Type { return ruleTypes() }

// Apply implements Projector.
func (w Rules[S]) Apply(v View, e schemas.Event) error {
	id := e.Aggregate.ID
	before, _, err := getDocument[S](v, idKey('r', id))
	if err != nil {
		return err
	}
	state := w.evolve(before, e)
	was, _ := before.Origin()
	is, revision := state.Origin()
	if err := setDocument(v, idKey('r', id), state); err != nil {
		return err
	}
	if err := moveSource(v, id, was, is); err != nil {
		return err
	}
	rev := RuleRevision{
		Revision: revision,
		Type:     e.Type(),
		EventID:  e.ID,
		Position: e.Position,
		Time:     e.Time,
		Actor:    e.Actor.String(),
	}
	switch p := e.Data.(type) {
	case schemas.RuleImported:
		rev.Hash = p.Hash
		if p.Release != nil {
			rev.Reason = "release " + p.Release.Text()
		}
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
func (Rules[S]) From(r Reader, prefix string) iter.Seq2[string, error] {
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

// Rule returns a rule of any status by its id, found where it has any event.
func (Rules[S]) Rule(r Reader, id string) (S, bool, error) {
	return getDocument[S](r, idKey('r', id))
}

// All returns the rules of every status, ordered by encoded id.
func (Rules[S]) All(r Reader) iter.Seq2[S, error] {
	return documents[S](r, idPrefix('r'))
}

// History returns the events of a rule, oldest first.
func (Rules[S]) History(r Reader, id string) iter.Seq2[RuleRevision, error] {
	return documents[RuleRevision](r, idPrefix('h', id))
}

// ruleTypes are the events that change a rule.
func ruleTypes() []schemas.Type {
	return []schemas.Type{
		schemas.RuleImported{}.EventType(), schemas.RuleEdited{}.EventType(), schemas.RuleRetired{}.EventType(),
		schemas.RuleProposed{}.EventType(), schemas.RulePromoted{}.EventType(), schemas.RuleRejected{}.EventType(),
		schemas.RuleDownweighted{}.EventType(),
	}
}
