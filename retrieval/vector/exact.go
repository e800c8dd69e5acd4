package vector

import (
	"math"
	"runtime"
	"slices"
	"sync"
)

// Exact searches by scanning the codes of all views and scoring the best
// documents again in full. Many views are divided among processors.
type Exact struct {
	*views
	most    float32   // the largest scale
	scratch sync.Pool // of *scanning
}

// blockViews is how many views are scored before the best among them are
// picked: their sums stay in the nearest cache.
const blockViews = 1024

// scanning is the memory of one scan.
type scanning struct {
	*question
	block [blockViews]int32
	top   []scored // best first; of equal ones the one that came first
	last  int32    // the document taken last
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
	v, err := prepare(in)
	if err != nil {
		return nil, err
	}
	return newExact(v), nil
}

func newExact(v *views) *Exact {
	ix := &Exact{views: v}
	for _, scale := range v.scales {
		ix.most = max(ix.most, scale)
	}
	ix.scratch.New = func() any { return &scanning{question: v.newQuestion()} }
	return ix
}

// Nearest returns up to k documents that keep admits, the most similar first.
// A query of another dimension or without direction has no neighbours. A nil
// keep admits everything.
func (ix *Exact) Nearest(query []float32, k int, keep func(doc int32) bool) []Match {
	s := ix.scratch.Get().(*scanning)
	defer ix.scratch.Put(s)
	if k <= 0 || !ix.ask(s.question, query) {
		return nil
	}
	ix.divide(s, rescored(k), keep)
	return ix.rescore(s.question, s.top, k)
}

// viewsPerWorker is how many views are worth another processor: reading their
// codes takes longer than waking it.
const viewsPerWorker = 16_000

// divide leaves the best documents by codes in s.top. What the workers find does
// not depend on how many there are: every one brings the best of its views.
func (ix *Exact) divide(s *scanning, most int, keep func(int32) bool) {
	n := len(ix.docs)
	workers := max(1, min(runtime.GOMAXPROCS(0), n/viewsPerWorker))
	if workers == 1 {
		ix.scan(s, 0, n, most, keep)
		return
	}
	parts := make([]*scanning, workers)
	var wg sync.WaitGroup
	for w := range workers {
		parts[w] = ix.scratch.Get().(*scanning)
		copy(parts[w].codes, s.codes)
		wg.Go(func() { ix.scan(parts[w], n*w/workers, n*(w+1)/workers, most, keep) })
	}
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
func (ix *Exact) scan(s *scanning, from, to, most int, keep func(int32) bool) {
	s.top, s.last = s.top[:0], -1
	worst := float32(math.Inf(-1))
	for start := from; start < to; start += blockViews {
		n := min(blockViews, to-start)
		dots := s.block[:n]
		dotCodes(dots, s.codes, ix.codes[start*ix.stride:(start+n)*ix.stride])
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
	}
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
