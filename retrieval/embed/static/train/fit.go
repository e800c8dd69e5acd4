package train

import "github.com/viterin/vek/vek32"

// fitSteps are the steps of conjugate gradients: the residual has settled long
// before.
const fitSteps = 30

// fit finds rows whose weighted sums are near the targets: ridge regression, all
// dimensions side by side, by conjugate gradients on the normal equations.
func fit(sums []counted, targets []float32, rows, dim int, ridge float64) []float32 {
	e := &equations{sums: sums, uses: make([][]use, rows), dim: dim, ridge: float32(ridge)}
	for i, s := range sums {
		for k, row := range s.rows {
			e.uses[row] = append(e.uses[row], use{int32(i), s.weights[k]})
		}
	}
	solution := make([]float32, rows*dim)
	residual := e.gather(targets)
	direction := append([]float32(nil), residual...)
	size := columnDots(residual, residual, dim)
	for range fitSteps {
		image := e.apply(direction)
		along := columnDots(direction, image, dim)
		steps, turns := make([]float32, dim), make([]float32, dim)
		for d := range steps {
			if along[d] > 0 {
				steps[d] = float32(size[d] / along[d])
			}
		}
		for i := range solution {
			solution[i] += float32(steps[i%dim] * direction[i])
			residual[i] -= float32(steps[i%dim] * image[i])
		}
		next := columnDots(residual, residual, dim)
		for d := range turns {
			if size[d] > 0 {
				turns[d] = float32(next[d] / size[d])
			}
		}
		for i := range direction {
			direction[i] = residual[i] + float32(turns[i%dim]*direction[i])
		}
		size = next
	}
	return solution
}

// equations are the normal equations of the sums.
type equations struct {
	sums  []counted
	uses  [][]use // per row
	dim   int
	ridge float32
}

// gather is, for every row, the weighted sum of the texts that hold it.
func (e *equations) gather(texts []float32) []float32 {
	out := make([]float32, len(e.uses)*e.dim)
	each(len(e.uses), func(row int) {
		sum := line(out, row, e.dim)
		for _, u := range e.uses[row] {
			addScaled(sum, line(texts, int(u.text), e.dim), u.weight)
		}
	})
	return out
}

// apply multiplies rows by the matrix of the equations.
func (e *equations) apply(rows []float32) []float32 {
	texts := make([]float32, len(e.sums)*e.dim)
	each(len(e.sums), func(i int) {
		for k, row := range e.sums[i].rows {
			addScaled(line(texts, i, e.dim), line(rows, int(row), e.dim), e.sums[i].weights[k])
		}
	})
	out := e.gather(texts)
	addScaled(out, rows, e.ridge)
	return out
}

// columnDots are the products of the columns of two matrices.
func columnDots(a, b []float32, dim int) []float64 {
	sums := make([]float64, dim)
	for i := range a {
		sums[i%dim] += float64(float64(a[i]) * float64(b[i]))
	}
	return sums
}

// reduce centres rows of a width and turns them to their first dim principal
// axes.
func reduce(x []float32, width, dim int) []float32 {
	n := len(x) / width
	columns := transpose(x, width)
	each(width, func(c int) {
		column := line(columns, c, n)
		var sum float64
		for _, value := range column {
			sum += float64(value)
		}
		mean := float32(sum / float64(n))
		for i := range column {
			column[i] -= mean
		}
	})
	covariance := make([]float64, width*width)
	each(width, func(i int) {
		for j := range width {
			covariance[i*width+j] = float64(vek32.Dot(line(columns, i, n), line(columns, j, n))) / float64(n)
		}
	})
	// Rounding must not leave the two halves different.
	for i := range width {
		for j := range i {
			mean := (covariance[i*width+j] + covariance[j*width+i]) / 2
			covariance[i*width+j], covariance[j*width+i] = mean, mean
		}
	}
	_, axes := eigen(covariance, width)
	turned := make([]float32, n*dim)
	each(dim, func(d int) {
		sum := make([]float32, n)
		for c := range width {
			addScaled(sum, line(columns, c, n), float32(axes[c*width+d]))
		}
		for i, value := range sum {
			turned[i*dim+d] = value
		}
	})
	return turned
}
