package memory

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/writbus/writ/observer/observation"
	"github.com/writbus/writ/retrieval/lexical"
	"github.com/writbus/writ/retrieval/vector"
	"github.com/writbus/writ/schemas"
)

const (
	// decayPerDay is what a day of age takes from a score.
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

// query is a recall with its instant.
type query struct {
	text                        string
	vector                      []float32 // nil: words alone
	includeHold, includeDiscard bool
	category                    string
	scopes                      []string
	shared                      bool // besides scopes, what others shared
	limit                       int
	minScore                    float64
	now                         time.Time
	skip                        func(*entry) bool // nil skips none
}

// hit is an entry with its score taken apart.
type hit struct {
	*entry
	why   schemas.RecallWhy
	score float64
}

// relevance is the score without age and usage.
func (h hit) relevance(vectors bool) float64 {
	if !vectors {
		return h.why.Words
	}
	return (1-meaningShare)*h.why.Words + meaningShare*h.why.Meaning
}

// mayRecall is the filter that every search applies while it looks for the
// best, so that what is kept back takes no place.
func (q query) mayRecall(e *entry) bool {
	return observation.MayRecall(&e.verdict, q.includeHold, q.includeDiscard) && q.concerns(e) && !e.short
}

// concerns is the filter without the verdict.
func (q query) concerns(e *entry) bool {
	return (q.category == "" || strings.EqualFold(e.category, q.category)) &&
		(len(q.scopes) == 0 || slices.Contains(q.scopes, e.key.Scope) || q.shared && fromOthers(e.key.Scope)) &&
		(q.skip == nil || !q.skip(e))
}

// search returns the hits, best first.
func (s *snapshot) search(q query) []hit {
	good := make([]*hit, 0, candidatesLeast)
	all := s.admitted(q)
	for i := range all {
		if h := &all[i]; h.score >= q.minScore && h.score > 0 {
			good = append(good, h)
		}
	}
	slices.SortFunc(good, better)
	hits := make([]hit, 0, min(q.limit, len(good)))
	for _, h := range good {
		if len(hits) == q.limit {
			break
		}
		// Of what was merged one is shown: the best that the query may see.
		if said := h.said(); !slices.ContainsFunc(hits, func(shown hit) bool { return shown.said() == said }) {
			hits = append(hits, *h)
		}
	}
	return hits
}

// better orders hits, best first.
func better(a, b *hit) int {
	if c := cmp.Compare(b.score, a.score); c != 0 {
		return c
	}
	if c := b.time.Compare(a.time); c != 0 {
		return c
	}
	return cmp.Or(cmp.Compare(a.key.Scope, b.key.Scope), cmp.Compare(a.key.ID, b.key.ID))
}

// said names what an entry says: itself, or the older one it was merged into.
func (e *entry) said() schemas.ObservationKey {
	if e.mergedInto == "" {
		return e.key
	}
	return schemas.ObservationKey{Scope: e.key.Scope, ID: e.mergedInto}
}

// admitted scores the best entries that a query may see, in no order. Most
// queries ask for what may be recalled unasked; that is looked up beside the
// entries, since a look at each of them would be most of a search's time.
func (s *snapshot) admitted(q query) []hit {
	if q.includeHold || q.includeDiscard {
		return s.candidates(q, q.mayRecall)
	}
	unasked := func(place int) bool { return s.unasked[place] }
	if q.category != "" || len(q.scopes) > 0 || q.skip != nil {
		unasked = func(place int) bool { return s.unasked[place] && q.concerns(s.entries[place]) }
	}
	return s.candidatesAt(q, unasked)
}

// candidates scores the best entries that keep admits.
func (s *snapshot) candidates(q query, keep func(*entry) bool) []hit {
	return s.candidatesAt(q, func(place int) bool {
		e := s.entries[place]
		return e != nil && keep(e)
	})
}

func (s *snapshot) candidatesAt(q query, keep func(place int) bool) []hit {
	k := max(candidatesLeast, 4*q.limit)
	all := make([]hit, 0, 2*k*len(s.parts))
	for _, p := range s.parts {
		all = p.candidates(all, s.entries[p.from:], q, k, keep)
	}
	return all
}

// candidates adds the best by words and the nearest by meaning. The entries are
// those from the part's first place on.
func (p *part) candidates(all []hit, entries []*entry, q query, k int, keep func(place int) bool) []hit {
	admit := func(doc int32) bool {
		place := p.from + int(doc)
		return place >= p.own && keep(place)
	}
	asked := p.words.Resolve(q.text, 0)
	vectors := p.meanings != nil && q.vector != nil
	var near []vector.Match
	if vectors {
		near = p.meanings.Nearest(q.vector, k, admit)
	}
	for _, m := range near {
		all = append(all, score(entries[m.Doc], asked, m.Doc, m.Cosine, vectors, q.now))
	}
	docs := make([]int32, 0, k)
	for _, m := range p.words.Search(asked, k, admit) {
		if !slices.ContainsFunc(near, func(n vector.Match) bool { return n.Doc == m.Doc }) {
			docs = append(docs, m.Doc)
		}
	}
	cosines := make([]float64, len(docs))
	if vectors {
		p.meanings.Cosines(q.vector, docs, cosines)
	}
	for i, doc := range docs {
		all = append(all, score(entries[doc], asked, doc, cosines[i], vectors, q.now))
	}
	return all
}

func score(e *entry, asked lexical.Query, doc int32, cosine float64, vectors bool, now time.Time) hit {
	age := max(now.Sub(e.time).Hours()/24, 0)
	_, coverage := asked.Judge(doc, 0)
	h := hit{entry: e, why: schemas.RecallWhy{
		Words: coverage, Meaning: min(max(cosine, 0), 1),
		AgeDays: age, Decay: math.Exp(-decayPerDay * age), Usage: 1 + usageWeight*math.Log1p(float64(e.shown)),
	}}
	h.score = h.relevance(vectors) * h.why.Decay * h.why.Usage
	return h
}

// dropped explains what matched and is not among the hits.
func (s *snapshot) dropped(q query) []schemas.RecallDropped {
	passing := func(keep func(*entry) bool) (hits []*hit) {
		for _, h := range sorted(s.candidates(q, keep)) {
			if h.score >= q.minScore && h.score > 0 {
				hits = append(hits, h)
			}
		}
		return hits
	}
	verdict := func(v string) []*hit {
		return passing(func(e *entry) bool { return e.verdict == v && q.concerns(e) })
	}
	var out []schemas.RecallDropped
	add := func(reason string, hits []*hit, named bool) {
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
		add(droppedHeld, verdict(observation.Hold), false)
	}
	if !q.includeDiscard {
		add(droppedDiscarded, verdict(observation.Discard), false)
	}
	add(droppedShort, passing(func(e *entry) bool {
		return e.short && q.concerns(e) && observation.MayRecall(&e.verdict, q.includeHold, q.includeDiscard)
	}), true)
	var stale, low []*hit
	for _, h := range s.below(q) {
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

func sorted(all []hit) []*hit {
	hits := make([]*hit, len(all))
	for i := range all {
		hits[i] = &all[i]
	}
	slices.SortFunc(hits, better)
	return hits
}

// below lists the candidates that the score left out, best first, save what was
// merged with one that it did not.
func (s *snapshot) below(q query) (below []*hit) {
	told := map[schemas.ObservationKey]bool{}
	for _, h := range sorted(s.admitted(q)) {
		if h.score >= q.minScore {
			told[h.said()] = true
		} else if !told[h.said()] {
			below = append(below, h)
		}
	}
	return below
}

// categories lists those of the observations that a query may see, sorted.
func (s *snapshot) categories(q query) []string {
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
func (h hit) recalled(explain bool) schemas.Recalled {
	r := schemas.Recalled{
		ObservationID: h.key.ID, Scope: h.key.Scope, Text: h.text, Score: h.score, Verdict: h.verdict, Confidence: h.confidence,
		Category: h.category, Source: h.source, Session: h.session, Time: h.time,
	}
	r.Verdict = cmp.Or(r.Verdict, observation.Allow)
	if explain {
		r.Why = &h.why
	}
	return r
}
