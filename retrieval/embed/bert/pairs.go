package bert

import "encoding/binary"

// A float64 holds whole numbers up to 2^53, so that in plain Go one
// multiplication and addition does the work of two: the codes of two outputs lie
// in one, the second times 2^laneBits, and their sums stay apart for run products.
// They are those of the vector instructions to the last bit.
const (
	laneBits = 27
	run      = 16           // run·mostX·(mostCode+1) < 2^(laneBits-1)
	pairCols = codeCols / 2 // outputs of a tile, which has two rows
)

type (
	stateRun [run][2]float64            // of two rows
	codeRun  [run][pairCols / 2]float64 // of an output and of the one pairCols/2 on
)

// pairs is memory for one product.
type pairs struct {
	states []stateRun // two rows after two rows
	codes  []codeRun  // of a tile
}

// addProduct is that of codes, for states that are rounded.
func (p *pairs) addProduct(c *codes, r *rounded, n int, y []float32, ldc int) {
	runs := roundUp(c.in, run) / run
	p.spread(r.values, n, c.in, runs)
	for first := 0; first < c.out; first += pairCols {
		p.join(c.panels[first/codeCols*codeCols*c.in+first%codeCols*2:], c.in, runs)
		scales := (*[pairCols]float32)(c.scales[first:])
		for row := 0; row < n; row += 2 {
			sums := multiplyPairs(p.states[row/2*runs:][:runs], p.codes)
			for i, scale := range r.scales[row:][:2] {
				to := (*[pairCols]float32)(y[(row+i)*ldc+first:])
				for j, sum := range sums[i] {
					low := int32(sum)
					high := int32((sum - int64(low)) >> 32)
					to[j] += scales[j] * (float32(low) * scale)
					to[j+pairCols/2] += scales[j+pairCols/2] * (float32(high) * scale)
				}
			}
		}
	}
}

// spread lays states side by side, two rows at a time.
func (p *pairs) spread(values []int16, n, in, runs int) {
	p.states = grow(p.states, n/2*runs)
	for row := range n {
		to := p.states[row/2*runs:][:runs]
		if row%2 == 0 {
			to[runs-1] = stateRun{}
		}
		for i, v := range values[row*in:][:in] {
			to[i/run][i%run][row%2] = float64(v)
		}
	}
}

// join puts the codes of pairCols outputs of a panel in pairs.
func (p *pairs) join(panel []byte, in, runs int) {
	p.codes = grow(p.codes, runs)
	p.codes[runs-1] = codeRun{}
	for i := 0; i < in; i += 2 {
		to := (*[2][pairCols / 2]float64)(p.codes[i/run][i%run:])
		low := int64(binary.LittleEndian.Uint64(panel[i*codeCols:]))
		high := int64(binary.LittleEndian.Uint64(panel[i*codeCols+8:]))
		for j := range to[0] {
			to[0][j] = float64(low<<56>>56 + high<<56>>56<<laneBits)
			to[1][j] = float64(low<<48>>56 + high<<48>>56<<laneBits)
			low, high = low>>16, high>>16
		}
	}
}

// multiplyPairs returns the sums of two rows and eight outputs, those of two
// outputs in one number: the second's times 2^32.
func multiplyPairs(states []stateRun, codes []codeRun) (sums [2][pairCols / 2]int64) {
	codes = codes[:len(states)]
	for r := range states {
		var s00, s01, s02, s03, s10, s11, s12, s13 float64
		x, w := &states[r], &codes[r]
		for i := range run {
			x0, x1 := x[i][0], x[i][1]
			w0, w1, w2, w3 := w[i][0], w[i][1], w[i][2], w[i][3]
			s00 += x0 * w0
			s01 += x0 * w1
			s02 += x0 * w2
			s03 += x0 * w3
			s10 += x1 * w0
			s11 += x1 * w1
			s12 += x1 * w2
			s13 += x1 * w3
		}
		sums[0][0] += apart(s00)
		sums[0][1] += apart(s01)
		sums[0][2] += apart(s02)
		sums[0][3] += apart(s03)
		sums[1][0] += apart(s10)
		sums[1][1] += apart(s11)
		sums[1][2] += apart(s12)
		sums[1][3] += apart(s13)
	}
	return sums
}

// apart puts the second of two sums where 32 bits are free for the first.
func apart(sum float64) int64 {
	n := int64(sum)
	low := n << (64 - laneBits) >> (64 - laneBits)
	return (n-low)<<(32-laneBits) + low
}
