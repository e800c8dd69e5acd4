package bert

import (
	"math"
	"sync"
)

// portable is the kernel for every machine.
var portable = kernel{name: "portable", rows: 2, cols: 4, multiply: multiplyPortable, softmax: softmaxPortable, gelu: geluPortable, round: roundPortable}

// multiplyPortable keeps a 2 × 4 tile in registers: eight sums, two values of a
// and four of the panel fit the sixteen that amd64 has.
func multiplyPortable(k int, a []float32, lda int, panel []float32, c []float32, ldc int) {
	// All lengths are k, in a form that lets the compiler see it.
	a0, a1 := a[:k], a[lda:][:k]
	var s00, s01, s02, s03, s10, s11, s12, s13 float32
	for i, v0 := range a0 {
		b, v1 := (*[4]float32)(panel[4*i:]), a1[i]
		s00 += v0 * b[0]
		s01 += v0 * b[1]
		s02 += v0 * b[2]
		s03 += v0 * b[3]
		s10 += v1 * b[0]
		s11 += v1 * b[1]
		s12 += v1 * b[2]
		s13 += v1 * b[3]
	}
	c0, c1 := (*[4]float32)(c), (*[4]float32)(c[ldc:])
	c0[0] += s00
	c0[1] += s01
	c0[2] += s02
	c0[3] += s03
	c1[0] += s10
	c1[1] += s11
	c1[2] += s12
	c1[3] += s13
}

// Constants of expf: the Cephes library's float32 polynomial, and the natural
// logarithm of 2 in two parts.
const (
	expLowest = -87.33654
	wholes    = 3 << 22 // near it the next float32 is the next whole number
	log2e     = 1.44269504088896341
	ln2High   = 0.693359375
	ln2Low    = -2.12194440e-4
	exp0      = 1.9875691500e-4
	exp1      = 1.3981999507e-3
	exp2      = 8.3334519073e-3
	exp3      = 4.1665795894e-2
	exp4      = 1.6666665459e-1
	exp5      = 5.0000001201e-1
)

// expf is e^x to about one unit in the last place for x ≤ 0; below the smallest
// normal number it stays there.
func expf(x float32) float32 {
	if !(x > expLowest) { // also for NaN, as the vector instruction has it
		x = expLowest
	}
	n := x*log2e + wholes - wholes
	r := x - n*ln2High
	r -= n * ln2Low
	p := float32(exp0)
	p = p*r + exp1
	p = p*r + exp2
	p = p*r + exp3
	p = p*r + exp4
	p = p*r + exp5
	p = p*(r*r) + r + 1
	return math.Float32frombits(math.Float32bits(p) + uint32(int32(n))<<23)
}

func softmaxPortable(x []float32, scale, max float32) float32 {
	var sum float32
	for i, v := range x {
		e := expf(v*scale - max)
		x[i] = e
		sum += e
	}
	return sum
}

// GELU is max(x, 0) less z·Φ(−z) of z = |x|, which is a cubic in each cell of z
// that has its values and slopes at both ends, within 1e-7.
const (
	tailCells = 16 // of one
	tailEnd   = 6  // from where it is less than 1e-8
)

var tails = sync.OnceValue(func() *[tailEnd * tailCells][4]float32 {
	var all [tailEnd * tailCells][4]float32
	tail := func(cell int) (value, slope float64) {
		z := float64(cell) / tailCells
		beyond := math.Erfc(z/math.Sqrt2) / 2
		return z * beyond, (beyond - z*math.Exp(-z*z/2)/math.Sqrt(2*math.Pi)) / tailCells
	}
	for i := range all {
		v, s := tail(i)
		w, t := tail(i + 1)
		all[i] = [4]float32{float32(v), float32(s), float32(3*(w-v) - 2*s - t), float32(2*(v-w) + s + t)}
	}
	return &all
})

func geluPortable(x []float32) {
	tails := tails()
	for i, v := range x {
		y := max(v, 0)
		if z := max(v, -v) * tailCells; z < tailEnd*tailCells {
			cell := uint32(z)
			c, d := &tails[cell], z-float32(cell)
			y -= ((c[3]*d+c[2])*d+c[1])*d + c[0]
		}
		x[i] = y
	}
}
