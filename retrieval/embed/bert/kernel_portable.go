package bert

import "math"

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
	n := float32(math.RoundToEven(float64(x * log2e)))
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

// Constants of the error function: Abramowitz and Stegun, Handbook of
// Mathematical Functions, 7.1.26; absolute error below 1.5e-7.
const (
	erfP = 0.3275911
	erf1 = 0.254829592
	erf2 = -0.284496736
	erf3 = 1.421413741
	erf4 = -1.453152027
	erf5 = 1.061405429
)

func geluPortable(x []float32) {
	for i, v := range x {
		z := float32(math.Abs(float64(v))) * (math.Sqrt2 / 2)
		t := 1 / (1 + erfP*z)
		p := float32(erf5)
		p = p*t + erf4
		p = p*t + erf3
		p = p*t + erf2
		p = p*t + erf1
		// half of erfc(z), the tail of the normal distribution
		tail := 0.5 * p * t * expf(-z*z)
		if v > 0 {
			tail = 1 - tail
		}
		x[i] = v * tail
	}
}
