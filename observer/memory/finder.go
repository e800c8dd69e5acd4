package memory

import (
	"sync"
	"time"

	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/excerpt"
)

const (
	// booksKept is how many books' indexes are kept at hand.
	booksKept = 64
	// bookMinScore is what a text has to be worth to be found.
	bookMinScore = 0.25
)

// Finder finds what agents keep with the machinery that finds observations:
// words and meaning together, the latest a little ahead.
type Finder struct {
	d *Service

	mu   sync.Mutex
	kept map[string]keptBook
}

type keptBook struct {
	seq    uint64
	search *snapshot
}

// Text is one of the texts of a book.
type Text struct {
	ID   string
	Text string
	Time time.Time
}

// Finder finds what agents keep.
func (d *Service) Finder() *Finder { return &Finder{d: d} }

// Find returns the ids of the texts of a book that fit a query, best first; key
// names the book, as it stands at a sequence.
func (f *Finder) Find(key string, seq uint64, texts func() []Text, query string, limit int) ([]string, error) {
	search, err := f.index(key, seq, texts)
	if err != nil {
		return nil, err
	}
	q := f.d.kept.query(query)
	q.now, q.limit, q.minScore = f.d.Now(), limit, bookMinScore
	hits := search.search(q)
	ids := make([]string, len(hits))
	for i, h := range hits {
		ids[i] = h.key.ID
	}
	return ids, nil
}

// index returns the index of a book as it stands at a sequence.
func (f *Finder) index(key string, seq uint64, texts func() []Text) (*snapshot, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if one, ok := f.kept[key]; ok && one.seq == seq {
		return one.search, nil
	}
	embedder := f.d.kept.index.embedder
	s := &snapshot{}
	for _, t := range texts() {
		e := &entry{key: schemas.ObservationKey{ID: t.ID}, text: t.Text, time: t.Time}
		e.terms = packTerms(fieldsOf(t.Text, ""))
		if embedder != nil {
			v, err := embedder.Embed(excerpt.Runes(t.Text, embeddedRunes))
			if err != nil {
				return nil, err
			}
			e.vector = v
		}
		s.entries, s.unasked = append(s.entries, e), append(s.unasked, true)
	}
	all, err := newPart(s.entries, 0, len(s.entries), 0, nil, &f.d.kept.index.stopped)
	if err != nil {
		return nil, err
	}
	s.parts = []*part{all}
	if f.kept == nil || len(f.kept) >= booksKept {
		f.kept = map[string]keptBook{}
	}
	f.kept[key] = keptBook{seq, s}
	return s, nil
}
