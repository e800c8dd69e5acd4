package train

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/viterin/vek/vek32"
)

// factorise returns, for every row of m, its first dim left singular vectors'
// values times the root of the singular values, by a randomised SVD with power
// iterations. Dimensions beyond the rank are zero.
func factorise(m *sparse, dim, extra, iterations int, random *rand.Rand) []float32 {
	width := min(dim+extra, m.columns, len(m.rows))
	across := m.transposed()
	start := make([]float32, m.columns*width)
	for i := range start {
		start[i] = float32(random.NormFloat64())
	}
	basis := orthonormal(m.times(start, width), width)
	for range iterations {
		basis = orthonormal(m.times(orthonormal(across.times(basis, width), width), width), width)
	}
	small := transpose(across.times(basis, width), width) // width rows of m.columns: the transposed of m in the subspace
	gram := make([]float64, width*width)
	each(width, func(i int) {
		for j := range width {
			gram[i*width+j] = float64(vek32.Dot(line(small, i, m.columns), line(small, j, m.columns)))
		}
	})
	values, vectors := eigen(gram, width)
	out := make([]float32, len(m.rows)*dim)
	each(len(m.rows), func(row int) {
		for d := range min(dim, width) {
			var sum float64
			for k := range width {
				sum += float64(float64(basis[row*width+k]) * vectors[k*width+d])
			}
			out[row*dim+d] = float32(sum * math.Sqrt(math.Sqrt(max(values[d], 0))))
		}
	})
	return out
}

func line(x []float32, i, width int) []float32 { return x[i*width : (i+1)*width] }

// transpose turns rows of the given width into columns.
func transpose(x []float32, width int) []float32 {
	n := len(x) / width
	out := make([]float32, len(x))
	each(width, func(c int) {
		for r := range n {
			out[c*n+r] = x[r*width+c]
		}
	})
	return out
}

// orthonormal makes the columns of x orthogonal and of length one (Gram and
// Schmidt, twice, since once is not enough in single precision). A column that
// depends on those before it becomes zero.
func orthonormal(x []float32, width int) []float32 {
	columns := transpose(x, width)
	n := len(x) / width
	for i := range width {
		column := line(columns, i, n)
		before := norm(column)
		for range 2 {
			for j := range i {
				other := line(columns, j, n)
				addScaled(column, other, -vek32.Dot(column, other))
			}
		}
		by := float32(0)
		if after := norm(column); after > 1e-6*before {
			by = float32(1 / after)
		}
		for k := range column {
			column[k] *= by
		}
	}
	return transpose(columns, n)
}

func norm(x []float32) float64 { return math.Sqrt(float64(vek32.Dot(x, x))) }

// eigen diagonalises a symmetric matrix by Jacobi's rotations: its eigenvalues,
// largest first, and the eigenvectors as columns in the same order.
func eigen(a []float64, n int) (values, vectors []float64) {
	v := make([]float64, n*n)
	for i := range n {
		v[i*n+i] = 1
	}
	for range 60 {
		var off, all float64
		for i := range n {
			for j := range n {
				square := float64(a[i*n+j] * a[i*n+j])
				all += square
				if i != j {
					off += square
				}
			}
		}
		if off <= 1e-20*all {
			break
		}
		for p := range n {
			for q := p + 1; q < n; q++ {
				rotate(a, v, n, p, q)
			}
		}
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(a[j*n+j], a[i*n+i]) })
	values, vectors = make([]float64, n), make([]float64, n*n)
	for to, from := range order {
		values[to] = a[from*n+from]
		for k := range n {
			vectors[k*n+to] = v[k*n+from]
		}
	}
	return values, vectors
}

// rotate zeroes a[p][q].
func rotate(a, v []float64, n, p, q int) {
	if a[p*n+q] == 0 {
		return
	}
	theta := (a[q*n+q] - a[p*n+p]) / (2 * a[p*n+q])
	t := math.Copysign(1, theta) / (math.Abs(theta) + math.Sqrt(float64(theta*theta)+1))
	c := 1 / math.Sqrt(float64(t*t)+1)
	s := t * c
	for k := range n {
		a[k*n+p], a[k*n+q] = turn(a[k*n+p], a[k*n+q], c, s)
	}
	for k := range n {
		a[p*n+k], a[q*n+k] = turn(a[p*n+k], a[q*n+k], c, s)
		v[k*n+p], v[k*n+q] = turn(v[k*n+p], v[k*n+q], c, s)
	}
}

func turn(x, y, c, s float64) (float64, float64) {
	return float64(c*x) - float64(s*y), float64(s*x) + float64(c*y)
}
