package projections

import (
	"encoding/json"
	"fmt"
)

// draftsKeep bounds the documents of a kind that a view keeps decoded, in bytes
// of their JSON: those of the sessions that go on at the time.
const draftsKeep = 4 << 20

// drafts are the JSON documents that a view works on, decoded. Each is read once
// and written when its batch is flushed, however many events change it, and
// stays for the next batch, within bounds. A document must survive JSON: one that
// is read again does the same as one that stayed.
type drafts[T any] struct {
	kept  map[string]*draft[T]
	size  int // of what is kept, in bytes of JSON
	round int // number of the batch
}

type draft[T any] struct {
	doc   T
	size  int // as it was last written
	round int // of the last change
}

func newDrafts[T any]() *drafts[T] { return &drafts[T]{kept: map[string]*draft[T]{}} }

// begin forgets everything.
func (d *drafts[T]) begin() {
	clear(d.kept)
	d.size = 0
}

// goOn starts another batch of the same view. Documents that the batch before
// did not touch go first, and no more of them than are too many.
func (d *drafts[T]) goOn() {
	for key, one := range d.kept {
		if d.size <= draftsKeep {
			break
		}
		if one.round != d.round {
			d.size -= one.size
			delete(d.kept, key)
		}
	}
	if d.size > draftsKeep {
		d.begin()
	}
	d.round++
}

// of is the document under a key, to be changed.
func (d *drafts[T]) of(v View, key []byte) (*T, error) {
	return d.from(key, func() (T, error) {
		doc, _, err := getDocument[T](v, key)
		return doc, err
	})
}

// from is of for a document that is read in another way.
func (d *drafts[T]) from(key []byte, read func() (T, error)) (*T, error) {
	one := d.kept[string(key)]
	if one == nil {
		doc, err := read()
		if err != nil {
			return nil, err
		}
		one = &draft[T]{doc: doc}
		d.kept[string(key)] = one
	}
	one.round = d.round
	return &one.doc, nil
}

// flush writes what this batch changed.
func (d *drafts[T]) flush(v View) error {
	return d.flushWith(func(key string, _ *T, value []byte) error { return v.Set([]byte(key), value) })
}

// flushWith is flush for documents that are written in another way.
func (d *drafts[T]) flushWith(write func(key string, doc *T, value []byte) error) error {
	for key, one := range d.kept {
		if one.round != d.round {
			continue
		}
		value, err := json.Marshal(&one.doc)
		if err != nil {
			return fmt.Errorf("projections: value of %q: %w", key, err)
		}
		if err := write(key, &one.doc, value); err != nil {
			return err
		}
		d.size += len(value) - one.size
		one.size = len(value)
	}
	return nil
}
