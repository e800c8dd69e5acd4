package daemon

import (
	"context"
	"sync"

	"github.com/writbus/writ/observer/agent"
	"github.com/writbus/writ/projections"
)

const (
	// booksKept is how many books' indexes are kept at hand.
	booksKept = 64
	// bookMinScore is what a text has to be worth to be found.
	bookMinScore = 0.25
)

// bookFinder finds what agents keep with the machinery that finds observations:
// words and meaning together, the latest a little ahead.
type bookFinder struct {
	d *Daemon

	mu   sync.Mutex
	kept map[string]keptBook
}

type keptBook struct {
	seq    uint64
	search *memorySearch
}

// Find implements agent.Finder.
func (f *bookFinder) Find(_ context.Context, key string, seq uint64, texts func() []agent.Text, query string, limit int) ([]string, error) {
	search, err := f.index(key, seq, texts)
	if err != nil {
		return nil, err
	}
	q := f.d.memoryQuery(query)
	q.limit, q.minScore = limit, bookMinScore
	hits := search.search(q)
	ids := make([]string, len(hits))
	for i, h := range hits {
		ids[i] = h.key.ID
	}
	return ids, nil
}

// index returns the index of a book as it stands at a sequence.
func (f *bookFinder) index(key string, seq uint64, texts func() []agent.Text) (*memorySearch, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if one, ok := f.kept[key]; ok && one.seq == seq {
		return one.search, nil
	}
	embedder := f.d.views.memory.index.embedder
	s := &memorySearch{}
	for _, t := range texts() {
		e := &memoryEntry{key: projections.ObservationKey{ID: t.ID}, text: t.Text, time: t.Time}
		e.terms = packTerms(fieldsOf(t.Text, ""))
		if embedder != nil {
			v, err := embedder.Embed(clipText(t.Text, embeddedRunes))
			if err != nil {
				return nil, err
			}
			e.vector = v
		}
		s.entries, s.unasked = append(s.entries, e), append(s.unasked, true)
	}
	part, err := newMemoryPart(s.entries, 0, len(s.entries), 0, nil)
	if err != nil {
		return nil, err
	}
	s.parts = []*memoryPart{part}
	if f.kept == nil || len(f.kept) >= booksKept {
		f.kept = map[string]keptBook{}
	}
	f.kept[key] = keptBook{seq, s}
	return s, nil
}
