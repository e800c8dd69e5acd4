package bert

import "math"

const (
	codeCols = 16                // outputs of a panel of codes
	codeRows = 4                 // rows of a tile
	mostCode = 127               // greatest code of a weight; the least is its negative
	mostSum  = math.MaxInt32     // of a product of codes
	mostX    = math.MaxInt16 - 1 // greatest code of a state
)

// codes is a weight matrix for products x·Wᵀ in whole numbers: a signed byte a
// weight, a scale an output. States are rounded to 16 bits on the way in, each
// row with a scale of its own, so that the rounding of the weights alone counts.
type codes struct {
	in, out int // multiples of codeCols
	// panels hold, for each group of codeCols outputs and each pair of inputs, the
	// two codes of each output: vectors of pairs, which one instruction multiplies
	// and adds.
	panels []byte
	scales []float32 // of each output
}

// codeBytes is the length of a matrix's panels.
func codeBytes(out, in int) int { return out * in }

// at is where the code of an output and an input lies in the panels.
func (c *codes) at(out, in int) int {
	return (out/codeCols*c.in/2+in/2)*2*codeCols + out%codeCols*2 + in%2
}

// limit is the greatest code of a state with which no sum of products overflows.
func (c *codes) limit() float32 { return float32(min(mostX, mostSum/(mostCode*c.in))) }

// rounded is memory for states in whole numbers.
type rounded struct {
	values []int16
	scales []float32 // of each row
	pairs  pairs
}

// addProduct adds x·Wᵀ to y for n rows, rounded up to whole tiles: both have
// memory for those, x of rows lda and y of rows ldc values.
func (c *codes) addProduct(k *kernel, r *rounded, n int, x []float32, lda int, y []float32, ldc int) {
	n = roundUp(n, k.rows)
	r.values, r.scales = grow(r.values, n*c.in), grow(r.scales, n)
	for row := range n {
		r.scales[row] = k.round(r.values[row*c.in:][:c.in], x[row*lda:][:c.in], c.limit())
	}
	if k.codes == nil {
		r.pairs.addProduct(c, r, n, y, ldc)
		return
	}
	for first := 0; first < c.out; first += codeCols {
		panel, scales := c.panels[first*c.in:][:codeCols*c.in], c.scales[first:][:codeCols]
		for row := 0; row < n; row += codeRows {
			k.codes(c.in, r.values[row*c.in:], panel, scales, r.scales[row:], y[row*ldc+first:], ldc)
		}
	}
}

// roundPortable writes x as multiples of the scale that it returns, the greatest
// as limit.
func roundPortable(to []int16, x []float32, limit float32) (scale float32) {
	most := uint32(0)
	for _, v := range x {
		most = max(most, math.Float32bits(v)&^(1<<31))
	}
	top := math.Float32frombits(most)
	if !(top > 0 && top <= math.MaxFloat32) {
		clear(to)
		return top
	}
	factor := limit / top
	for i, v := range x {
		to[i] = int16(math.RoundToEven(float64(v * factor)))
	}
	return top / limit
}
