package projections

import (
	"encoding/json"
	"fmt"
	"iter"

	"github.com/writbus/writ/schemas"
)

// Fold is a view with one document per aggregate: its events folded into a
// state. The document is what a cold aggregate is loaded from, before the tail
// of its own subject.
//
// S is stored as JSON, and stays decoded in memory while events of the
// aggregate go on. So S must survive JSON: evolve must do the same with a
// decoded state as with the one that was encoded.
type Fold[S any] struct {
	name    string
	version int
	types   []schemas.Type
	evolve  func(S, schemas.Event) S

	kept  map[string]*keptDocument[S] // of this batch, and recent ones
	size  int                         // of what is kept, in bytes of JSON
	round int                         // number of the batch
	key   []byte                      // scratch
}

// foldKeep bounds the documents that a Fold keeps decoded, in bytes of their
// JSON: those of the sessions that go on at the time.
const foldKeep = 4 << 20

type keptDocument[S any] struct {
	foldDocument[S]
	size  int // as it was last read or written
	round int // of the last event
}

// foldDocument is the stored form. Persisted; never change a field's meaning
// without a new version of the view.
type foldDocument[S any] struct {
	Aggregate schemas.Aggregate `json:"aggregate"`
	Last      schemas.Position  `json:"last"` // of the last event folded in
	State     S                 `json:"state"`
}

// Folded is one document of a Fold.
type Folded[S any] struct {
	Aggregate schemas.Aggregate
	// Last is the position of the last event folded in; its sequence is what
	// the aggregate's tail is read after.
	Last  schemas.Position
	State S
}

// NewFold returns a view of the aggregates that events of these types belong
// to; types must not be empty. evolve cannot fail and depends on its arguments
// alone.
func NewFold[S any](name string, version int, types []schemas.Type, evolve func(S, schemas.Event) S) *Fold[S] {
	return &Fold[S]{name: name, version: version, types: types, evolve: evolve, kept: map[string]*keptDocument[S]{}}
}

// Name implements Projector.
func (f *Fold[S]) Name() string { return f.name }

// Version implements Projector.
func (f *Fold[S]) Version() int { return f.version }

// Types implements Projector.
func (f *Fold[S]) Types() []schemas.Type { return f.types }

// Begin implements Batcher.
func (f *Fold[S]) Begin() {
	clear(f.kept)
	f.size = 0
}

// Continue implements Continuer. Documents that the batch before did not touch
// go first.
func (f *Fold[S]) Continue() {
	if f.size > foldKeep {
		for key, doc := range f.kept {
			if doc.round != f.round {
				f.size -= doc.size
				delete(f.kept, key)
			}
		}
	}
	if f.size > foldKeep {
		f.Begin()
	}
	f.round++
}

// Apply implements Projector.
func (f *Fold[S]) Apply(v View, e schemas.Event) error {
	f.key = appendIDKey(f.key[:0], 'f', string(e.Aggregate.Kind), e.Aggregate.ID)
	doc := f.kept[string(f.key)]
	if doc == nil {
		stored, _, err := getDocument[foldDocument[S]](v, f.key)
		if err != nil {
			return err
		}
		doc = &keptDocument[S]{foldDocument: stored}
		doc.Aggregate = e.Aggregate
		f.kept[string(f.key)] = doc
	}
	doc.State = f.evolve(doc.State, e)
	doc.Last, doc.round = e.Position, f.round
	return nil
}

// Flush implements Batcher.
func (f *Fold[S]) Flush(v View) error {
	for key, doc := range f.kept {
		if doc.round != f.round {
			continue
		}
		value, err := json.Marshal(doc.foldDocument)
		if err != nil {
			return fmt.Errorf("projections: value of %q: %w", key, err)
		}
		if err := v.Set([]byte(key), value); err != nil {
			return err
		}
		f.size += len(value) - doc.size
		doc.size = len(value)
	}
	return nil
}

// Load returns the state of an aggregate and the sequence of the last event
// in it; found is false for an aggregate without events.
func (f *Fold[S]) Load(r Reader, a schemas.Aggregate) (state S, last uint64, found bool, err error) {
	doc, found, err := getDocument[foldDocument[S]](r, foldKey(a))
	return doc.State, doc.Last.Seq, found, err
}

// All returns every document, ordered by kind and encoded id.
func (f *Fold[S]) All(r Reader) iter.Seq2[Folded[S], error] {
	return func(yield func(Folded[S], error) bool) {
		for doc, err := range documents[foldDocument[S]](r, []byte{'f'}) {
			if !yield(Folded[S](doc), err) {
				return
			}
		}
	}
}

func foldKey(a schemas.Aggregate) []byte { return idKey('f', string(a.Kind), a.ID) }
