package daemon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/writbus/writ/observer/memory"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/retrieval"
	"github.com/writbus/writ/retrieval/lexical"
	"github.com/writbus/writ/retrieval/vector"
	"github.com/writbus/writ/schemas"
)

const (
	// tailLeast and tailShare say how many observations may be searched beside
	// the large index before that is built anew to hold them.
	tailLeast = 512
	tailShare = 32
	// tailOverlap is how many older observations the small index holds, too, so
	// that its word statistics resemble those of the large one.
	tailOverlap = 1024
	// shortRunes is below what a text says anything.
	shortRunes = 8
	// embeddedRunes bounds what is embedded: the sense of a text is in its
	// beginning.
	embeddedRunes = 4000
)

// memoryIndex searches what was observed. It follows the view of observations
// and keeps their texts in memory alone. Searches read an immutable snapshot.
type memoryIndex struct {
	current  atomic.Pointer[memorySearch]
	embedder retrieval.Embedder // nil: words alone
	wake     chan struct{}

	pendingMu sync.Mutex
	pending   map[projections.ObservationKey]bool
	anew      bool

	mu      sync.Mutex // of a refresh
	entries []*memoryEntry
	places  map[projections.ObservationKey]int
	large   *memoryPart
	gone    map[int]bool // places of what was forgotten
	erased  bool         // a text was forgotten that the large index still holds
}

// memoryEntry is one observation as it is searched. It never changes, it is
// replaced.
type memoryEntry struct {
	key        projections.ObservationKey
	text       string
	verdict    string
	confidence float64
	category   string
	source     string
	session    string
	time       time.Time
	shown      int
	short      bool
	reflected  bool
	mergedInto string // the older one of its scope that says nearly the same
	fields     lexical.Fields
	vector     []float32
}

// memoryPart is an index of the entries from a place on.
type memoryPart struct {
	from, to int // places that are indexed
	own      int // the first place this part answers for
	words    *lexical.Index
	meanings vector.Index // nil without vectors
}

// memorySearch is a snapshot: places that a part does not answer for are left
// to another.
type memorySearch struct {
	entries   []*memoryEntry // nil where one was forgotten or cannot be read
	parts     []*memoryPart
	unasked   []bool // of each entry: it may be recalled unasked
	forgotten int
	verdicts  map[string]int // entries by verdict
}

// scopesOf lists the scopes that have an observation of an id, forgotten or
// not, sorted.
func (x *memoryIndex) scopesOf(id string) (scopes []string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for k := range x.places {
		if k.ID == id {
			scopes = append(scopes, k.Scope)
		}
	}
	slices.Sort(scopes)
	return scopes
}

// newMemoryIndex makes an empty index. An embedder that takes its time is not
// waited for: words alone are searched then.
func newMemoryIndex(e embedder) *memoryIndex {
	x := &memoryIndex{
		wake: make(chan struct{}, 1), pending: map[projections.ObservationKey]bool{}, places: map[projections.ObservationKey]int{}, gone: map[int]bool{},
	}
	if !e.beside {
		x.embedder = e.Embedder
	}
	x.current.Store(&memorySearch{})
	return x
}

// change hears of the view. It only takes note: nobody who appends waits for
// the index.
func (x *memoryIndex) change(c projections.ObservationChange) error {
	x.pendingMu.Lock()
	x.anew = x.anew || c.Rebuilt
	for _, k := range c.Changed {
		x.pending[k] = true
	}
	x.pendingMu.Unlock()
	select {
	case x.wake <- struct{}{}:
	default:
	}
	return nil
}

func (x *memoryIndex) take() (changed map[projections.ObservationKey]bool, anew bool) {
	x.pendingMu.Lock()
	defer x.pendingMu.Unlock()
	changed, anew = x.pending, x.anew
	x.pending, x.anew = map[projections.ObservationKey]bool{}, false
	return changed, anew
}

// putBack keeps for the next refresh what this one could not take in.
func (x *memoryIndex) putBack(changed map[projections.ObservationKey]bool, anew bool) {
	x.pendingMu.Lock()
	defer x.pendingMu.Unlock()
	x.anew = x.anew || anew
	for k := range changed {
		x.pending[k] = true
	}
}

// refresh brings the index up to the view.
func (x *memoryIndex) refresh(ctx context.Context, m *memoryStore) (*memorySearch, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	changed, anew := x.take()
	if !anew && len(changed) == 0 {
		return x.current.Load(), nil
	}
	err := m.read(func(r projections.Reader) error {
		if anew {
			x.entries, x.places, x.gone, x.large = nil, map[projections.ObservationKey]int{}, map[int]bool{}, nil
			for state, err := range m.view.All(r, 0) {
				if err == nil {
					err = ctx.Err()
				}
				if err != nil {
					return err
				}
				if err := x.put(m, state); err != nil {
					return err
				}
			}
			return nil
		}
		return x.putChanged(r, m, changed)
	})
	if err == nil {
		err = x.publish()
	}
	if err != nil {
		x.putBack(changed, anew)
		return x.current.Load(), err
	}
	return x.current.Load(), nil
}

