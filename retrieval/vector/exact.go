package vector

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/viterin/vek/vek32"
)

var (
	// ErrDimension is returned by [NewExact] for views of different lengths.
	ErrDimension = errors.New("vector: views differ in dimension")
	// ErrDocument is returned by [NewExact] for a negative document number.
	ErrDocument = errors.New("vector: a document's number is negative")
)

// View is one vector of a document. Several views may have the same Doc, which
// counts from 0.
type View struct {
	Doc    int32
	Vector []float32
}

// Match is a document and the cosine, −1 to 1, of its best view.
type Match struct {
	Doc    int32
	Cosine float64
}

// Exact searches by scanning all views.
type Exact struct {
	dim     int
	docs    []int32   // per view
	data    []float32 // unit vectors, one after the other
	largest int32
	scratch sync.Pool // of *[]float64, the best cosine per document
}

// NewExact copies and normalises the views. A view that is all zeros, or holds
// a value that is no number, matches nothing and is left out.
func NewExact(views []View) (*Exact, error) {
	ix := &Exact{largest: -1}
	for i, view := range views {
		if i == 0 {
			ix.dim = len(view.Vector)
		}
		if len(view.Vector) != ix.dim {
			return nil, fmt.Errorf("%w: view %d has %d, the first has %d", ErrDimension, i, len(view.Vector), ix.dim)
		}
		if view.Doc < 0 {
			return nil, fmt.Errorf("%w: view %d has %d", ErrDocument, i, view.Doc)
		}
		unit, ok := normalise(view.Vector)
		if !ok {
			continue
		}
		ix.docs = append(ix.docs, view.Doc)
		ix.data = append(ix.data, unit...)
		ix.largest = max(ix.largest, view.Doc)
	}
	ix.scratch.New = func() any {
		best := make([]float64, ix.largest+1)
		return &best
	}
	return ix, nil
}

// Nearest returns up to k documents that keep admits, the most similar first.
// A query of another dimension or without direction has no neighbours. A nil
// keep admits everything.
func (ix *Exact) Nearest(query []float32, k int, keep func(doc int32) bool) []Match {
	unit, ok := normalise(query)
	if !ok || len(query) != ix.dim || k <= 0 || len(ix.docs) == 0 {
		return nil
	}
	scratch := ix.scratch.Get().(*[]float64)
	defer ix.scratch.Put(scratch)
	best := *scratch
	for i := range best {
		best[i] = math.Inf(-1)
	}
	for i, doc := range ix.docs {
		cosine := float64(vek32.Dot(unit, ix.data[i*ix.dim:(i+1)*ix.dim]))
		best[doc] = max(best[doc], cosine)
	}
	var top []Match
	for doc, cosine := range best {
		m := Match{Doc: int32(doc), Cosine: cosine}
		if math.IsInf(cosine, -1) || len(top) == k && order(m, top[k-1]) > 0 {
			continue
		}
		if keep != nil && !keep(m.Doc) {
			continue
		}
		if len(top) == k {
			top = top[:k-1]
		}
		at, _ := slices.BinarySearchFunc(top, m, order)
		top = slices.Insert(top, at, m)
	}
	return top
}

func order(a, b Match) int {
	return cmp.Or(cmp.Compare(b.Cosine, a.Cosine), cmp.Compare(a.Doc, b.Doc))
}

// normalise returns v at length one; false if v has no direction.
func normalise(v []float32) ([]float32, bool) {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	norm := math.Sqrt(sum)
	if norm == 0 || math.IsNaN(norm) || math.IsInf(norm, 0) {
		return nil, false
	}
	unit := make([]float32, len(v))
	for i, x := range v {
		unit[i] = float32(float64(x) / norm)
	}
	return unit, true
}
