package train

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/viterin/vek/vek32"
)

// contrast trains the rows so that a left text is nearer to its right text than
// to every other right text of the batch, and the other way round (InfoNCE:
// van den Oord, Li and Vinyals, 2018; in-batch negatives, both directions).
type contrast struct {
	opt    Options
	vocab  *vocabulary
	rows   []float32 // trained in place
	adam   adam
	memory []bag // one for each worker

	texts          []counted   // of the step: the left ones, then the right ones
	vectors        []float32   // unit vectors of the texts
	lefts, rights  []float32   // the same two halves by columns
	scores         [][]float32 // lefts × rights
	across         [][]float32 // rights × lefts
	losses         []float64
	gradient       []float32 // of the texts' sums
	starts         []int32   // per row: its first use in uses; one more at the end
	uses           []use
	touched        []int32
	keys           []uint64
	rowSum, colSum []float32
}

// counted is a text as weighted rows.
type counted struct {
	rows    []int32
	weights []float32
	norm    float64 // of the sum
}

// use is one text that holds a row.
type use struct {
	text   int32
	weight float32
}

// bag is a worker's memory for counting the tokens of a text.
type bag struct{ counts []int32 }

func newContrast(opt Options, v *vocabulary, rows []float32) *contrast {
	return &contrast{opt: opt, vocab: v, rows: rows, adam: newAdam(len(rows)), starts: make([]int32, v.rows+1)}
}

// train runs all epochs and returns the steps taken and the last epoch's mean
// loss.
func (c *contrast) train(ctx context.Context, t *texts, report func(Progress)) (steps int, loss float64, err error) {
	perEpoch := (len(t.pairs) + c.opt.Batch - 1) / c.opt.Batch
	total := perEpoch * c.opt.Epochs
	for epoch := range c.opt.Epochs {
		random := rand.New(rand.NewPCG(c.opt.Seed, uint64(epoch)+1))
		order := plan(t.pairs, c.opt.Block, random)
		var sum float64
		n := 0
		for from := 0; from < len(order); from += c.opt.Batch {
			if err := ctx.Err(); err != nil {
				return steps, 0, err
			}
			var batch []example
			for _, p := range order[from:min(from+c.opt.Batch, len(order))] {
				batch = append(batch, newExample(&t.pairs[p], c.opt, random))
			}
			if len(batch) < 2 {
				continue
			}
			l := c.step(batch, rate(c.opt.LearningRate, steps, total))
			steps++
			sum += l
			n++
			report(Progress{Stage: "contrast", Done: steps, Total: total, Loss: l})
		}
		loss = sum / float64(max(n, 1))
	}
	return steps, loss, nil
}

// rate rises over the first twentieth of the steps and then falls to zero.
func rate(peak float64, step, total int) float64 {
	rise := max(total/20, 1)
	if step < rise {
		return peak * float64(step+1) / float64(rise)
	}
	return peak * float64(total-step) / float64(max(total-rise, 1))
}

// step takes one batch and returns its loss.
func (c *contrast) step(batch []example, rate float64) float64 {
	n, dim := len(batch), c.opt.Dim
	c.reserve(n)
	parallel(2*n, &c.memory, func(i int, own *bag) { c.embed(i, n, batch, own) })
	c.lefts, c.rights = transpose(c.vectors[:n*dim], dim), transpose(c.vectors[n*dim:2*n*dim], dim)
	c.keys = c.keys[:0]
	for i := range batch {
		c.keys = append(c.keys, batch[i].key)
	}
	loss := c.compare(n)
	each(2*n, func(i int) { c.back(i, n) })
	c.collect(n)
	c.adam.begin(rate)
	each(len(c.touched), func(i int) { c.update(c.touched[i]) })
	return loss
}

func (c *contrast) reserve(n int) {
	if len(c.scores) >= n {
		return
	}
	c.texts = make([]counted, 2*n)
	c.vectors, c.gradient = make([]float32, 2*n*c.opt.Dim), make([]float32, 2*n*c.opt.Dim)
	c.scores, c.across = make([][]float32, n), make([][]float32, n)
	for i := range n {
		c.scores[i], c.across[i] = make([]float32, n), make([]float32, n)
	}
	c.losses, c.rowSum, c.colSum = make([]float64, n), make([]float32, n), make([]float32, n)
}

