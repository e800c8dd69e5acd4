package bert

import "encoding/binary"

// A float64 holds whole numbers up to 2^53, so that in plain Go one
// multiplication and addition does the work of two: the codes of two outputs lie
// in one number, the second times 2^laneBits, and their sums stay apart for run
// products. The sums are those of the vector instructions to the last bit.
const (
	laneBits = 27
	run      = codeCols     // run·mostX·(mostCode+1) < 2^(laneBits-1)
	pairCols = codeCols / 2 // outputs of a tile, which has two rows
	rowPairs = pairCols / 2 // numbers a row for them
)

type (
	stateRun [run][2]float64        // of two rows
	codeRun  [run][rowPairs]float64 // of an output and of the one rowPairs on
)

// pairs is memory for one product.
type pairs struct {
	states []stateRun // two rows after two rows
	codes  []codeRun  // of a tile
}

// addProduct is that of codes, for states that are rounded.
func (p *pairs) addProduct(c *codes, r *rounded, n int, y []float32, ldc int) {
	runs := c.in / run
	p.spread(r.values, n, c.in)
	for first := 0; first < c.out; first += pairCols {
		p.join(c.panels[first/codeCols*codeCols*c.in+first%codeCols*2:], runs)
		scales := (*[pairCols]float32)(c.scales[first:])
		for row := 0; row < n; row += 2 {
			sums := multiplyPairs(p.states[row/2*runs:][:runs], p.codes)
			for i, scale := range r.scales[row:][:2] {
				to := (*[pairCols]float32)(y[(row+i)*ldc+first:])
				for j, low := range sums.low[i] {
					high := (sums.whole[i][j] - low) >> laneBits
					to[j] += scales[j] * (float32(low) * scale)
					to[j+rowPairs] += scales[j+rowPairs] * (float32(high) * scale)
				}
			}
		}
	}
}

// spread lays states side by side, two rows at a time.
func (p *pairs) spread(values []int16, n, in int) {
	p.states = grow(p.states, n*in/(2*run))
	for i := range p.states {
		row := i * run / in * in // a row before for each that is passed
		a := (*[run]int16)(values[row+i*run:])
		b := (*[run]int16)(values[row+i*run+in:])
		for j, v := range a {
			p.states[i][j] = [2]float64{float64(v), float64(b[j])}
		}
	}
}

// join puts the codes of pairCols outputs of a panel in pairs.
func (p *pairs) join(panel []byte, runs int) {
	p.codes = grow(p.codes, runs)
	for r := range p.codes {
		to := &p.codes[r]
		for i := 0; i < run; i += 2 {
			from := (*[2 * pairCols]byte)(panel[(r*run+i)*codeCols:])
			l, h := int64(binary.LittleEndian.Uint64(from[:])), int64(binary.LittleEndian.Uint64(from[8:]))
			to[i][0] = joined(l<<56, h<<56)
			to[i+1][0] = joined(l<<48, h<<48)
			to[i][1] = joined(l<<40, h<<40)
			to[i+1][1] = joined(l<<32, h<<32)
			to[i][2] = joined(l<<24, h<<24)
			to[i+1][2] = joined(l<<16, h<<16)
			to[i][3] = joined(l<<8, h<<8)
			to[i+1][3] = joined(l, h)
		}
	}
}

// joined is the pair of the codes in the highest bytes.
func joined(low, high int64) float64 { return float64(low>>56 + high>>56<<laneBits) }

// pairSums are the sums of a tile's pairs, and those of their first numbers alone.
type pairSums struct{ whole, low [2][rowPairs]int64 }

func (s *pairSums) add(row, at int, sum float64) {
	n := int64(sum)
	s.whole[row][at] += n
	s.low[row][at] += n << (64 - laneBits) >> (64 - laneBits)
}

func multiplyPairs(states []stateRun, codes []codeRun) (sums pairSums) {
	codes = codes[:len(states)]
	for r := range states {
		var s00, s01, s02, s03, s10, s11, s12, s13 float64
		x, w := &states[r], &codes[r]
		for i := 0; i < run; i += 2 {
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
			x0, x1 = x[i+1][0], x[i+1][1]
			w0, w1, w2, w3 = w[i+1][0], w[i+1][1], w[i+1][2], w[i+1][3]
			s00 += x0 * w0
			s01 += x0 * w1
			s02 += x0 * w2
			s03 += x0 * w3
			s10 += x1 * w0
			s11 += x1 * w1
			s12 += x1 * w2
			s13 += x1 * w3
		}
		sums.add(0, 0, s00)
		sums.add(0, 1, s01)
		sums.add(0, 2, s02)
		sums.add(0, 3, s03)
		sums.add(1, 0, s10)
		sums.add(1, 1, s11)
		sums.add(1, 2, s12)
		sums.add(1, 3, s13)
	}
	return sums
}
