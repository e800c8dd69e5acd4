package vector

import (
	"errors"
	"fmt"
	"math"
)

// ErrCodes is returned for rows that cannot be those of a [Codes].
var ErrCodes = errors.New("vector: rows and scales do not fit together")

// Codes are vectors of one signed byte a dimension and a scale each: what is
// scored where every vector has a place of its own, and full floats would cost
// four times the memory. A cosine by codes is off by some thousandths. Append
// while it is being made; afterwards it is immutable and may be read from any
// number of goroutines. The same vectors give the same cosines on every
// processor.
type Codes struct {
	dim, stride int
	rows        []int8
	scales      []float32
}

// NewCodes makes room for n vectors of dim values.
func NewCodes(dim, n int) *Codes {
	stride := padded(dim)
	return &Codes{dim: dim, stride: stride, rows: make([]int8, 0, n*stride), scales: make([]float32, 0, n)}
}

// Len is the number of vectors.
func (c *Codes) Len() int { return len(c.scales) }

// Dim is the number of values of each.
func (c *Codes) Dim() int { return c.dim }

// Bytes is the memory that the vectors take.
func (c *Codes) Bytes() int { return cap(c.rows) + 4*cap(c.scales) }

// Append adds a vector. One of another dimension, without direction, or with a
// value that is no number is similar to nothing.
func (c *Codes) Append(v []float32) {
	at := len(c.rows)
	for range c.stride {
		c.rows = append(c.rows, 0)
	}
	unit, ok := normalise(v)
	if len(v) != c.dim || !ok {
		c.scales = append(c.scales, 0)
		return
	}
	c.scales = append(c.scales, encode(c.rows[at:at+c.dim], unit))
}

// AppendFrom adds vectors from one place to another of codes of the same
// dimension.
func (c *Codes) AppendFrom(other *Codes, from, to int) {
	c.rows = append(c.rows, other.rows[from*c.stride:to*c.stride]...)
	c.scales = append(c.scales, other.scales[from:to]...)
}

// Row returns a vector's codes, without padding, and their scale: code times
// scale is about the value. They must not be changed.
func (c *Codes) Row(i int) ([]int8, float32) {
	return c.rows[i*c.stride : i*c.stride+c.dim], c.scales[i]
}

// AppendRow adds what [Codes.Row] returned. An error wraps [ErrCodes].
func (c *Codes) AppendRow(codes []int8, scale float32) error {
	if len(codes) != c.dim || math.IsNaN(float64(scale)) || math.IsInf(float64(scale), 0) || scale < 0 {
		return fmt.Errorf("%w: %d codes at scale %v, the dimension is %d", ErrCodes, len(codes), scale, c.dim)
	}
	at := len(c.rows)
	c.rows = append(c.rows, codes...)
	for len(c.rows) < at+c.stride {
		c.rows = append(c.rows, 0)
	}
	for i, code := range c.rows[at:] {
		c.rows[at+i] = max(code, -127) // the kernel's sums overflow at −128
	}
	c.scales = append(c.scales, scale)
	return nil
}

// Question is a query prepared for [Codes] of its dimension.
type Question struct {
	dim   int
	codes []int8
	scale float32
	dots  []int32
}

// Ask prepares a query. It tells whether it has a direction.
func (q *Question) Ask(query []float32) bool {
	unit, ok := normalise(query)
	if !ok {
		q.dim = 0
		return false
	}
	q.dim = len(query)
	q.codes = append(q.codes[:0], make([]int8, padded(len(query)))...)
	q.scale = encode(q.codes[:len(unit)], unit)
	return true
}

// Cosines writes the cosines of the vectors from a place on, as many as there
// is room for.
func (c *Codes) Cosines(out []float32, q *Question, from int) {
	if q.dim != c.dim {
		clear(out)
		return
	}
	q.dots = append(q.dots[:0], make([]int32, len(out))...)
	dotCodes(q.dots, q.codes, c.rows[from*c.stride:(from+len(out))*c.stride])
	for i, dot := range q.dots {
		out[i] = float32(float32(dot)*q.scale) * c.scales[from+i]
	}
}
