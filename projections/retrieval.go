package projections

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/writbus/writ/schemas"
)

// RetrievalIndex keeps what the search index in memory is made of: for every
// rule that retrieval may find the document as it was analysed, so that a cold
// start analyses nothing, and the mandatory rules apart from them. A query
// helper takes a Reader of the view "retrieval".
//
// A rule is in one of the two bands while agents are shown it. Which of them another
// one takes the place of, the index of them says.
//
//	d/<id>             the analysed document of a retrieved rule
//	h/<id>             the first half of its SHA-256
//	m/<id>             a mandatory rule, as JSON
//	s/<id>             the state of its fold
type RetrievalIndex struct {
	fold     ruleFold
	analyse  func(schemas.Rule) ([]byte, error)
	version  int
	onChange func(IndexChange) error
}

// retrievalLayout is raised when this file writes other keys or values, or the
// fold shows other rules.
const retrievalLayout = 4

// standing is a rule as [RuleState.Standing] tells it.
type standing struct {
	rule  schemas.Rule
	shown bool
}

// ruleFold folds stored states of rules.
type ruleFold struct {
	// apply folds an event into the state at a key.
	apply func(v View, key []byte, e schemas.Event) (standing, error)
	get   func(r getter, key []byte) (standing, bool, error)
}

func foldOf[S RuleState](evolve func(S, schemas.Event) S) ruleFold {
	standingOf := func(s S) (is standing) {
		is.rule, is.shown = s.Standing()
		return is
	}
	return ruleFold{
		apply: func(v View, key []byte, e schemas.Event) (is standing, err error) {
			before, _, err := getDocument[S](v, key)
			if err != nil {
				return is, err
			}
			after := evolve(before, e)
			return standingOf(after), setDocument(v, key, after)
		},
		get: func(r getter, key []byte) (standing, bool, error) {
			state, found, err := getDocument[S](r, key)
			return standingOf(state), found, err
		},
	}
}

// NewRetrievalIndex returns the view of a fold. analyse depends on the rule alone; its
// bytes are opaque here. version is that of analyse and is raised whenever it
// gives other bytes. onChange, if not nil, hears of every change.
func NewRetrievalIndex[S RuleState](evolve func(S, schemas.Event) S, analyse func(schemas.Rule) ([]byte, error), version int, onChange func(IndexChange) error) *RetrievalIndex {
	return &RetrievalIndex{fold: foldOf(evolve), analyse: analyse, version: version, onChange: onChange}
}

// IndexChange is a new state of the index. It is valid until onChange returns;
// reads that wait for the position that brought it wait for onChange too.
type IndexChange struct {
	// Rebuilt says that everything may have changed: take Documents and
	// Mandatory whole. Otherwise Put and Removed name the difference.
	Rebuilt bool
	Put     []string // ids whose document or mandatory rule is new or changed, sorted
	Removed []string // ids in neither band any more, sorted
	// Seq is the sequence of WRIT_RULES that the state holds.
	Seq uint64

	index  *RetrievalIndex
	reader Reader
}

// Documents returns the analysed documents of the retrieved band ordered
// by encoded id. An error ends it.
func (c IndexChange) Documents() iter.Seq2[Document, error] { return c.index.Documents(c.reader) }

// Sums names the documents of the retrieved band, in the order of Documents,
// without reading them.
func (c IndexChange) Sums() iter.Seq2[DocumentSum, error] { return c.index.Sums(c.reader) }

// Document returns one document of the retrieved band.
func (c IndexChange) Document(id string) ([]byte, bool, error) {
	return c.reader.Get(idKey('d', id))
}

// Mandatory returns the mandatory rules.
func (c IndexChange) Mandatory() iter.Seq2[schemas.Rule, error] { return c.index.Mandatory(c.reader) }

// Rule returns a rule of either band.
func (c IndexChange) Rule(id string) (schemas.Rule, bool, error) { return c.index.Rule(c.reader, id) }

// Document is an analysed rule. Both fields are valid after the iteration.
type Document struct {
	ID    string
	Bytes []byte
}

// DocumentSum names an analysed document by what it holds.
type DocumentSum struct {
	ID  string
	Sum [16]byte // the first half of the SHA-256 of its bytes
}

// Name implements Projector.
func (*RetrievalIndex) Name() string { return "retrieval" }

// Version implements Projector.
func (x *RetrievalIndex) Version() int { return x.version<<8 | retrievalLayout }

// Types implements Projector.
func (*RetrievalIndex) Types() []schemas.Type { return ruleTypes() }

