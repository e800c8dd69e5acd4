package train

import (
	"math"
	"math/rand/v2"
	"testing"
)

// dense is a sparse matrix with every cell of x.
func dense(x []float32, columns int) *sparse {
	m := &sparse{columns: columns, rows: make([][]cell, len(x)/columns)}
	for i, value := range x {
		if value != 0 {
			m.rows[i/columns] = append(m.rows[i/columns], cell{int32(i % columns), value})
		}
	}
	return m
}

// A matrix of rank 3 is found again: rows times the singular values' other
// half give products of its rows, M·Mᵀ = E·Σ·Eᵀ.
func TestFactoriseFindsALowRankMatrix(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const rows, columns, rank = 60, 40, 3
	left, right := make([]float32, rows*rank), make([]float32, columns*rank)
	for i := range left {
		left[i] = float32(random.NormFloat64())
	}
	for i := range right {
		right[i] = float32(random.NormFloat64())
	}
	x := make([]float32, rows*columns)
	for r := range rows {
		for c := range columns {
			for k := range rank {
				x[r*columns+c] += left[r*rank+k] * right[c*rank+k]
			}
		}
	}
	const dim = 6
	e := factorise(dense(x, columns), dim, 4, 2, random)
	var sigma [dim]float64 // E's columns have length √σ
	for r := range rows {
		for d := range dim {
			sigma[d] += float64(e[r*dim+d]) * float64(e[r*dim+d])
		}
	}
	for d := 1; d < rank; d++ {
		if sigma[d] > sigma[d-1] {
			t.Errorf("singular values are not in order: %v", sigma)
		}
	}
	for d := rank; d < dim; d++ {
		if sigma[d] > 1e-2*sigma[0] {
			t.Errorf("dimension %d of a matrix of rank %d has weight %g of %g", d, rank, sigma[d], sigma[0])
		}
	}
	var wrong, all float64
	for a := range rows {
		for b := range rows {
			var want, got float64
			for c := range columns {
				want += float64(x[a*columns+c]) * float64(x[b*columns+c])
			}
			for d := range rank {
				got += float64(e[a*dim+d]) * sigma[d] * float64(e[b*dim+d])
			}
			wrong += (want - got) * (want - got)
			all += want * want
		}
	}
	if math.Sqrt(wrong/all) > 1e-3 {
		t.Errorf("the products are off by %g", math.Sqrt(wrong/all))
	}
}

func TestEigen(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	const n = 12
	a := make([]float64, n*n)
	for i := range n {
		for j := range i + 1 {
			a[i*n+j] = random.NormFloat64()
			a[j*n+i] = a[i*n+j]
		}
	}
	original := append([]float64(nil), a...)
	values, vectors := eigen(a, n)
	for k := range n {
		if k > 0 && values[k] > values[k-1] {
			t.Fatalf("values are not in order: %v", values)
		}
		for i := range n {
			var sum float64
			for j := range n {
				sum += original[i*n+j] * vectors[j*n+k]
			}
			if math.Abs(sum-values[k]*vectors[i*n+k]) > 1e-9 {
				t.Fatalf("vector %d is not one of value %g", k, values[k])
			}
		}
	}
}

// stepOptions take every chance out of a step, so that it is a function.
func stepOptions() Options {
	o := Defaults()
	o.Words, o.Buckets, o.Dim, o.Temperature = 12, 3, 5, 0.2
	o.Dropout, o.Spelling, o.Excerpts = 0, 0, 0
	return o
}

// toy is a contrast over twelve words with rows of their own and two of
// n-grams, and a batch of four pairs, two of which share their left text.
func toy(o Options) (*contrast, []example) {
	random := rand.New(rand.NewPCG(9, 9))
	v := &vocabulary{rows: 15}
	for i := range int32(12) {
		v.own = append(v.own, i)
		v.spelled = append(v.spelled, []int32{12, 13})
	}
	v.own = append(v.own, -1)
	v.spelled = append(v.spelled, []int32{12, 14, 12})
	rows := make([]float32, v.rows*o.Dim)
	for i := range rows {
		rows[i] = float32(random.NormFloat64())
	}
	text := func(ids ...int32) []int32 { return ids }
	batch := []example{
		{left: text(0, 1), right: [2][]int32{text(2, 3, 3), nil}, key: 1},
		{left: text(4, 12), right: [2][]int32{text(5), text(6, 0)}, key: 2},
		{left: text(7), right: [2][]int32{text(8, 9, 12), nil}, key: 3},
		{left: text(7), right: [2][]int32{text(10, 11, 1), nil}, key: 3},
	}
	return newContrast(o, v, rows), batch
}

