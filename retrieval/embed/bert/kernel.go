package bert

// kernel multiplies one tile of a matrix product and evaluates the two
// functions that would otherwise cost as much as the products. Kernels differ by
// rounding, and by 5e-7 in gelu.
type kernel struct {
	name       string
	rows, cols int // of a tile
	// multiply adds to the tile at c (rows × cols, rows ldc values apart) the
	// product of rows rows of a (lda values apart, k long) and a panel of k × cols
	// values.
	multiply func(k int, a []float32, lda int, panel []float32, c []float32, ldc int)
	// softmax replaces x[i] by exp(x[i]·scale − max) and returns the sum; len(x)
	// is a multiple of lanes.
	softmax func(x []float32, scale, max float32) float32
	// gelu replaces x[i] by x[i]·Φ(x[i]); len(x) is a multiple of lanes.
	gelu func(x []float32)
	// codes adds to the tile at c (codeRows × codeCols, rows ldc values apart) the
	// product of codeRows rows of a (k apart and long, k even) and a panel of codes,
	// times the scales of its columns and rows; nil leaves it to [pairs], whose tiles
	// have two rows.
	codes func(k int, a []int16, panel []byte, cols, rows []float32, c []float32, ldc int)
	// round is [roundPortable].
	round func(to []int16, x []float32, limit float32) (scale float32)
}

// lanes is what the lengths given to softmax and gelu are multiples of.
const lanes = 8

// matrix is a weight matrix for products x·Wᵀ, cut into panels: for each group
// of the kernel's cols output columns the values of all inputs, interleaved,
// so that a tile reads its panel from front to back.
type matrix struct {
	in, out int
	stride  int // out, rounded up to whole panels
	panels  []float32
}

// pack cuts the out × in matrix w, row-major, rows step values apart.
func (m *matrix) pack(k *kernel, w []float32, out, in, step int) {
	m.in, m.out, m.stride = in, out, roundUp(out, k.cols)
	m.panels = grow(m.panels, m.stride*in)
	for first := 0; first < out; first += k.cols {
		panel := m.panels[first*in : (first+k.cols)*in]
		for c := range k.cols {
			if first+c >= out {
				for i := range in {
					panel[i*k.cols+c] = 0
				}
				continue
			}
			row := w[(first+c)*step : (first+c)*step+in]
			for i, v := range row {
				panel[i*k.cols+c] = v
			}
		}
	}
}

// packColumns is pack for the transpose: w is in × out.
func (m *matrix) packColumns(k *kernel, w []float32, out, in, step int) {
	m.in, m.out, m.stride = in, out, roundUp(out, k.cols)
	m.panels = grow(m.panels, m.stride*in)
	for first := 0; first < out; first += k.cols {
		panel, n := m.panels[first*in:(first+k.cols)*in], min(k.cols, out-first)
		for i := range in {
			to := panel[i*k.cols : (i+1)*k.cols]
			copy(to, w[i*step+first:i*step+first+n])
			clear(to[n:])
		}
	}
}

// depth is how much of the inner dimension one pass takes: a tile's rows and
// panel then stay in the nearest cache.
const depth = 384

// addProduct adds x·Wᵀ to y for n rows, rounded up to whole tiles: both have
// memory for those, x of rows lda and y of rows ldc values, ldc ≥ m.stride.
func (m *matrix) addProduct(k *kernel, n int, x []float32, lda int, y []float32, ldc int) {
	for first := 0; first < m.stride; first += k.cols {
		for from := 0; from < m.in; from += depth {
			d := min(depth, m.in-from)
			panel := m.panels[first*m.in+from*k.cols:][:d*k.cols]
			for row := 0; row < n; row += k.rows {
				k.multiply(d, x[row*lda+from:], lda, panel, y[row*ldc+first:], ldc)
			}
		}
	}
}

func roundUp(n, to int) int { return (n + to - 1) / to * to }

// grow gives s the length n, keeping memory but not content.
func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
