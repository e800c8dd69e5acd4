package vector

import (
	"math"
	"math/bits"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// Exact searches by scanning all views three times: two bits a dimension tell
// which may be among the best, one byte a dimension which of them are, and the
// best documents are scored again in full. Many views are divided among
// processors.
type Exact struct {
	*views
	sieve   *sieve
	most    float32   // the largest scale
	portion int       // views scanned by themselves
	scratch sync.Pool // of *scanning
}

// blockViews is how many views are scored before the best among them are
// picked: their sums stay in the nearest cache.
const blockViews = 1024

// scanning is the memory of one scan.
type scanning struct {
	*question
	*sifting
	block  [blockViews]int32
	masks  [blockViews / 64]uint64 // the first view in the lowest bit
	picked [blockViews]int32
	known  []float32
	top    []scored // best first; of equal ones the one that came first
	last   int32    // the document taken last
}

// scored is a document and the approximate cosine of its best view, up to the
// query's scale.
type scored struct {
	doc   int32
	score float32
}

// rescored is how many documents are scored in full for k wanted ones: codes
// order all but near ties rightly.
func rescored(k int) int { return k + 16 }

// NewExact prepares the views; it shares those of length one. A view that is
// all zeros, or holds a value that is no number, matches nothing and is left
// out.
func NewExact(in []View) (*Exact, error) {
	v, err := prepare(in, nil, nil)
	if err != nil {
		return nil, err
	}
	return newExact(v, nil), nil
}

// newExact takes over from an index, or nil, what the views came from.
func newExact(v *views, from *Exact) *Exact {
	var old *sieve
	if from != nil {
		old = from.sieve
	}
	ix := &Exact{views: v, sieve: newSieve(v, old), portion: viewsPerPortion}
	v.source = nil
	for _, scale := range v.scales {
		ix.most = max(ix.most, scale)
	}
	ix.scratch.New = func() any { return &scanning{question: v.newQuestion(), sifting: ix.sieve.newSifting()} }
	return ix
}

// Nearest returns up to k documents that keep admits, the most similar first.
// A query of another dimension or without direction has no neighbours. A nil
// keep admits everything.
func (ix *Exact) Nearest(query []float32, k int, keep func(doc int32) bool) []Match {
	return ix.NearestBeside(query, k, keep, nil)
}

// NearestBeside is [Exact.Nearest], and returns the same, told of distinct
// documents that keep admits and that may be near: whatever is farther than
// those needs no second look.
func (ix *Exact) NearestBeside(query []float32, k int, keep func(doc int32) bool, known []int32) []Match {
	s := ix.scratch.Get().(*scanning)
	defer ix.scratch.Put(s)
	if k <= 0 || !ix.ask(s.question, query) {
		return nil
	}
	ix.sieve.ask(s.sifting, s.unit)
	ix.divide(s, rescored(k), ix.floor(s, rescored(k), known), keep)
	return ix.rescore(s.question, s.top, k)
}

// floor is below the worst of the best: so many of the known documents are
// better.
func (ix *Exact) floor(s *scanning, most int, known []int32) float32 {
	s.known = s.known[:0]
	for _, doc := range known {
		if doc < 0 || int(doc)+1 >= len(ix.first) || ix.first[doc] == ix.first[doc+1] {
			continue
		}
		best := float32(math.Inf(-1))
		from := int(ix.first[doc])
		for i, dot := range ix.byCodes(s.question, doc) {
			best = max(best, float32(dot)*ix.scales[from+i])
		}
		s.known = append(s.known, best)
	}
	if len(s.known) < most {
		return float32(math.Inf(-1))
	}
	slices.Sort(s.known)
	return math.Nextafter32(s.known[len(s.known)-most], float32(math.Inf(-1)))
}

// viewsPerPortion is how many views are scanned by themselves: looking at them
// takes longer than waking another processor. What the sieve lets through
// depends on what was found before in the same portion, so portions must not
// depend on the number of processors.
const viewsPerPortion = 128 * blockViews

// divide leaves the best documents by codes in s.top.
func (ix *Exact) divide(s *scanning, most int, floor float32, keep func(int32) bool) {
	n := len(ix.docs)
	if n <= ix.portion {
		ix.scan(s, 0, n, most, floor, keep)
		return
	}
	parts := make([]*scanning, (n+ix.portion-1)/ix.portion)
	for i := range parts {
		parts[i] = ix.scratch.Get().(*scanning)
		parts[i].question.follow(s.question)
		parts[i].sifting.follow(s.sifting)
	}
	var next atomic.Int64
	work := func() {
		for i := int(next.Add(1)) - 1; i < len(parts); i = int(next.Add(1)) - 1 {
			ix.scan(parts[i], i*ix.portion, min((i+1)*ix.portion, n), most, floor, keep)
		}
	}
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(parts)) - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
	s.top, s.last = s.top[:0], -1
	for _, part := range parts {
		for _, c := range part.top {
			s.last = c.doc // a document's views may lie on both sides of a border
			s.take(c, most)
		}
		ix.scratch.Put(part)
	}
}

