package vector

import (
	"math"
	"slices"
	"sync"
)

// Index searches by scanning all views: one byte a dimension tells which
// documents may be among the best, and these are scored again in full.
type Index struct {
	*views
	most  float32   // the largest scale
	scans sync.Pool // of *scan
}

// blockViews is how many views are scored before the best among them are
// picked: their sums stay in the nearest cache.
const blockViews = 1024

// scan is the memory of one scan.
type scan struct {
	block [blockViews]int32
	top   []scored // best first; of equal ones the one that came first
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
	ix := &Index{views: v}
	for _, scale := range v.scales {
		ix.most = max(ix.most, scale)
	}
	return ix, nil
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
	s := ix.newScan()
	defer ix.scans.Put(s)
	ix.scan(s, q.codes, rescored(k), keep)
	return ix.rescore(q, s.top, k)
}

func (ix *Index) newScan() *scan {
	if s, ok := ix.scans.Get().(*scan); ok {
		return s
	}
	return &scan{}
}

// scan leaves in s.top the best documents by codes.
func (ix *Index) scan(s *scan, query []int8, most int, keep func(int32) bool) {
	s.top = s.top[:0]
	worst := float32(math.Inf(-1))
	for start := 0; start < len(ix.docs); start += blockViews {
		end := min(start+blockViews, len(ix.docs))
		dots := s.block[:end-start]
		dotCodes(dots, query, ix.codes[start*ix.stride:end*ix.stride])
		// Most views are far below the worst of the best: four at a time are
		// passed over by the largest of their sums.
		for i := 0; i < len(dots); i += 4 {
			if four := dots[i:]; worst >= 0 && len(four) >= 4 && float32(max(four[0], four[1], four[2], four[3]))*ix.most <= worst {
				continue
			}
			for j := i; j < min(i+4, len(dots)); j++ {
				view := start + j
				if score := float32(dots[j]) * ix.scales[view]; score > worst && (keep == nil || keep(ix.docs[view])) {
					s.take(scored{ix.docs[view], score}, most)
					worst = s.worst(most)
				}
			}
		}
	}
}

// worst is the least of the best that were found, if there are enough.
func (s *scan) worst(most int) float32 {
	if len(s.top) < most {
		return float32(math.Inf(-1))
	}
	return s.top[most-1].score
}

// take puts a candidate into its place among the best. Of a document only its
// best view stays.
func (s *scan) take(c scored, most int) {
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
