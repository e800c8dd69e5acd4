package vector

import (
	"cmp"
	"math"
	"slices"
	"sync"
)

// Exact searches by scanning the codes of all views and scoring the best
// documents again in full.
type Exact struct {
	*views
	scratch sync.Pool // of *scanning
}

// blockViews is how many views are scored before the best among them are
// picked: their sums stay in the nearest cache.
const blockViews = 1024

// scanning is the memory of one scan.
type scanning struct {
	*question
	block [blockViews]int32
	top   []scored
}

// scored is a document and the approximate cosine of its best view, up to the
// query's scale.
type scored struct {
	doc   int32
	score float32
}

// rescored is how many documents are scored in full for k wanted ones. In every
// set tried the best 2k by codes held the true k.
func rescored(k int) int { return 3*k + 8 }

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
	ix.scan(s, rescored(k), keep)
	return ix.rescore(s.question, s.top, k)
}

// scan leaves the best documents by codes in s.top.
func (ix *Exact) scan(s *scanning, most int, keep func(int32) bool) {
	s.top = s.top[:0]
	worst := float32(math.Inf(-1))
	for start := 0; start < len(ix.docs); start += blockViews {
		n := min(blockViews, len(ix.docs)-start)
		dots := s.block[:n]
		dotCodes(dots, s.codes, ix.codes[start*ix.stride:(start+n)*ix.stride])
		scales := ix.scales[start : start+n][:len(dots)]
		for i, d := range dots {
			score := float32(d) * scales[i]
			if score <= worst {
				continue
			}
			doc := ix.docs[start+i]
			if keep != nil && !keep(doc) {
				continue
			}
			s.take(scored{doc, score}, most)
			if len(s.top) == most {
				worst = s.top[most-1].score
			}
		}
	}
}

// take puts a candidate into its place among the best. A document's views come
// one after the other, and only its best stays.
func (s *scanning) take(c scored, most int) {
	if old := slices.IndexFunc(s.top, func(t scored) bool { return t.doc == c.doc }); old >= 0 {
		if s.top[old].score >= c.score {
			return
		}
		s.top = slices.Delete(s.top, old, old+1)
	}
	if len(s.top) == most {
		s.top = s.top[:most-1]
	}
	at, _ := slices.BinarySearchFunc(s.top, c, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.doc, b.doc))
	})
	s.top = slices.Insert(s.top, at, c)
}
