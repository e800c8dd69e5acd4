package retrieval

import "github.com/writbus/writ/retrieval/lexical"

// room is the memory a query works in, kept for the next one.
type room struct {
	words    lexical.Query
	embedded []float32
	pool     []candidate
	places   []int32 // of the documents in pool, from 1; 0 is not there
	docs     []int32
	numbers  []float64
	near     []neighbour
	judges   []int // places in pool of what is judged
	judged   []lexical.Judged
	ranked   []ranked
	coarse   []uint64
	orders   [2][]int // of the two passes
	pieces   []piece
	parts    []part
	block    []byte // the rendered text
}

// newRoom is one for an index of so many documents.
func newRoom(docs int) *room { return &room{places: make([]int32, docs)} }

// vacate gives the room back empty. A query takes nothing of it along.
func (ix *Index) vacate(r *room) {
	r.empty()
	ix.rooms.Put(r)
}

func (r *room) empty() {
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