func (x *memoryIndex) putChanged(r projections.Reader, m *memoryStore, changed map[projections.ObservationKey]bool) error {
	var states []projections.ObservationState
	for k := range changed {
		state, found, err := m.view.Observation(r, k)
		if err != nil {
			return err
		}
		if found {
			states = append(states, state)
		}
	}
	slices.SortFunc(states, func(a, b projections.ObservationState) int { return comparePositions(a.Position, b.Position) })
	for _, state := range states {
		if err := x.put(m, state); err != nil {
			return err
		}
	}
	return nil
}

func comparePositions(a, b schemas.Position) int {
	if a.Seq != b.Seq {
		return int(min(max(int64(a.Seq-b.Seq), -1), 1))
	}
	return a.Part - b.Part
}

// put takes one observation in as it stands.
func (x *memoryIndex) put(m *memoryStore, state projections.ObservationState) error {
	place, known := x.places[state.ObservationKey]
	if !known {
		place = len(x.entries)
		x.places[state.ObservationKey] = place
		x.entries = append(x.entries, nil)
	}
	old := x.entries[place]
	if state.Forgotten != nil {
		x.erased = x.erased || old != nil
		x.entries[place], x.gone[place] = nil, true
		return nil
	}
	e := &memoryEntry{
		key: state.ObservationKey, verdict: state.Verdict(), confidence: state.Recorded.Confidence,
		source: state.Recorded.Origin, session: state.Recorded.Session, time: state.Time, shown: state.Shown,
		reflected: state.Reflected != "", mergedInto: state.MergedInto,
	}
	if old != nil {
		e.text, e.category, e.short, e.fields, e.vector = old.text, old.category, old.short, old.fields, old.vector
		x.entries[place] = e
		return nil
	}
	recorded, err := m.open(state)
	switch {
	case errors.Is(err, errForgotten), errors.Is(err, errNoKey), errors.Is(err, memory.ErrSealed):
		return nil // nobody can read it any more; export names it
	case err != nil:
		return err
	}
	e.text, e.category = recorded.Text, recorded.Category
	e.short = utf8.RuneCountInString(e.text) < shortRunes
	e.fields[lexical.Statement] = lexical.CountTerms(e.text)
	e.fields[lexical.Tags] = lexical.CountTerms(e.category)
	if x.embedder != nil && !e.short {
		if e.vector, err = x.embedder.Embed(clipText(e.text, embeddedRunes)); err != nil {
			return fmt.Errorf("daemon: embed an observation: %w", err)
		}
	}
	x.entries[place] = e
	return nil
}

// publish makes the entries as they are the ones that are searched.
func (x *memoryIndex) publish() error {
	n := len(x.entries)
	if x.large == nil || x.erased || n-x.large.to > max(tailLeast, n/tailShare) {
		large, err := newMemoryPart(x.entries, 0, n, 0)
		if err != nil {
			return err
		}
		x.large, x.erased = large, false
	}
	next := &memorySearch{entries: slices.Clone(x.entries), parts: []*memoryPart{x.large}}
	if n > x.large.to {
		tail, err := newMemoryPart(x.entries, x.large.to, n, tailOverlap)
		if err != nil {
			return err
		}
		next.parts = append(next.parts, tail)
	}
	next.forgotten, next.verdicts = len(x.gone), map[string]int{}
	next.unasked = make([]bool, n)
	for i, e := range next.entries {
		if e != nil {
			next.verdicts[e.verdict]++
			next.unasked[i] = memory.MayRecall(&e.verdict, false, false) && !e.short
		}
	}
	x.current.Store(next)
	return nil
}

// newMemoryPart indexes the entries of some places, and so many before them for
// the statistics.
func newMemoryPart(entries []*memoryEntry, from, to, overlap int) (*memoryPart, error) {
	p := &memoryPart{from: max(from-overlap, 0), to: to, own: from}
	fields := make([]lexical.Fields, to-p.from)
	var views []vector.View
	for i, e := range entries[p.from:to] {
		if e == nil {
			continue
		}
		fields[i] = e.fields
		if e.vector != nil {
			views = append(views, vector.View{Doc: int32(i), Vector: e.vector})
		}
	}
	p.words = lexical.New(fields)
	if len(views) == 0 {
		return p, nil
	}
	var err error
	p.meanings, err = vector.New(views)
	return p, err
}
