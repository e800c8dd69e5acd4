package memory

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/writbus/writ/observer/observation"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/retrieval"
	"github.com/writbus/writ/retrieval/embed/choice"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/excerpt"
)

const (
	// tailLeast and tailShare say how many observations may be searched beside
	// the large index before that is built anew to hold them, beside everything
	// else; tailWorst times as many are not waited for, but taken in at once.
	tailLeast = 512
	tailShare = 128
	tailWorst = 8
	// tailOverlap is how many older observations the small index holds, too, so
	// that its word statistics resemble those of the large one.
	tailOverlap = 1024
	// shortRunes is below what a text says anything.
	shortRunes = 8
	// embeddedRunes bounds what is embedded: the sense of a text is in its
	// beginning.
	embeddedRunes = 4000
)

// index searches what was observed. It follows the view of observations
// and keeps their texts in memory alone. Searches read an immutable snapshot.
type index struct {
	current  atomic.Pointer[snapshot]
	embedder retrieval.Embedder // nil: words alone
	wake     chan struct{}
	stopped  atomic.Bool   // no part is finished any more
	changes  atomic.Uint64 // of the view

	pendingMu sync.Mutex
	pending   map[schemas.ObservationKey]bool
	anew      bool

	mu       sync.Mutex // of a refresh
	entries  []*entry
	unasked  []bool         // of each entry: it may be recalled unasked
	verdicts map[string]int // entries by verdict
	told     int            // entries that a snapshot shares
	places   map[schemas.ObservationKey]int
	large    *part
	tail     *part        // of what is not in large; nil for nothing
	gone     map[int]bool // places of what was forgotten
	keyless  int          // how many have no key
	erased   bool         // a text was forgotten that an index still holds
}

// entry is one observation as it is searched. It never changes, it is
// replaced.
type entry struct {
	key        schemas.ObservationKey
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
	terms      packedTerms
	vector     []float32
}

// snapshot is what searches read. It never changes; each entry is answered for by
// one part.
type snapshot struct {
	entries   []*entry // nil where one was forgotten or cannot be read
	parts     []*part
	unasked   []bool // of each entry: it may be recalled unasked
	forgotten int
	keyless   int            // how many have no key
	verdicts  map[string]int // entries by verdict
}

