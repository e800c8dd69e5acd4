package retrieval

import (
	"cmp"
	"math"
	"slices"
)

// nearTie is how close two scores must be for a provisional rule to yield to a
// person's, and for the last answer's order to hold.
const nearTie = 0.02

// rrfK is the constant of reciprocal rank fusion.
const rrfK = 60

// passOne scores without the graph and judges relevance.
func (s *search) passOne() {
	s.form = formOf(s.text)
	s.score()
	s.firstPass = s.sorted(0, true)
	for place, at := range s.firstPass {
		s.pool[at].ranks.Pass1 = place + 1
	}
	if s.vector != nil {
		s.subject = s.ix.calibration.subject.of(s.vector)
	}
	s.judge()
}

// judge tells the relevance of the best of pass one and of what the text names.
func (s *search) judge() {
	for place, at := range s.firstPass {
		c := &s.pool[at]
		if s.vector == nil || s.q.Raw || place < judgedMost || c.pinned > 0 {
			var proof float64
			proof, c.coverage = s.words.Judge(c.doc, c.bm25)
			c.judged, c.probability = true, s.relevance(c, proof)
		}
	}
}

// judgedMost is how many of pass one are judged where vectors make that dear:
// more than any mode shows.
const judgedMost = 20

// asideShare scales the score of nodes that no prompt is given: who searches finds
// them where they are clearly meant, and they take no rule's place. namedShare is
// for nodes of a kind that a search names: an example, a phase, an excuse.
const (
	asideShare = 0.9
	namedShare = 1.25
)

// score weighs every candidate's signals, 0 to 1.
func (s *search) score() {
	var maxBM25 float64
	low, high := math.Inf(1), math.Inf(-1)
	for i := range s.pool {
		c := &s.pool[i]
		maxBM25 = max(maxBM25, c.bm25)
		low, high = min(low, c.cosine), max(high, c.cosine)
	}
	maxBM25 = max(maxBM25, s.profile.Cover*s.words.Most())
	named := s.kindsNamed()
	for i := range s.pool {
		c := &s.pool[i]
		switch {
		case c.pinned > 0:
			c.score = 1
		case s.profile.Fusion == FusionConvex:
			c.score = s.profile.convex(c, maxBM25, low, high)
		default:
			c.score = s.profile.rrf(c)
		}
		kind := &s.ix.kinds[c.doc]
		if c.pinned == 0 && !kind.given {
			c.score *= asideShare
		}
		if named[kind.node] {
			c.score = min(namedShare*c.score, 1)
		}
	}
}

// rrf adds weighted reciprocal ranks and priors. A candidate that is missing
// from a list gets nothing for it.
func (p Profile) rrf(c *candidate) float64 {
	return float64(p.Vector*reciprocal(c.ranks.Vector)) + float64(p.BM25*reciprocal(c.ranks.BM25)) +
		float64(p.Severity*c.severity) + float64(p.Confidence*c.confidence) + float64(p.Graph*c.graph)
}

// reciprocal is the share of a place: 1 for the first.
func reciprocal(rank int) float64 {
	if rank == 0 {
		return 0
	}
	return float64(rrfK+1) / float64(rrfK+rank)
}

// convex combines the scaled scores, lifts them by the priors, and is scaled
// back to 0..1. Every candidate has a cosine, whichever list brought it up.
func (p Profile) convex(c *candidate, maxBM25, low, high float64) float64 {
	var words, meaning float64
	if maxBM25 > 0 {
		words = c.bm25 / maxBM25
	}
	switch {
	case high > low:
		meaning = (c.cosine - low) / (high - low)
	case high > 0:
		meaning = 1
	}
	relevance := float64(p.Vector*meaning) + float64(p.BM25*words)
	prior := 1 + float64(p.Severity*c.severity) + float64(p.Confidence*c.confidence)
	most := (p.Vector + p.BM25) * (1 + p.Severity + p.Confidence)
	if most == 0 {
		return p.Graph * c.graph
	}
	return float64((1-p.Graph)*relevance*prior/most) + float64(p.Graph*c.graph)
}

