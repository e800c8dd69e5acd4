package index

import (
	"errors"
	"fmt"
	"iter"

	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/retrieval"
	"github.com/writbus/writ/retrieval/mapped"
)

// The documents of many rules lie in a file that is mapped into memory, so that
// their texts and vectors, most of what they take, are not in the heap and are
// not read at a start. The file is a copy of what the view "retrieval" holds,
// which names each document by its sum: a document that is another one in the
// view, or not in the file, is read from the view.

const (
	// PackFrom is how many documents outside the file are worth a new one: they
	// are some five megabytes.
	PackFrom = 1000
	// packPart is what part of those in the file they are at least, so that few
	// imports do not write everything again.
	packPart = 4
)

// packed are the documents that lie in a file.
type packed struct {
	path  string
	pages mapped.Pages // of the latest file
	in    int          // documents of it in use
	out   int          // documents in the heap
	// failed says that a file could not be made, which is not tried again.
	failed bool
}

// due says whether enough documents are in the heap.
func (p *packed) due() bool { return !p.failed && p.out >= PackFrom && p.out*packPart >= p.in }

// storedDocuments are what the view holds.
type storedDocuments interface {
	Sums() iter.Seq2[projections.DocumentSum, error]
	Document(id string) (raw []byte, found bool, err error)
}

// documents are those of the view, as far as possible from the file. Nothing is
// found where there is no file, or most of it is of other documents.
func (p *packed) documents(view storedDocuments) (docs []retrieval.Document, found bool, err error) {
	file, err := mapped.Open(p.path)
	if err != nil {
		return nil, false, nil //nolint:nilerr // a file that cannot be used is as good as none: what it holds is in the view
	}
	defer func() {
		switch {
		case err != nil:
			file.Pages().Drop() // what the error says may point into it
		case !found:
			file.Pages().Free() // and with it its place on the disk
		}
	}()
	var stored [][]byte
	var others []string
	for doc, err := range view.Sums() {
		if err != nil {
			return nil, false, err
		}
		if raw, there := file.Value(doc.Sum); there {
			stored = append(stored, raw)
		} else {
			others = append(others, doc.ID)
		}
	}
	if len(others) > len(stored) {
		return nil, false, nil
	}
	in := len(stored)
	for _, id := range others {
		raw, there, err := view.Document(id)
		if err != nil {
			return nil, false, err
		}
		if !there {
			return nil, false, fmt.Errorf("index: the view has the sum of rule %s and not the rule", id)
		}
		stored = append(stored, raw)
	}
	docs, err = retrieval.UnmarshalDocuments(stored)
	if err != nil {
		return nil, false, err
	}
	p.pages, p.in, p.out = file.Pages(), in, len(others)
	return docs, true, nil
}

// Pack moves documents from the heap into the file, where enough of them are in
// the heap. The index is built anew of the same documents. Where that fails they
// stay in the heap, and it is said once.
func (c *Index) Pack(views Views) {
	err := c.pack(views)
	if err == nil {
		return
	}
	c.changing.Lock()
	c.packed.failed = true
	c.changing.Unlock()
	if c.options.Warn != nil && !errors.Is(err, mapped.ErrUnsupported) {
		c.options.Warn(err)
	}
}

// Views reads a view by its name.
type Views interface {
	Read(view string, read func(projections.Reader) error) error
}

func (c *Index) pack(views Views) error {
	if c.vectors != nil || !c.packDue() {
		return nil
	}
	var view *projections.RetrievalIndex // its reads need nothing of one
	return views.Read(view.Name(), func(reader projections.Reader) error {
		err := mapped.Write(c.packed.path, func(yield func([]byte, error) bool) {
			for doc, err := range view.Documents(reader) {
				if !yield(doc.Bytes, err) {
					return
				}
			}
		})
		if err != nil {
			return err
		}
		file, err := mapped.Open(c.packed.path)
		if err != nil {
			return err
		}
		return c.takePacked(file, view.Sums(reader))
	})
}

// packDue says whether documents should be moved.
func (c *Index) packDue() bool {
	c.changing.Lock()
	defer c.changing.Unlock()
	return c.packed.due()
}

// takePacked puts the documents of a file in place of those that are the same,
// and builds the index of them.
func (c *Index) takePacked(file *mapped.File, sums iter.Seq2[projections.DocumentSum, error]) error {
	c.changing.Lock()
	defer c.changing.Unlock()
	in := 0
	for named, err := range sums {
		if err != nil {
			return err
		}
		old, known := c.docs[named.ID]
		raw, there := file.Value(named.Sum)
		if !known || !there {
			continue
		}
		doc, err := retrieval.UnmarshalDocument(raw)
		if err != nil {
			return err
		}
		if doc.Sum() != old.Sum() || doc.EmbeddedBy() != old.EmbeddedBy() {
			continue // changed meanwhile
		}
		c.docs[named.ID] = doc
		in++
	}
	if err := c.publish(c.all()); err != nil {
		return err
	}
	c.text.share(c.docs)
	c.packed.pages, c.packed.in, c.packed.out = file.Pages(), in, max(len(c.docs)-in, 0)
	return nil
}

// DropPages gives back the pages of the documents' file.
func (c *Index) DropPages() {
	c.changing.Lock()
	defer c.changing.Unlock()
	c.packed.pages.Drop()
}