// scopesOf lists the scopes that have an observation of an id, forgotten or
// not, sorted.
func (x *index) scopesOf(id string) (scopes []string) {
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

// newIndex makes an empty index. An embedder that takes its time is not
// waited for: words alone are searched then.
func newIndex(e choice.Embedder) *index {
	x := &index{
		wake: make(chan struct{}, 1), pending: map[schemas.ObservationKey]bool{}, places: map[schemas.ObservationKey]int{}, gone: map[int]bool{},
		verdicts: map[string]int{},
	}
	if e = e.Many(); !e.Beside {
		x.embedder = e.Embedder
	}
	x.current.Store(&snapshot{})
	return x
}

// change hears of the view. It only takes note: nobody who appends waits for
// the index.
func (x *index) change(c projections.ObservationChange) error {
	x.pendingMu.Lock()
	x.anew = x.anew || c.Rebuilt
	for _, k := range c.Changed {
		x.pending[k] = true
	}
	x.pendingMu.Unlock()
	x.changes.Add(1)
	select {
	case x.wake <- struct{}{}:
	default:
	}
	return nil
}

func (x *index) take() (changed map[schemas.ObservationKey]bool, anew bool) {
	x.pendingMu.Lock()
	defer x.pendingMu.Unlock()
	changed, anew = x.pending, x.anew
	x.pending, x.anew = map[schemas.ObservationKey]bool{}, false
	return changed, anew
}

// putBack keeps for the next refresh what this one could not take in.
func (x *index) putBack(changed map[schemas.ObservationKey]bool, anew bool) {
	x.pendingMu.Lock()
	defer x.pendingMu.Unlock()
	x.anew = x.anew || anew
	for k := range changed {
		x.pending[k] = true
	}
}

// refresh brings the index up to the view.
func (x *index) refresh(ctx context.Context, m *Store) (*snapshot, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.refreshLocked(ctx, m)
}

// atHand returns the index with what the view has by now, where that takes next
// to no time.
func (x *index) atHand(ctx context.Context, m *Store) *snapshot {
	if !x.mu.TryLock() {
		return x.current.Load()
	}
	defer x.mu.Unlock()
	x.pendingMu.Lock()
	few := !x.anew && len(x.pending) < tailLeast
	x.pendingMu.Unlock()
	if few {
		if _, err := x.refreshLocked(ctx, m); err != nil {
			return x.current.Load() // follow tries again, and says so
		}
	}
	return x.current.Load()
}

func (x *index) refreshLocked(ctx context.Context, m *Store) (*snapshot, error) {
	changed, anew := x.take()
	if !anew && len(changed) == 0 {
		return x.current.Load(), nil
	}
	err := m.read(func(r projections.Reader) error {
		if anew {
			x.entries, x.unasked, x.verdicts, x.told = nil, nil, map[string]int{}, 0
			x.places, x.gone, x.keyless, x.large, x.tail = map[schemas.ObservationKey]int{}, map[int]bool{}, 0, nil, nil
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
				m.rest()
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

func (x *index) putChanged(r projections.Reader, m *Store, changed map[schemas.ObservationKey]bool) error {
	var states []observation.State
	for k := range changed {
		state, found, err := m.view.Observation(r, k)
		if err != nil {
			return err
		}
		if found {
			states = append(states, state)
		}
	}
	slices.SortFunc(states, func(a, b observation.State) int { return comparePositions(a.Position, b.Position) })
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
func (x *index) put(m *Store, state observation.State) error {
	place, known := x.places[state.ObservationKey]
	if !known {
		place = len(x.entries)
		x.places[state.ObservationKey] = place
		x.entries, x.unasked = append(x.entries, nil), append(x.unasked, false)
	}
	old := x.entries[place]
	if state.Forgotten != nil {
		if _, err := m.keys.get(state.ObservationKey); err == nil { // a copy of the keys brought it back
			if err := m.keys.erase(state.ObservationKey); err != nil {
				return err
			}
		}
		x.erased = x.erased || old != nil
		x.set(place, nil)
		x.gone[place] = true
		return nil
	}
	e := &entry{
		key: state.ObservationKey, verdict: state.Verdict(), confidence: state.Recorded.Confidence,
		source: state.Recorded.Origin, session: state.Recorded.Session, time: state.Time, shown: state.Shown,
		reflected: state.Reflected != "", mergedInto: state.MergedInto,
	}
	if old != nil {
		e.text, e.category, e.short, e.terms, e.vector = old.text, old.category, old.short, old.terms, old.vector
		x.set(place, e)
		return nil
	}
	recorded, err := m.open(state)
	switch {
	case unreadable(err):
		if errors.Is(err, errNoKey) && !known {
			x.keyless++
		}
		return nil // nobody can read it any more; export names it
	case err != nil:
		return err
	}
	e.text, e.category = recorded.Text, recorded.Category
	e.short = utf8.RuneCountInString(e.text) < shortRunes
	e.terms = packTerms(fieldsOf(e.text, e.category))
	if x.embedder != nil && !e.short {
		if e.vector, err = x.embedder.Embed(excerpt.Runes(e.text, embeddedRunes)); err != nil {
			return fmt.Errorf("memory: embed an observation: %w", err)
		}
	}
	x.set(place, e)
	return nil
}

// set puts an entry, or nil, in its place. A snapshot shares the slices as far
// as it goes: what lies behind that may be written to, before it nothing.
func (x *index) set(place int, e *entry) {
	if place < x.told {
		x.entries, x.unasked, x.told = slices.Clone(x.entries), slices.Clone(x.unasked), 0
	}
	if old := x.entries[place]; old != nil {
		if x.verdicts[old.verdict]--; x.verdicts[old.verdict] == 0 {
			delete(x.verdicts, old.verdict)
		}
	}
	x.entries[place], x.unasked[place] = e, false
	if e != nil {
		x.verdicts[e.verdict]++
		x.unasked[place] = observation.MayRecall(&e.verdict, false, false) && !e.short
	}
}

// tailMost is how many entries may be beside the large index.
func tailMost(n int) int { return max(tailLeast, n/tailShare) }

// publish makes the entries as they are the ones that are searched.
func (x *index) publish() (err error) {
	n := len(x.entries)
	if x.large == nil || x.erased || n-x.large.to > tailWorst*tailMost(n) {
		// The words anew: an index that is built after another keeps those of
		// what was forgotten.
		if x.large, err = newPart(x.entries, 0, n, 0, x.large.meaning(), &x.stopped); err != nil {
			return err
		}
		x.tail, x.erased = nil, false
	}
	return x.publishTail()
}

func (x *index) publishTail() (err error) {
	n := len(x.entries)
	next := &snapshot{
		entries: x.entries[:n:n], unasked: x.unasked[:n:n], parts: []*part{x.large},
		forgotten: len(x.gone), keyless: x.keyless, verdicts: maps.Clone(x.verdicts),
	}
	if n > x.large.to {
		if x.tail == nil || x.tail.to < n {
			if x.tail, err = newPart(x.entries, x.large.to, n, tailOverlap, x.tail, &x.stopped); err != nil {
				return err
			}
		}
		next.parts = append(next.parts, x.tail)
	}
	x.told = n
	x.current.Store(next)
	return nil
}

// merge takes what is beside the large index into it, once that is much.
// Nobody waits for it: searches and refreshes go on with what there is.
func (x *index) merge() error {
	x.mu.Lock()
	was, entries := x.large, x.current.Load().entries
	x.mu.Unlock()
	if n := len(entries); was == nil || n-was.to <= tailMost(n) {
		return nil
	}
	large, err := newPart(entries, 0, len(entries), 0, was, &x.stopped)
	if err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.large != was {
		return nil // what it was made of was forgotten or built anew
	}
	x.large, x.tail = large, nil
	return x.publishTail()
}
