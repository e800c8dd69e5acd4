package vector

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"unsafe"
)

var (
	// ErrDimension is returned for views of different lengths.
	ErrDimension = errors.New("vector: views differ in dimension")
	// ErrDocument is returned for a negative document number.
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

// views are what is searched: unit vectors by document, and their codes.
type views struct {
	dim    int
	docs   []int32    // per view, ascending
	full   []*float32 // per view, its vector of length one; those that came so are shared
	first  []int32    // per document, its first view; one more at the end
	codes  []int8     // padded rows, one after the other
	stride int        // of codes
	scales []float32  // per view: code × scale is about the value

	questions sync.Pool // of *question
}

// prepare sorts and normalises the views. One that is all zeros, or holds a
// value that is no number, matches nothing and is left out.
// What a previous index, or nil, has of the documents that were there is taken
// over.
func prepare(in []View, previous *Index, was func(doc int32) int32) (*views, error) {
	v := &views{}
	byDoc := func(a, b View) int { return cmp.Compare(a.Doc, b.Doc) }
	if !slices.IsSortedFunc(in, byDoc) {
		in = slices.Clone(in)
		slices.SortStableFunc(in, byDoc)
	}
	v.docs, v.full = make([]int32, 0, len(in)), make([]*float32, 0, len(in))
	var known *cursor
	var source []int32 // per view, which one of the previous index it was, −1 none; nil without one
	for i, view := range in {
		if i == 0 {
			v.dim = len(view.Vector)
			v.stride = padded(v.dim)
			if previous != nil && previous.dim == v.dim {
				known = &cursor{views: previous.views, was: was, doc: -1}
				source = make([]int32, 0, len(in))
			}
		}
		if len(view.Vector) != v.dim {
			return nil, fmt.Errorf("%w: one of document %d has %d, the first has %d", ErrDimension, view.Doc, len(view.Vector), v.dim)
		}
		if view.Doc < 0 {
			return nil, fmt.Errorf("%w: %d", ErrDocument, view.Doc)
		}
		old := known.find(view)
		unit, ok := view.Vector, old >= 0
		if !ok {
			unit, ok = normalise(view.Vector)
		}
		if !ok {
			continue
		}
		v.docs = append(v.docs, view.Doc)
		v.full = append(v.full, &unit[0])
		if known != nil {
			source = append(source, old)
		}
	}
	v.codes = make([]int8, len(v.docs)*v.stride)
	v.scales = make([]float32, len(v.docs))
	inParallel(len(v.docs), func(from, to int) {
		for i := from; i < to; i++ {
			codes := v.codes[i*v.stride : (i+1)*v.stride]
			if known != nil && source[i] >= 0 {
				old := int(source[i])
				copy(codes, previous.codes[old*v.stride:(old+1)*v.stride])
				v.scales[i] = previous.scales[old]
				continue
			}
			v.scales[i] = encode(codes, v.vector(i))
		}
	})
	if n := len(v.docs); n > 0 {
		v.first = make([]int32, v.docs[n-1]+2)
		view := 0
		for doc := range v.first {
			for view < n && int(v.docs[view]) < doc {
				view++
			}
			v.first[doc] = int32(view)
		}
	}
	return v, nil
}

// vector is a view's, of length one.
func (v *views) vector(view int) []float32 { return unsafe.Slice(v.full[view], v.dim) }

// cursor finds the views of ascending documents in a previous index, by their
// memory.
type cursor struct {
	*views
	was      func(doc int32) int32
	doc      int32
	next, to int32 // of the document's views there
}

// find returns the view's number there, −1 if it is not there as it is.
func (c *cursor) find(view View) int32 {
	if c == nil || len(view.Vector) == 0 {
		return -1
	}
	if view.Doc != c.doc {
		c.doc, c.next, c.to = view.Doc, 0, 0
		if old := c.was(view.Doc); old >= 0 && int(old)+1 < len(c.first) {
			c.next, c.to = c.first[old], c.first[old+1]
		}
	}
	for at := c.next; at < c.to; at++ {
		if c.full[at] == &view.Vector[0] {
			c.next = at + 1
			return at
		}
	}
	return -1
}

// encode writes the vector's codes, −127 to 127, and returns their scale.
func encode(codes []int8, unit []float32) float32 {
	var most float32
	for _, x := range unit {
		if size := float32(math.Abs(float64(x))); size > most {
			most = size
		}
	}
	scale := most / 127
	for i, x := range unit {
		codes[i] = int8(math.RoundToEven(float64(x) / float64(scale)))
	}
	return scale
}

// inParallel divides n pieces of work whose order nobody can tell.
func inParallel(n int, work func(from, to int)) {
	workers := max(1, min(runtime.GOMAXPROCS(0), n/1000))
	var wg sync.WaitGroup
	for w := 1; w < workers; w++ {
		wg.Go(func() { work(n*w/workers, n*(w+1)/workers) })
	}
	work(0, n/workers)
	wg.Wait()
}

// question is a query at length one and in codes.
type question struct {
	asked []float32 // as it came; none before the first
	unit  []float32
	codes []int8
	scale float32
	// What documents' cosines are found with: their views, those by codes, how
	// many each document has, and what is looked at in full.
	views, counts []int32
	scores, dots  []float32
	rows          []*float32
	docs          []int32
	found         []float64
}

// borrow is a question, to be put back: most likely the one that was used last.
func (v *views) borrow() *question {
	if q, ok := v.questions.Get().(*question); ok {
		return q
	}
	return v.newQuestion()
}

func (v *views) newQuestion() *question { return &question{codes: make([]int8, v.stride)} }

// ask prepares a query; false if it has no direction or another dimension. The
// same query is often asked for cosines after it was searched for.
func (v *views) ask(q *question, query []float32) bool {
	if len(query) != v.dim || len(v.docs) == 0 {
		return false
	}
	if slices.Equal(q.asked, query) {
		return true
	}
	q.asked = q.asked[:0]
	unit, ok := normalise(query)
	if !ok {
		return false
	}
	q.asked = append(q.asked, query...)
	q.unit = append(q.unit[:0], unit...)
	q.scale = encode(q.codes, unit)
	return true
}

// slack is by how many steps of either side's codes a similarity by codes may be
// off. Rounding is off by a third of a step in the mean square, in directions
// that have nothing to do with the vectors, so this is ten standard deviations.
const slack = 3

// cosines writes those of the documents' best views, in full; 0 of a document
// that has none. Codes tell which views cannot be the best. Each step is taken
// for all documents before the next, so that the processor waits for the memory
// of many at the same time.
func (v *views) cosines(q *question, docs []int32, out []float64) {
	q.views, q.counts = q.views[:0], q.counts[:0]
	for _, doc := range docs {
		from, to := v.of(doc)
		for view := from; view < to; view++ {
			q.views = append(q.views, view)
		}
		q.counts = append(q.counts, to-from)
	}
	q.scores = slices.Grow(q.scores[:0], len(q.views))[:len(q.views)]
	scorePicked(q.scores, q.codes, v.codes, v.scales, q.views)
	q.rows = q.rows[:0]
	scores, numbers := q.scores, q.views
	for i, n := range q.counts {
		before := len(q.rows)
		v.mayBeBest(q, scores[:n], numbers[:n])
		scores, numbers = scores[n:], numbers[n:]
		q.counts[i] = int32(len(q.rows) - before)
	}
	q.dots = slices.Grow(q.dots[:0], len(q.rows))[:len(q.rows)]
	dotRows(q.dots, q.unit, q.rows)
	dots := q.dots
	for i, n := range q.counts {
		out[i] = 0
		if n > 0 {
			best := float32(-1)
			for _, cosine := range dots[:n] {
				best = max(best, cosine)
			}
			out[i] = float64(min(best, 1))
		}
		dots = dots[n:]
	}
}

// mayBeBest adds to q.rows the views of a document that may be its most similar
// one, going by their scores.
func (v *views) mayBeBest(q *question, scores []float32, numbers []int32) {
	if len(scores) == 0 {
		return
	}
	best := scores[0]
	for _, score := range scores[1:] {
		best = max(best, score)
	}
	best *= q.scale
	// Without a branch: no processor would predict which views these are.
	to := len(q.rows)
	q.rows = append(q.rows, v.full[numbers[0]:int(numbers[0])+len(numbers)]...)
	rows := q.rows[to:]
	n := 0
	for i, score := range scores {
		rows[n] = rows[i]
		may := 0
		if score*q.scale+slack*(q.scale+v.scales[numbers[i]]) >= best {
			may = 1
		}
		n += may
	}
	q.rows = q.rows[:to+n]
}

// of are a document's views, from one to before another.
func (v *views) of(doc int32) (from, to int32) {
	if doc < 0 || int(doc)+1 >= len(v.first) {
		return 0, 0
	}
	return v.first[doc], v.first[doc+1]
}

// rescore turns candidates into the k best by their full cosines.
func (v *views) rescore(q *question, candidates []scored, k int) []Match {
	q.docs = q.docs[:0]
	for _, c := range candidates {
		q.docs = append(q.docs, c.doc)
	}
	q.found = slices.Grow(q.found[:0], len(candidates))[:len(candidates)]
	v.cosines(q, q.docs, q.found)
	out := make([]Match, len(candidates))
	for i, doc := range q.docs {
		out[i] = Match{Doc: doc, Cosine: q.found[i]}
	}
	slices.SortFunc(out, order)
	return out[:min(k, len(out))]
}

// Cosines writes the cosine of each document's best view to the query: what
// Nearest would say of it. It is 0 if either has no direction.
func (v *views) Cosines(query []float32, docs []int32, out []float64) {
	q := v.borrow()
	defer v.questions.Put(q)
	if v.ask(q, query) {
		v.cosines(q, docs, out)
	} else {
		clear(out[:len(docs)])
	}
}

// Len is the number of views.
func (v *views) Len() int { return len(v.docs) }

// Bytes is the memory of the views and their codes.
func (v *views) Bytes() int64 {
	return int64(len(v.docs))*int64(4*v.dim+v.stride+4+4+8) + int64(4*len(v.first))
}

func order(a, b Match) int {
	return cmp.Or(cmp.Compare(b.Cosine, a.Cosine), cmp.Compare(a.Doc, b.Doc))
}

// normalise returns v at length one, v itself if it has it; false if v has no
// direction.
func normalise(v []float32) ([]float32, bool) {
	var sum float64
	for _, x := range v {
		sum += float64(float64(x) * float64(x))
	}
	norm := math.Sqrt(sum)
	if norm == 0 || math.IsNaN(norm) || math.IsInf(norm, 0) {
		return nil, false
	}
	if math.Abs(norm-1) < 1e-6 {
		return v, true
	}
	unit := make([]float32, len(v))
	for i, x := range v {
		unit[i] = float32(float64(x) / norm)
	}
	return unit, true
}