// naiveLoss is the documented loss, term by term, in double precision.
func naiveLoss(c *contrast, batch []example) float64 {
	embed := func(parts ...[]int32) []float64 {
		counts := map[int32]float64{}
		for _, part := range parts {
			for _, word := range part {
				for _, row := range c.vocab.of(word) {
					counts[row]++
				}
			}
		}
		v := make([]float64, c.opt.Dim)
		var square float64
		for d := range v {
			for row, n := range counts {
				v[d] += math.Sqrt(n) * float64(c.rows[int(row)*c.opt.Dim+d])
			}
			square += v[d] * v[d]
		}
		for d := range v {
			v[d] /= math.Sqrt(square)
		}
		return v
	}
	n := len(batch)
	e := make([][]float64, n)
	for i := range e {
		e[i] = make([]float64, n)
		left := embed(batch[i].left)
		for j := range e[i] {
			right := embed(batch[j].right[0], batch[j].right[1])
			var dot float64
			for d := range left {
				dot += left[d] * right[d]
			}
			if i == j || batch[i].key != batch[j].key {
				e[i][j] = math.Exp(dot / c.opt.Temperature)
			}
		}
	}
	var loss float64
	for i := range n {
		var row, column float64
		for j := range n {
			row += e[i][j]
			column += e[j][i]
		}
		loss -= (math.Log(e[i][i]/row) + math.Log(e[i][i]/column)) / float64(2*n)
	}
	return loss
}

func TestAStepFollowsTheGradient(t *testing.T) {
	c, batch := toy(stepOptions())
	want := make([]float64, len(c.rows))
	for i, x := range c.rows {
		const h = 1e-3
		c.rows[i] = x + h
		above := naiveLoss(c, batch)
		c.rows[i] = x - h
		below := naiveLoss(c, batch)
		c.rows[i] = x
		want[i] = (above - below) / (2 * h)
	}
	loss := naiveLoss(c, batch)
	if got := c.step(batch, 1e-9); math.Abs(got-loss) > 1e-4 {
		t.Fatalf("the loss is %g, not %g", got, loss)
	}
	for i := range c.rows {
		got := float64(c.adam.first[i]) / (1 - adamFirst) // after one step the first moment is a tenth of the gradient
		if math.Abs(got-want[i]) > 2e-3 {
			t.Errorf("row %d, dimension %d: the gradient is %g, not %g", i/c.opt.Dim, i%c.opt.Dim, got, want[i])
		}
	}
}

func TestRateRisesAndFalls(t *testing.T) {
	const total = 100
	for step := 1; step < total; step++ {
		before, now := rate(1, step-1, total), rate(1, step, total)
		if now <= 0 || now > 1 || step < 5 && now <= before || step > 5 && now >= before {
			t.Errorf("step %d: %g after %g", step, now, before)
		}
	}
}

func TestAssociationsAreZeroForIndependentWords(t *testing.T) {
	o := stepOptions()
	o.Window, o.Contexts, o.ContextPower = 1, 3, 1
	// 0 is always beside 1; 2 is beside 0 and 1 only once.
	text := &texts{words: []string{"a", "b", "c"}, pairs: []pair{{left: []int32{0, 1}, right: []int32{0, 1}}, {left: []int32{0, 1}, right: []int32{1, 2, 0}}}}
	v := &vocabulary{rows: 3, own: []int32{0, 1, 2}, spelled: make([][]int32, 3), contexts: []int32{0, 1, 2}}
	m, err := associations(t.Context(), text, v, o)
	if err != nil {
		t.Fatal(err)
	}
	// Of 10 ordered neighbours a has 4, b 4, c 2; a and b are neighbours 3 times, a and c once.
	want := [][]cell{
		{{1, float32(math.Log(3 * 10 / 16.0))}, {2, float32(math.Log(1 * 10 / 8.0))}},
		{{0, float32(math.Log(3 * 10 / 16.0))}, {2, float32(math.Log(1 * 10 / 8.0))}},
		{{0, float32(math.Log(1 * 10 / 8.0))}, {1, float32(math.Log(1 * 10 / 8.0))}},
	}
	for row := range want {
		if len(m.rows[row]) != len(want[row]) {
			t.Fatalf("row %d is %v, not %v", row, m.rows[row], want[row])
		}
		for i, c := range want[row] {
			if got := m.rows[row][i]; got.column != c.column || math.Abs(float64(got.value-c.value)) > 1e-6 {
				t.Errorf("row %d is %v, not %v", row, m.rows[row], want[row])
			}
		}
	}
}
