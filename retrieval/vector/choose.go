package vector

// graphFrom is the number of views from which a graph answers faster than a
// scan by more than its build is worth. Measured, see DESIGN.md of retrieval: at
// 100,000 views both take as long, the graph finds 97 % and takes minutes to
// build, for every change of the rules anew; so it begins where scans take
// longer than a query may.
const graphFrom = 2_000_000

// Index is either kind of index.
type Index interface {
	Nearest(query []float32, k int, keep func(doc int32) bool) []Match
	Cosines(query []float32, docs []int32, out []float64)
	Len() int
	Bytes() int64
}

// New builds the kind of index that suits the number of views.
func New(in []View) (Index, error) { return NewAfter(in, nil, nil) }

// NewAfter builds what [New] builds of the same views, sooner if previous, an
// index of New or NewAfter, holds many of them: the vectors of a document that
// was number was(doc) there, −1 if it was not, and that are the same memory, are
// not prepared again. A nil previous is none.
func NewAfter(in []View, previous Index, was func(doc int32) int32) (Index, error) {
	from, _ := previous.(*Exact)
	v, err := prepare(in, from, was)
	if err != nil {
		return nil, err
	}
	if len(v.docs) >= graphFrom {
		return newGraph(v, GraphOptions{}), nil
	}
	return newExact(v, from), nil
}