// ranked is a candidate as it is sorted.
type ranked struct {
	pin int // order of named documents; the others come after all of them
	key float64
	doc int32
}

func (r ranked) before(other ranked) bool {
	switch {
	case r.pin != other.pin:
		return r.pin < other.pin
	case r.key != other.key:
		return r.key > other.key
	}
	return r.doc < other.doc // documents are numbered by id
}

// placeBits are those of a coarse key that tell the place in the pool.
const placeBits = 24

// coarse is in the order of before, but for scores that differ little: numbers
// are sorted faster.
func (r ranked) coarse(place int) uint64 {
	const others = 1 << 63
	if r.pin != math.MaxInt {
		return uint64(r.pin)<<placeBits | uint64(place)
	}
	key := math.Float64bits(r.key)
	if key>>63 == 0 { // the higher, the smaller; below zero they are in this order as they are
		key = ^key &^ (1 << 63)
	}
	return others | key>>(placeBits+1)<<placeBits | uint64(place)
}

// sorted lists the places in the pool, best first: named documents in the order
// of the text, then by score, ties by id. In the second pass, numbered 1,
// provisional rules yield at near ties. What is of the lowest tier may be left
// out.
func (s *search) sorted(pass int, all bool) []int {
	keys, coarse := s.ranked[:0], s.coarse[:0]
	for i := range s.pool {
		c := &s.pool[i]
		r := ranked{pin: pinOrder(c), key: c.score, doc: c.doc}
		if pass == 1 && s.ix.kinds[c.doc].provisional {
			r.key -= nearTie
		}
		keys = append(keys, r)
		if all || c.tier != TierNothing {
			coarse = append(coarse, r.coarse(i))
		}
	}
	slices.Sort(coarse)
	order := s.orders[pass][:0]
	for at, key := range coarse {
		place := int(key & (1<<placeBits - 1))
		order = append(order, place)
		for ; at > 0 && keys[place].before(keys[order[at-1]]); at-- {
			order[at] = order[at-1]
		}
		order[at] = place
	}
	s.ranked, s.coarse, s.orders[pass] = keys, coarse, order
	return order
}

func pinOrder(c *candidate) int {
	if c.pinned > 0 {
		return c.pinned
	}
	return math.MaxInt
}

// fitted says that the rules are judged by a decision that was fitted on the
// embedder.
func (s *search) fitted() bool { return s.ix.fitted && s.vector != nil }

// chance orders what is given: of two that are as likely, a person's rule goes
// before a provisional one.
func (s *search) chance(at int) float64 {
	c := &s.pool[at]
	if c.pinned > 0 {
		return float64(2 + len(s.ids) - c.pinned)
	}
	p := c.probability
	if c.first > 0 {
		p = 1 + c.first
	}
	if s.ix.kinds[c.doc].provisional {
		p -= nearTie
	}
	return p
}

// rank is pass two: it scores with the graph, orders, and picks what to answer.
func (s *search) rank() []int {
	s.score()
	s.decide()
	s.byMatter()
	if s.q.Judged != nil {
		s.heed()
	}
	s.tiers()
	order := s.sorted(1, s.q.Raw || len(s.q.Prefer)+len(s.q.Previous) > 0) // what is not shown may be passed on the way
	if !s.q.Raw && s.fitted() {
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(s.chance(b), s.chance(a)) })
	}
	s.stick(order)
	order = s.relevant(order)
	order = s.withoutConflicts(order)
	if !s.q.Raw {
		order = s.give(order)
	}
	s.done(StageRank, len(order))
	return order
}