// scan leaves the best documents of the views from one to another in s.top.
func (ix *Exact) scan(s *scanning, from, to, most int, worst float32, keep func(int32) bool) {
	s.top, s.last = s.top[:0], -1
	for start := from; start < to; start += blockViews {
		end := min(start+blockViews, to)
		if ix.sieve.sift(s.masks[:(end-start+63)/64], s.sifting, start, end, worst*s.question.scale) {
			worst = ix.scanMarked(s, start, end, most, worst, keep)
		} else {
			worst = ix.scanAll(s, start, end, most, worst, keep)
		}
	}
}

// scanMarked looks only at the views that the sieve lets through.
func (ix *Exact) scanMarked(s *scanning, start, end, most int, worst float32, keep func(int32) bool) float32 {
	marked := s.marked(start, end)
	dots := s.block[:len(marked)]
	dotPicked(dots, s.question.codes, ix.codes, marked)
	for i, view := range marked {
		worst = ix.consider(s, int(view), dots[i], worst, most, keep)
	}
	return worst
}

// marked lists the views whose bits are set.
func (s *scanning) marked(start, end int) []int32 {
	n := 0
	for at, set := range s.masks[:(end-start+63)/64] {
		for ; set != 0; set &= set - 1 {
			s.picked[n] = int32(start + 64*at + bits.TrailingZeros64(set))
			n++
		}
	}
	return s.picked[:n]
}

// scanAll looks at all views.
func (ix *Exact) scanAll(s *scanning, start, end, most int, worst float32, keep func(int32) bool) float32 {
	dots := s.block[:end-start]
	dotCodes(dots, s.question.codes, ix.codes[start*ix.stride:end*ix.stride])
	// Most views are far below the worst of the best: four at a time are
	// passed over by the largest of their sums.
	for i := 0; i < len(dots); i += 4 {
		if four := dots[i:]; worst >= 0 && len(four) >= 4 && float32(max(four[0], four[1], four[2], four[3]))*ix.most <= worst {
			continue
		}
		for j := i; j < min(i+4, len(dots)); j++ {
			worst = ix.consider(s, start+j, dots[j], worst, most, keep)
		}
	}
	return worst
}

// consider takes a view that is better than the worst of the best, and returns
// what the next one must surpass.
func (ix *Exact) consider(s *scanning, view int, dot int32, worst float32, most int, keep func(int32) bool) float32 {
	score := float32(dot) * ix.scales[view]
	doc := ix.docs[view]
	if score <= worst || keep != nil && !keep(doc) {
		return worst
	}
	s.take(scored{doc, score}, most)
	if len(s.top) == most {
		return s.top[most-1].score
	}
	return worst
}

// take puts a candidate into its place among the best. A document's views come
// one after the other, so only the last one taken can be of the same; its best
// stays.
func (s *scanning) take(c scored, most int) {
	if c.doc == s.last {
		old := slices.IndexFunc(s.top, func(t scored) bool { return t.doc == c.doc })
		if old >= 0 && s.top[old].score >= c.score {
			return
		}
		if old >= 0 {
			s.top = slices.Delete(s.top, old, old+1)
		}
	}
	s.last = c.doc
	if len(s.top) == most {
		if s.top[most-1].score >= c.score {
			return
		}
		s.top = s.top[:most-1]
	}
	at := len(s.top)
	s.top = append(s.top, c)
	for ; at > 0 && s.top[at-1].score < c.score; at-- {
		s.top[at] = s.top[at-1]
	}
	s.top[at] = c
}
