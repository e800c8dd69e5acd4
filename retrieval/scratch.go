package retrieval

import "github.com/writbus/writ/retrieval/lexical"

// scratch is the memory a query works in, kept for the next one.
type scratch struct {
	words    lexical.Query
	embedded []float32
	pool     []candidate
	places   []int32 // of the documents in pool, from 1; 0 is not there
	docs     []int32
	numbers  []float64
	near     []neighbour
	ranked   []ranked
	coarse   []uint64
	orders   [2][]int // of the two passes
	pieces   []piece
	parts    []part
	block    []byte // the rendered text
}

// newScratch is one for an index of so many documents.
func newScratch(docs int) *scratch { return &scratch{places: make([]int32, docs)} }

// release gives the scratch back empty. A query takes nothing of it along.
func (ix *Index) release(r *scratch) {
	r.empty()
	ix.scratch.Put(r)
}

func (r *scratch) empty() {
	for i := range r.pool {
		r.places[r.pool[i].doc] = 0
	}
	clear(r.pool)
	clear(r.pieces)
	clear(r.parts)
	r.pool, r.pieces, r.parts = r.pool[:0], r.pieces[:0], r.parts[:0]
	if cap(r.block) > mostBlock {
		r.block = nil
	}
}

// mostBlock is the longest block whose memory is kept, in bytes.
const mostBlock = 256 << 10
