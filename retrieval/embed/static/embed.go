package static

import (
	"math"
	"sync"
)

// Embedder turns texts into unit vectors. Safe for concurrent use.
type Embedder struct {
	table   *Table
	name    string
	scratch sync.Pool // of *scratch
}

// New returns the embedder of a table.
func New(t *Table) *Embedder {
	e := &Embedder{table: t, name: "static@" + t.Fingerprint()}
	e.scratch.New = func() any {
		return &scratch{counts: make([]uint32, len(t.scales)), sum: make([]int64, t.dim)}
	}
	return e
}

// scratch is the memory of one embedding.
type scratch struct {
	words   Words
	counts  []uint32 // per row; all zero between uses
	rows    []int32  // those counted
	weights []int64  // of rows
	grams   []int32
	sum     []int64
}

// Name is "static@" and the fingerprint of the table.
func (e *Embedder) Name() string { return e.name }

// Dim is the number of dimensions of every vector.
func (e *Embedder) Dim() int { return e.table.dim }

// Embed returns the unit vector of a text: the sum over its distinct tokens of
// the token's row times the root of how often it stands there, normalised. A
// text without tokens is all zeros. The error is always nil.
func (e *Embedder) Embed(text string) ([]float32, error) {
	v := make([]float32, e.table.dim)
	e.EmbedInto(v, text)
	return v, nil
}

// EmbedInto is [Embedder.Embed] into memory of the caller, of [Embedder.Dim]
// values; it allocates nothing for texts of ordinary length.
func (e *Embedder) EmbedInto(v []float32, text string) {
	s := e.scratch.Get().(*scratch)
	e.embed(s, v, text)
	e.scratch.Put(s)
}

func (e *Embedder) embed(s *scratch, v []float32, text string) {
	e.count(s, text)
	e.sum(s)
	var square float64
	for _, x := range s.sum {
		square += float64(float64(x) * float64(x))
	}
	norm := math.Sqrt(square)
	for i, x := range s.sum {
		if norm == 0 {
			v[i] = 0
		} else {
			v[i] = float32(float64(x) / norm)
		}
		s.sum[i] = 0
	}
}

// count tallies the rows of the text's tokens.
func (e *Embedder) count(s *scratch, text string) {
	s.rows = s.rows[:0]
	s.words.Reset(text)
	for word := s.words.Next(); word != nil; word = s.words.Next() {
		if row, ok := e.table.lookup[string(word)]; ok {
			s.tally(row)
			continue
		}
		s.grams = AppendGrams(s.grams[:0], word, e.table.buckets)
		for _, bucket := range s.grams {
			s.tally(int32(len(e.table.words)) + bucket)
		}
	}
}

func (s *scratch) tally(row int32) {
	if s.counts[row] == 0 {
		s.rows = append(s.rows, row)
	}
	s.counts[row]++
}

// sum adds the weighted rows and clears the tally. It computes in integers, so
// that neither the order of the words nor the processor changes a bit of it:
// a root has 8 bits after the point and is at most 2^16, a scale has 16 bits, a
// value 7, and a table 2^20 rows, which fits.
func (e *Embedder) sum(s *scratch) {
	s.weights = s.weights[:0]
	for _, row := range s.rows {
		s.weights = append(s.weights, int64(e.table.scales[row])*root(s.counts[row]))
		s.counts[row] = 0
	}
	addRows(s.sum, e.table.rows, s.rows, s.weights)
}

// root is √n in units of 1/256, rounded.
func root(n uint32) int64 {
	if n == 1 {
		return 256
	}
	return int64(math.Sqrt(float64(n))*256 + 0.5)
}
