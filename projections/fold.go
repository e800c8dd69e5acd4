package projections

import (
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

	drafts *drafts[foldDocument[S]]
	key    []byte // scratch
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
	return &Fold[S]{name: name, version: version, types: types, evolve: evolve, drafts: newDrafts[foldDocument[S]]()}
}

// Name implements Projector.
func (f *Fold[S]) Name() string { return f.name }

// Version implements Projector.
func (f *Fold[S]) Version() int { return f.version }

// Types implements Projector.
func (f *Fold[S]) Types() []schemas.Type { return f.types }

// Begin implements Batcher.
func (f *Fold[S]) Begin() { f.drafts.begin() }

// Continue implements Continuer.
func (f *Fold[S]) Continue() { f.drafts.goOn() }

// Apply implements Projector.
func (f *Fold[S]) Apply(v View, e schemas.Event) error {
	f.key = appendIDKey(f.key[:0], 'f', string(e.Aggregate.Kind), e.Aggregate.ID)
	doc, err := f.drafts.of(v, f.key)
	if err != nil {
		return err
	}
	doc.Aggregate, doc.State, doc.Last = e.Aggregate, f.evolve(doc.State, e), e.Position
	return nil
}

// Flush implements Batcher.
func (f *Fold[S]) Flush(v View) error { return f.drafts.flush(v) }

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
