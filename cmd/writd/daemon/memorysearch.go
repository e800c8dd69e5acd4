package daemon

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/writbus/writ/observer/memory"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/retrieval/lexical"
	"github.com/writbus/writ/schemas"
)

const (
	// decayPerDay and the form of the score: MEMORY.md, flow.
	decayPerDay = 0.01
	// usageWeight is what it adds to have been shown e−1 times.
	usageWeight = 0.05
	// meaningShare is the share of the vectors in relevance.
	meaningShare = 0.5
	// candidatesLeast is how many candidates of words and of meaning are scored
	// whole.
	candidatesLeast = 64
	// defaultMinScore is a little below what one word in common of three gives.
	defaultMinScore = 0.2
	recallLimit     = 10
	recallMost      = 200
	droppedIDs      = 10
)

// What was dropped. Persisted in scripts; never change.
const (
	droppedHeld      = "held_by_write_gate"
	droppedDiscarded = "discarded_by_write_gate"
	droppedShort     = "too_short"
	droppedStale     = "stale"
	droppedLow       = "below_min_score"
)

// memoryQuery is a recall with its instant.
type memoryQuery struct {
	text                        string
	vector                      []float32 // nil: words alone
	includeHold, includeDiscard bool
	category                    string
	scopes                      []string
	limit                       int
	minScore                    float64
	now                         time.Time
	skip                        func(*memoryEntry) bool // nil skips none
}

// memoryHit is an entry with its score taken apart.
type memoryHit struct {
	*memoryEntry
	why   schemas.RecallWhy
	score float64
}

// relevance is the score without age and usage.
func (h memoryHit) relevance(vectors bool) float64 {
	if !vectors {
		return h.why.Words
	}
	return (1-meaningShare)*h.why.Words + meaningShare*h.why.Meaning
}

// mayRecall is the filter that every search applies while it looks for the
// best, so that what is kept back takes no place.
func (q memoryQuery) mayRecall(e *memoryEntry) bool {
	return memory.MayRecall(&e.verdict, q.includeHold, q.includeDiscard) && q.concerns(e) && !e.short
}

// concerns is the filter without the verdict.
func (q memoryQuery) concerns(e *memoryEntry) bool {
	return (q.category == "" || strings.EqualFold(e.category, q.category)) &&
		(len(q.scopes) == 0 || slices.Contains(q.scopes, e.key.Scope)) &&
		(q.skip == nil || !q.skip(e))
}

// search returns the hits, best first, and the candidates that the score left
// out.
func (s *memorySearch) search(q memoryQuery) (hits, below []memoryHit) {
	all := s.admitted(q)
	told := map[projections.ObservationKey]bool{}
	for _, h := range all {
		// Of what was merged one is shown: the best that the query may see.
		if said := h.said(); told[said] {
			continue
		} else if h.score >= q.minScore {
			told[said] = true
		}
		if h.score >= q.minScore && h.score > 0 && len(hits) < q.limit {
			hits = append(hits, h)
		} else if h.score < q.minScore {
			below = append(below, h)
		}
	}
	return hits, below
}

// said names what an entry says: itself, or the older one it was merged into.
func (e *memoryEntry) said() projections.ObservationKey {
	if e.mergedInto == "" {
		return e.key
	}
	return projections.ObservationKey{Scope: e.key.Scope, ID: e.mergedInto}
}

// admitted scores the best entries that a query may see. Most queries ask for
// what may be recalled unasked; that is looked up beside the entries, since a
// look at each of them would be most of a search's time.
func (s *memorySearch) admitted(q memoryQuery) []memoryHit {
	if q.includeHold || q.includeDiscard {
		return s.candidates(q, func(_ int, e *memoryEntry) bool { return e != nil && q.mayRecall(e) })
	}
	if q.category == "" && len(q.scopes) == 0 && q.skip == nil {
		return s.candidates(q, func(place int, _ *memoryEntry) bool { return s.unasked[place] })
	}
	return s.candidates(q, func(place int, e *memoryEntry) bool { return s.unasked[place] && q.concerns(e) })
}

// candidates scores the best entries that keep admits, best first.
func (s *memorySearch) candidates(q memoryQuery, keep func(int, *memoryEntry) bool) []memoryHit {
	k := max(candidatesLeast, 4*q.limit)
	var all []memoryHit
	for _, p := range s.parts {
		all = append(all, p.candidates(s.entries, q, k, keep)...)
	}
	slices.SortFunc(all, func(a, b memoryHit) int {
		return cmp.Or(cmp.Compare(b.score, a.score), b.time.Compare(a.time),
			cmp.Compare(a.key.Scope, b.key.Scope), cmp.Compare(a.key.ID, b.key.ID))
	})
	return all
}