// Apply implements Projector.
func (x *RetrievalIndex) Apply(v View, e schemas.Event) error {
	id := e.Aggregate.ID
	state, err := x.fold.apply(v, idKey('s', id), e)
	if err != nil {
		return err
	}
	always := state.rule.AlwaysShown()
	if err := put(v, idKey('m', id), state.shown && always, func() ([]byte, error) { return json.Marshal(state.rule) }); err != nil {
		return err
	}
	var doc []byte
	err = put(v, idKey('d', id), state.shown && !always, func() (_ []byte, err error) {
		doc, err = x.analyse(state.rule)
		return doc, err
	})
	if err != nil {
		return err
	}
	return put(v, idKey('h', id), state.shown && !always, func() ([]byte, error) {
		sum := sha256.Sum256(doc)
		return sum[:len(DocumentSum{}.Sum)], nil
	})
}

// put makes a key hold what value returns, or be absent. A value that is
// there already is not written, so that it does not count as a change.
func put(v View, key []byte, present bool, value func() ([]byte, error)) error {
	old, found, err := v.Get(key)
	if err != nil {
		return err
	}
	if !present {
		if !found {
			return nil
		}
		return v.Delete(key)
	}
	now, err := value()
	if err != nil {
		return fmt.Errorf("projections: %q: %w", key, err)
	}
	if found && bytes.Equal(old, now) {
		return nil
	}
	return v.Set(key, now)
}

// Committed implements the hook of the same name.
func (x *RetrievalIndex) Committed(c Commit) error {
	if x.onChange == nil {
		return nil
	}
	change := IndexChange{
		Rebuilt: c.Rebuilt,
		Seq:     c.Reader.Position(schemas.StreamRules),
		index:   x,
		reader:  c.Reader,
	}
	ids := map[string]bool{}
	for _, key := range c.Changed {
		if key[0] != 'd' && key[0] != 'm' {
			continue
		}
		id, err := schemas.DecodeToken(key[2:])
		if err != nil {
			return fmt.Errorf("projections: key %q: %w", key, err)
		}
		ids[id] = true
	}
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		in, err := x.inBand(c.Reader, id)
		switch {
		case err != nil:
			return err
		case in:
			change.Put = append(change.Put, id)
		default:
			change.Removed = append(change.Removed, id)
		}
	}
	if !c.Rebuilt && len(ids) == 0 {
		return nil
	}
	return x.onChange(change)
}

func (x *RetrievalIndex) inBand(r getter, id string) (bool, error) {
	for _, band := range []byte{'d', 'm'} {
		if _, found, err := r.Get(idKey(band, id)); err != nil || found {
			return found, err
		}
	}
	return false, nil
}

// Documents returns the analysed documents of the retrieved band, ordered by
// encoded id. An error ends it.
func (*RetrievalIndex) Documents(r Reader) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		for e, err := range r.Scan(idPrefix('d')) {
			var doc Document
			if err == nil {
				doc.ID, err = schemas.DecodeToken(string(e.Key[2:]))
				doc.Bytes = slices.Clone(e.Value)
			}
			if !yield(doc, err) || err != nil {
				return
			}
		}
	}
}

// Sums names the analysed documents of the retrieved band, ordered by encoded
// id. An error ends it.
func (*RetrievalIndex) Sums(r Reader) iter.Seq2[DocumentSum, error] {
	return func(yield func(DocumentSum, error) bool) {
		for e, err := range r.Scan(idPrefix('h')) {
			var doc DocumentSum
			if err == nil {
				doc.ID, err = schemas.DecodeToken(string(e.Key[2:]))
				if copy(doc.Sum[:], e.Value) < len(doc.Sum) && err == nil {
					err = fmt.Errorf("projections: value of %q: %d bytes", e.Key, len(e.Value))
				}
			}
			if !yield(doc, err) || err != nil {
				return
			}
		}
	}
}

// Mandatory returns the mandatory rules, ordered by encoded id.
func (*RetrievalIndex) Mandatory(r Reader) iter.Seq2[schemas.Rule, error] {
	return documents[schemas.Rule](r, idPrefix('m'))
}

// Rule returns a rule of either band.
func (x *RetrievalIndex) Rule(r Reader, id string) (schemas.Rule, bool, error) {
	in, err := x.inBand(r, id)
	if err != nil || !in {
		return schemas.Rule{}, false, err
	}
	state, found, err := x.fold.get(r, idKey('s', id))
	return state.rule, found, err
}
