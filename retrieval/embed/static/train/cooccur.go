package train

import (
	"context"
	"math"
	"runtime"
	"sync"
)

// sparse is a matrix by rows.
type sparse struct {
	columns int
	rows    [][]cell
}

type cell struct {
	column int32
	value  float32
}

// associations is the matrix of positive pointwise mutual information between
// rows and context words: log of how much more often they stand within a
// window of each other than by chance, where that is positive, with context
// frequencies raised to a power below one so that rare contexts do not
// dominate.
func associations(ctx context.Context, t *texts, v *vocabulary, opt Options) (*sparse, error) {
	contexts := min(opt.Contexts, len(t.words))
	counts := countPairs(t, v, opt.Window, contexts)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	ofRow := make([]float64, v.rows)
	ofContext := make([]float64, contexts)
	for row := range ofRow {
		for c, n := range counts[row*contexts : (row+1)*contexts] {
			ofRow[row] += float64(n)
			ofContext[c] += float64(n)
		}
	}
	var total float64
	for c := range ofContext {
		ofContext[c] = math.Pow(ofContext[c], opt.ContextPower)
		total += ofContext[c]
	}
	m := &sparse{columns: contexts, rows: make([][]cell, v.rows)}
	each(v.rows, func(row int) {
		var cells []cell
		for c, n := range counts[row*contexts : (row+1)*contexts] {
			if n == 0 {
				continue
			}
			if pmi := math.Log(float64(n) * total / (ofRow[row] * ofContext[c])); pmi > 0 {
				cells = append(cells, cell{int32(c), float32(pmi)})
			}
		}
		m.rows[row] = cells
	})
	return m, nil
}

// countPairs counts, for every row and context word, how often they stand
// within the window. Each worker counts its own rows, so that none waits.
func countPairs(t *texts, v *vocabulary, window, contexts int) []uint32 {
	counts := make([]uint32, v.rows*contexts)
	workers := int32(runtime.GOMAXPROCS(0))
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() {
			for i := range t.pairs {
				countText(counts, t.pairs[i].left, v, window, contexts, w, workers)
				countText(counts, t.pairs[i].right, v, window, contexts, w, workers)
			}
		})
	}
	wait.Wait()
	return counts
}

func countText(counts []uint32, text []int32, v *vocabulary, window, contexts int, worker, workers int32) {
	for at, word := range text {
		for _, row := range v.of(word) {
			if row%workers != worker {
				continue
			}
			of := counts[int(row)*contexts : (int(row)+1)*contexts]
			for near := max(0, at-window); near <= min(at+window, len(text)-1); near++ {
				if c := v.contexts[text[near]]; c >= 0 && near != at {
					of[c]++
				}
			}
		}
	}
}

// transposed is the matrix by columns.
func (m *sparse) transposed() *sparse {
	sizes := make([]int, m.columns)
	for _, row := range m.rows {
		for _, c := range row {
			sizes[c.column]++
		}
	}
	t := &sparse{columns: len(m.rows), rows: make([][]cell, m.columns)}
	for i, n := range sizes {
		t.rows[i] = make([]cell, 0, n)
	}
	for i, row := range m.rows {
		for _, c := range row {
			t.rows[c.column] = append(t.rows[c.column], cell{int32(i), c.value})
		}
	}
	return t
}

// times multiplies by a dense matrix of the given width, stored by rows.
func (m *sparse) times(x []float32, width int) []float32 {
	y := make([]float32, len(m.rows)*width)
	each(len(m.rows), func(i int) {
		sum := y[i*width : (i+1)*width]
		for _, c := range m.rows[i] {
			addScaled(sum, x[int(c.column)*width:(int(c.column)+1)*width], c.value)
		}
	})
	return y
}

// addScaled adds a multiple of x to sum. The conversion keeps compilers from
// fusing the two roundings into one, which would differ between processors.
func addScaled(sum, x []float32, by float32) {
	x = x[:len(sum)]
	for i := range sum {
		sum[i] += float32(by * x[i])
	}
}
