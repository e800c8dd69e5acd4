package train

import "math"

// The usual constants of Adam (Kingma and Ba, ICLR 2015).
const (
	adamFirst  = 0.9
	adamSecond = 0.999
	adamLeast  = 1e-8
)

// adam keeps both moments of every value. Rows that a step does not touch keep
// theirs.
type adam struct {
	first, second []float32
	steps         int
	rate          float32
}

func newAdam(n int) adam { return adam{first: make([]float32, n), second: make([]float32, n)} }

// begin starts a step.
func (a *adam) begin(rate float64) {
	a.steps++
	n := float64(a.steps)
	a.rate = float32(rate * math.Sqrt(1-math.Pow(adamSecond, n)) / (1 - math.Pow(adamFirst, n)))
}

// update moves the values from at on along their gradient.
func (a *adam) update(values []float32, at int, gradient []float32) {
	n := len(gradient)
	x, m, v := values[at:at+n], a.first[at:at+n], a.second[at:at+n]
	for i, g := range gradient {
		m[i] = float32(adamFirst*m[i]) + float32((1-adamFirst)*g)
		v[i] = float32(adamSecond*v[i]) + float32((1-adamSecond)*float32(g*g))
		x[i] -= float32(a.rate*m[i]) / (float32(math.Sqrt(float64(v[i]))) + adamLeast)
	}
}