func (p *memoryPart) candidates(entries []*memoryEntry, q memoryQuery, k int, keep func(int, *memoryEntry) bool) []memoryHit {
	admit := func(doc int32) bool {
		place := p.from + int(doc)
		return place >= p.own && keep(place, entries[place])
	}
	asked := p.words.Resolve(q.text)
	var docs []int32
	for _, m := range p.words.Search(asked, k, admit) {
		docs = append(docs, m.Doc)
	}
	vectors := p.meanings != nil && q.vector != nil
	if vectors {
		for _, m := range p.meanings.Nearest(q.vector, k, admit) {
			docs = append(docs, m.Doc)
		}
	}
	slices.Sort(docs)
	docs = slices.Compact(docs)
	cosines := make([]float64, len(docs))
	if vectors {
		p.meanings.Cosines(q.vector, docs, cosines)
	}
	hits := make([]memoryHit, len(docs))
	for i, doc := range docs {
		hits[i] = score(entries[p.from+int(doc)], asked, doc, cosines[i], vectors, q.now)
	}
	return hits
}

func score(e *memoryEntry, asked lexical.Query, doc int32, cosine float64, vectors bool, now time.Time) memoryHit {
	age := max(now.Sub(e.time).Hours()/24, 0)
	h := memoryHit{memoryEntry: e, why: schemas.RecallWhy{
		Words: asked.Coverage(doc), Meaning: min(max(cosine, 0), 1),
		AgeDays: age, Decay: math.Exp(-decayPerDay * age), Usage: 1 + usageWeight*math.Log1p(float64(e.shown)),
	}}
	h.score = h.relevance(vectors) * h.why.Decay * h.why.Usage
	return h
}

// dropped explains what matched and is not among the hits.
func (s *memorySearch) dropped(q memoryQuery, below []memoryHit) []schemas.RecallDropped {
	passing := func(keep func(*memoryEntry) bool) (hits []memoryHit) {
		for _, h := range s.candidates(q, func(_ int, e *memoryEntry) bool { return e != nil && keep(e) }) {
			if h.score >= q.minScore && h.score > 0 {
				hits = append(hits, h)
			}
		}
		return hits
	}
	verdict := func(v string) []memoryHit {
		return passing(func(e *memoryEntry) bool { return e.verdict == v && q.concerns(e) })
	}
	var out []schemas.RecallDropped
	add := func(reason string, hits []memoryHit, named bool) {
		if len(hits) == 0 {
			return
		}
		d := schemas.RecallDropped{Reason: reason, Count: len(hits)}
		for _, h := range hits[:min(len(hits), droppedIDs)] {
			if named {
				d.IDs = append(d.IDs, h.key.ID)
			}
		}
		out = append(out, d)
	}
	if !q.includeHold {
		add(droppedHeld, verdict(memory.Hold), false)
	}
	if !q.includeDiscard {
		add(droppedDiscarded, verdict(memory.Discard), false)
	}
	add(droppedShort, passing(func(e *memoryEntry) bool {
		return e.short && q.concerns(e) && memory.MayRecall(&e.verdict, q.includeHold, q.includeDiscard)
	}), true)
	var stale, low []memoryHit
	for _, h := range below {
		if h.score > 0 && h.score/h.why.Decay >= q.minScore {
			stale = append(stale, h)
		} else {
			low = append(low, h)
		}
	}
	add(droppedStale, stale, true)
	add(droppedLow, low, true)
	return out
}

// categories lists those of the observations that a query may see, sorted.
func (s *memorySearch) categories(q memoryQuery) []string {
	q.category = ""
	var all []string
	for _, e := range s.entries {
		if e != nil && e.category != "" && q.mayRecall(e) {
			all = append(all, e.category)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// recalled is an entry as it is told.
func (h memoryHit) recalled(explain bool) schemas.Recalled {
	r := schemas.Recalled{
		ObservationID: h.key.ID, Scope: h.key.Scope, Text: h.text, Score: h.score, Verdict: h.verdict, Confidence: h.confidence,
		Category: h.category, Source: h.source, Session: h.session, Time: h.time,
	}
	if r.Verdict == "" {
		r.Verdict = memory.Allow
	}
	if explain {
		r.Why = &h.why
	}
	return r
}