// stick keeps the order of the last answer wherever two neighbours' scores are a
// near tie. Each swap undoes one inversion against the wanted order and only
// ever passes near ties, so it ends, and no rule overtakes a clearly better one.
func (s *search) stick(order []int) {
	wanted := s.wanted()
	if len(wanted) == 0 {
		return
	}
	place := func(at int) int {
		if p, ok := wanted[s.pool[at].doc]; ok {
			return p
		}
		return math.MaxInt
	}
	for swapped := true; swapped; {
		swapped = false
		for i := 1; i < len(order); i++ {
			a, b := order[i-1], order[i]
			if s.mayPass(&s.pool[a], &s.pool[b]) && place(b) < place(a) {
				order[i-1], order[i] = b, a
				swapped = true
			}
		}
	}
}

// mayPass tells whether b, ranked just below a, is near enough to go first. A
// named rule is never passed, and a provisional one never passes a person's.
func (s *search) mayPass(a, b *candidate) bool {
	yields := s.ix.kinds[b.doc].provisional && !s.ix.kinds[a.doc].provisional
	gap := a.score - b.score
	if s.fitted() && !s.q.Raw {
		gap = a.probability - b.probability
	}
	return a.pinned == 0 && b.pinned == 0 && !yields && math.Abs(gap) < nearTie
}

// wanted is the order asked for at near ties: preferred rules, then the last answer's.
func (s *search) wanted() map[int32]int {
	if len(s.q.Prefer)+len(s.q.Previous) == 0 {
		return nil
	}
	wanted := make(map[int32]int)
	for _, ids := range [][]string{s.q.Prefer, s.q.Previous} {
		for _, id := range ids {
			if doc, ok := s.ix.ids[fold(id)]; ok {
				if _, known := wanted[doc]; !known {
					wanted[doc] = len(wanted)
				}
			}
		}
	}
	return wanted
}

// withoutConflicts picks the answer from the order, up to the limit: of two
// rules that contradict each other only the one of higher authority, or the
// better ranked, stays, and the other is named beside it.
func (s *search) withoutConflicts(order []int) []int {
	limit := s.limit()
	chosen := make([]int, 0, min(limit, len(order)))
	for _, at := range order {
		if len(chosen) == limit {
			break
		}
		rivals := s.rivals(chosen, at)
		if strongest := s.strongest(rivals); strongest >= 0 && s.authority(strongest) >= s.authority(at) {
			s.leaveOut(strongest, at)
			continue
		}
		for _, rival := range rivals {
			s.leaveOut(at, rival)
			chosen = slices.DeleteFunc(chosen, func(c int) bool { return c == rival })
		}
		chosen = append(chosen, at)
	}
	return chosen
}

// rivals lists the chosen candidates that contradict this one.
func (s *search) rivals(chosen []int, at int) []int {
	var rivals []int
	for _, other := range chosen {
		if _, found := slices.BinarySearch(s.ix.graph.conflicts[s.pool[at].doc], s.pool[other].doc); found {
			rivals = append(rivals, other)
		}
	}
	return rivals
}

// strongest is the candidate of highest authority, the first of equals; -1 of none.
func (s *search) strongest(candidates []int) int {
	best := -1
	for _, at := range candidates {
		if best < 0 || s.authority(at) > s.authority(best) {
			best = at
		}
	}
	return best
}

func (s *search) authority(at int) int { return authorityRank(s.ix.docs[s.pool[at].doc].Rule) }

func (s *search) leaveOut(kept, dropped int) {
	keptID, droppedID := s.ix.docs[s.pool[kept].doc].Rule.ID, s.ix.docs[s.pool[dropped].doc].Rule.ID
	s.pool[kept].leftOut = append(s.pool[kept].leftOut, droppedID)
	s.answer.Conflicts = append(s.answer.Conflicts, Conflict{Kept: keptID, LeftOut: droppedID})
}

func (s *search) limit() int {
	if s.q.Limit > 0 {
		return s.q.Limit
	}
	if s.q.Raw {
		return math.MaxInt
	}
	return MostWhole + MostLines
}
