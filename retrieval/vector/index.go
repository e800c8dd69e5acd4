package vector

import (
	"math"
	"math/bits"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// Index searches by scanning all views three times: two bits a dimension tell
// which may be among the best, one byte a dimension which of them are, and the
// best documents are scored again in full. Many views are divided among
// processors.
type Index struct {
	*views
	sieve    *sieve
	most     float32   // the largest scale
	portion  int       // views scanned by themselves
	skimFrom int       // how many views are skimmed
	scratch  sync.Pool // of *scanning
}

// blockViews is how many views are scored before the best among them are
// picked: their sums stay in the nearest cache.
const blockViews = 1024

// scanning is the memory of one scan.
type scanning struct {
	*question           // of the whole search
	*sifting            // likewise
	own       *sifting  // what sifting is where this scan is the whole search
	estimates estimates // of the views that were outlined last
	skimmed   skimmed
	block     [blockViews]int32
	scores    [blockViews]float32
	masks     [blockViews / 64]uint64 // the first view in the lowest bit
	picked    []int32
	top       []scored // best first; of equal ones the one that came first
	parts     []*scanning
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

// New prepares the views; it shares those of length one. A view that is all
// zeros, or holds a value that is no number, matches nothing and is left out.
func New(in []View) (*Index, error) { return NewAfter(in, nil, nil) }

// NewAfter builds what [New] builds of the same views, sooner if previous holds
// many of them: the vectors of a document that was number was(doc) there, −1 if
// it was not, and that are the same memory, are not prepared again. A nil
// previous is none.
func NewAfter(in []View, previous *Index, was func(doc int32) int32) (*Index, error) {
	v, err := prepare(in, previous, was)
	if err != nil {
		return nil, err
	}
	return newIndex(v, previous), nil
}

// newIndex takes over from an index, or nil, what the views came from.
func newIndex(v *views, from *Index) *Index {
	var old *sieve
	if from != nil {
		old = from.sieve
	}
	ix := &Index{views: v, sieve: newSieve(v, old), portion: viewsPerPortion, skimFrom: skimFrom}
	v.source = nil
	for _, scale := range v.scales {
		ix.most = max(ix.most, scale)
	}
	ix.scratch.New = func() any { return &scanning{own: ix.sieve.newSifting()} }
	return ix
}

// Nearest returns up to k documents that keep admits, the most similar first.
// A query of another dimension or without direction has no neighbours. A nil
// keep admits everything.
func (ix *Index) Nearest(query []float32, k int, keep func(doc int32) bool) []Match {
	q := ix.borrow()
	defer ix.questions.Put(q)
	if k <= 0 || !ix.ask(q, query) {
		return nil
	}
	s := ix.scratch.Get().(*scanning)
	defer ix.scratch.Put(s)
	s.question, s.sifting = q, s.own
	ix.sieve.ask(s.sifting, s.unit)
	if len(ix.docs) < ix.skimFrom || !ix.skim(s, rescored(k), keep) {
		ix.divide(s, rescored(k), keep)
	}
	s.question = nil
	return ix.rescore(q, s.top, k)
}

// viewsPerPortion is how many views are scanned by themselves: looking at them
// takes longer than waking another processor. What the sieve lets through
// depends on what was found before in the same portion, so portions must not
// depend on the number of processors.
const viewsPerPortion = 128 * blockViews

// divide leaves the best documents by codes in s.top.
func (ix *Index) divide(s *scanning, most int, keep func(int32) bool) {
	n := len(ix.docs)
	if n <= ix.portion {
		ix.outline(s, 0, n, most, keep)
		ix.scan(s, 0, n, most, s.worst(most), keep)
		return
	}
	ix.each(s, func(s *scanning, from, to int) { ix.outline(s, from, to, most, keep) })
	s.gather(most)
	worst := s.worst(most)
	ix.each(s, func(s *scanning, from, to int) { ix.scan(s, from, to, most, worst, keep) })
	s.gather(most)
	ix.putBack(s)
}

// each does the work for every portion, on as many processors as there are. The
// portions' scans are in s.parts until they are put back.
func (ix *Index) each(s *scanning, work func(s *scanning, from, to int)) {
	n := len(ix.docs)
	for len(s.parts) < (n+ix.portion-1)/ix.portion {
		part := ix.scratch.Get().(*scanning)
		part.question, part.sifting = s.question, s.sifting
		s.parts = append(s.parts, part)
	}
	var next atomic.Int64
	some := func() {
		for i := int(next.Add(1)) - 1; i < len(s.parts); i = int(next.Add(1)) - 1 {
			work(s.parts[i], i*ix.portion, min((i+1)*ix.portion, n))
		}
	}
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(s.parts)) - 1 {
		wg.Go(some)
	}
	some()
	wg.Wait()
}

func (ix *Index) putBack(s *scanning) {
	for i, part := range s.parts {
		part.question, part.sifting = nil, nil
		ix.scratch.Put(part)
		s.parts[i] = nil
	}
	s.parts = s.parts[:0]
}

// gather takes the best of the parts.
func (s *scanning) gather(most int) {
	s.top = s.top[:0]
	for _, part := range s.parts {
		for _, c := range part.top {
			s.take(c, most)
		}
	}
}

// outline leaves in s.top the best of those documents that the sieve takes for
// the nearest: so near must be what is looked at then.
func (ix *Index) outline(s *scanning, from, to, most int, keep func(int32) bool) {
	s.top = s.top[:0]
	bar, worst := ix.sieve.estimate(s.sifting, &s.estimates, from, to, outlined*most), float32(math.Inf(-1))
	if bar <= 0 {
		return
	}
	for i, largest := range s.estimates.most {
		if start := from + i*s.estimates.step; largest >= bar {
			worst = ix.scanMarked(s, from, start, min(start+s.estimates.step, to), bar, most, worst, keep)
		}
	}
	ix.look(s, most, worst, keep)
}

// outlined is how many views are looked at for every document wanted.
const outlined = 3

// scan adds to s.top the best documents of the views from one to another that
// are better than some.
func (ix *Index) scan(s *scanning, from, to, most int, worst float32, keep func(int32) bool) {
	for start := from; start < to; start += blockViews {
		end := min(start+blockViews, to)
		if bar := ix.sieve.bar(s.sifting, worst*s.question.scale); bar > 0 {
			worst = ix.scanMarked(s, from, start, end, bar, most, worst, keep)
		} else {
			worst = ix.scanAll(s, start, end, most, worst, keep)
		}
	}
	ix.look(s, most, worst, keep)
}

// worst is the least of the best that were found, if there are enough.
func (s *scanning) worst(most int) float32 {
	if len(s.top) < most {
		return float32(math.Inf(-1))
	}
	return s.top[most-1].score
}

// scanMarked picks the views whose estimate reaches a bar, which is above zero,
// and looks at them when there are many: then the processor waits for the memory
// of many at the same time. The estimates begin with that of view from.
func (ix *Index) scanMarked(s *scanning, from, start, end int, bar float32, most int, worst float32, keep func(int32) bool) float32 {
	for start < end {
		n := min(end-start, blockViews)
		padded := (n + sieveGroup - 1) / sieveGroup * sieveGroup
		above(s.masks[:(padded+63)/64], s.estimates.values[start-from:start-from+padded], bar)
		s.pick(start, padded)
		if start += n; len(s.picked) >= blockViews/4 {
			worst = ix.look(s, most, worst, keep)
		}
	}
	return worst
}

// pick lists the views whose bits are set.
func (s *scanning) pick(start, n int) {
	s.picked = slices.Grow(s.picked, n)
	for at, set := range s.masks[:(n+63)/64] {
		for ; set != 0; set &= set - 1 {
			s.picked = append(s.picked, int32(start+64*at+bits.TrailingZeros64(set)))
		}
	}
}

// look considers the views that were picked.
func (ix *Index) look(s *scanning, most int, worst float32, keep func(int32) bool) float32 {
	for picked := s.picked; len(picked) > 0; {
		some := picked[:min(len(picked), blockViews)]
		picked = picked[len(some):]
		scores := s.scores[:len(some)]
		scorePicked(scores, s.question.codes, ix.codes, ix.scales, some)
		for i, score := range scores {
			if score > worst {
				worst = ix.consider(s, some[i], score, worst, most, keep)
			}
		}
	}
	s.picked = s.picked[:0]
	return worst
}

// scanAll looks at all views.
func (ix *Index) scanAll(s *scanning, start, end, most int, worst float32, keep func(int32) bool) float32 {
	dots := s.block[:end-start]
	dotCodes(dots, s.question.codes, ix.codes[start*ix.stride:end*ix.stride])
	// Most views are far below the worst of the best: four at a time are
	// passed over by the largest of their sums.
	for i := 0; i < len(dots); i += 4 {
		if four := dots[i:]; worst >= 0 && len(four) >= 4 && float32(max(four[0], four[1], four[2], four[3]))*ix.most <= worst {
			continue
		}
		for j := i; j < min(i+4, len(dots)); j++ {
			if score := float32(dots[j]) * ix.scales[start+j]; score > worst {
				worst = ix.consider(s, int32(start+j), score, worst, most, keep)
			}
		}
	}
	return worst
}

// consider takes a view whose score is above the worst of the best, and returns
// what the next one must surpass.
func (ix *Index) consider(s *scanning, view int32, score, worst float32, most int, keep func(int32) bool) float32 {
	doc := ix.docs[view]
	if keep != nil && !keep(doc) {
		return worst
	}
	s.take(scored{doc, score}, most)
	return max(worst, s.worst(most))
}

// take puts a candidate into its place among the best. Of a document only its
// best view stays.
func (s *scanning) take(c scored, most int) {
	if old := slices.IndexFunc(s.top, func(t scored) bool { return t.doc == c.doc }); old >= 0 {
		if s.top[old].score >= c.score {
			return
		}
		s.top = slices.Delete(s.top, old, old+1)
	}
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