// embed computes the unit vector of text i of 2n, with tokens left out or
// spelled by chance.
func (c *contrast) embed(i, n int, batch []example, own *bag) {
	if own.counts == nil {
		own.counts = make([]int32, c.vocab.rows)
	}
	e := &batch[i%n]
	parts, side := [2][]int32{e.left, nil}, uint64(0)
	if i >= n {
		parts, side = e.right, 1
	}
	random := rand.New(rand.NewPCG(e.seed, side))
	t := &c.texts[i]
	t.rows, t.weights = t.rows[:0], t.weights[:0]
	for _, part := range parts {
		for _, word := range part {
			rows := c.vocab.of(word)
			if c.opt.Spelling > 0 && len(rows) == 1 && random.Float64() < c.opt.Spelling {
				rows = c.vocab.spelled[word]
			}
			for _, row := range rows {
				if own.counts[row]++; own.counts[row] == 1 {
					t.rows = append(t.rows, row)
				}
			}
		}
	}
	kept := t.rows[:0]
	sum := c.vectors[i*c.opt.Dim : (i+1)*c.opt.Dim]
	clear(sum)
	for _, row := range t.rows {
		count := own.counts[row]
		own.counts[row] = 0
		if random.Float64() < c.opt.Dropout {
			continue
		}
		weight := float32(math.Sqrt(float64(count)))
		kept, t.weights = append(kept, row), append(t.weights, weight)
		addScaled(sum, line(c.rows, int(row), c.opt.Dim), weight)
	}
	t.rows = kept
	if t.norm = norm(sum); t.norm > 0 {
		scale(sum, float32(1/t.norm))
	}
}

func scale(x []float32, by float32) {
	for i := range x {
		x[i] *= by
	}
}

// compare fills scores and across with the derivative of the loss by each
// cosine, and returns the loss.
func (c *contrast) compare(n int) float64 {
	dim, inverse := c.opt.Dim, float32(1/c.opt.Temperature)
	each(n, func(i int) {
		row, left := c.scores[i][:n], line(c.vectors, i, dim)
		for j := range row {
			row[j] = (vek32.Dot(left, line(c.vectors, n+j, dim)) - 1) * inverse
		}
		c.losses[i] = -2 * float64(row[i])
		vek32.Exp_Inplace(row)
		for j := range row {
			if i != j && c.keys[i] == c.keys[j] {
				row[j] = 0
			}
		}
		c.rowSum[i] = vek32.Sum(row)
	})
	each(n, func(j int) {
		var sum float32
		for i := range n {
			c.across[j][i] = c.scores[i][j]
			sum += c.scores[i][j]
		}
		c.colSum[j] = sum
	})
	var loss float64
	for i := range n {
		loss += (c.losses[i] + math.Log(float64(c.rowSum[i])) + math.Log(float64(c.colSum[i]))) / float64(2*n)
	}
	by := inverse / float32(2*n)
	each(n, func(i int) {
		derive(c.scores[i][:n], c.rowSum[i], c.colSum, i, by)
		derive(c.across[i][:n], c.colSum[i], c.rowSum, i, by)
	})
	return loss
}

// derive turns exponentials into the derivative of both directions' loss.
func derive(row []float32, own float32, others []float32, at int, by float32) {
	ownBy := by / own
	for j, e := range row {
		row[j] = float32(e*ownBy) + float32(e*by)/others[j]
	}
	row[at] -= 2 * by
}

// back computes the gradient of the unnormalised sum of text i of 2n.
func (c *contrast) back(i, n int) {
	dim := c.opt.Dim
	gradient, unit, t := line(c.gradient, i, dim), line(c.vectors, i, dim), &c.texts[i]
	if t.norm == 0 {
		clear(gradient)
		return
	}
	by, others := c.scores[i%n][:n], c.rights
	if i >= n {
		by, others = c.across[i-n][:n], c.lefts
	}
	for d := range gradient {
		gradient[d] = vek32.Dot(by, line(others, d, n))
	}
	addScaled(gradient, unit, -vek32.Dot(gradient, unit))
	scale(gradient, float32(1/t.norm))
}

// collect lists, for every row, the texts that hold it, in their order.
func (c *contrast) collect(n int) {
	clear(c.starts)
	total := int32(0)
	for i := range c.texts[:2*n] {
		for _, row := range c.texts[i].rows {
			c.starts[row+1]++
			total++
		}
	}
	c.touched = c.touched[:0]
	for row := range c.vocab.rows {
		if c.starts[row+1] > 0 {
			c.touched = append(c.touched, int32(row))
		}
		c.starts[row+1] += c.starts[row]
	}
	if cap(c.uses) < int(total) {
		c.uses = make([]use, total+total/4)
	}
	for i := range c.texts[:2*n] {
		t := &c.texts[i]
		for k, row := range t.rows {
			c.uses[c.starts[row]] = use{int32(i), t.weights[k]}
			c.starts[row]++
		}
	}
	// Filling moved every start to its end, which is the next row's start.
	copy(c.starts[1:], c.starts[:c.vocab.rows])
	c.starts[0] = 0
}

func (c *contrast) update(row int32) {
	var memory [maxDim]float32
	gradient := memory[:c.opt.Dim]
	for _, u := range c.uses[c.starts[row]:c.starts[row+1]] {
		addScaled(gradient, line(c.gradient, int(u.text), c.opt.Dim), u.weight)
	}
	c.adam.update(c.rows, int(row)*c.opt.Dim, gradient)
}
