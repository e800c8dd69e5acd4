package vector

import (
	"math"
	"slices"
)

// sieve is a first look at every view: two bits a dimension of its rotated
// vector, a quarter of its codes. Its estimate of a cosine is unbiased, and what
// it passes over is among the best only if that was off by sieveSlack standard
// deviations.
type sieve struct {
	blocks int       // of sieveBlock dimensions in a row
	rows   []byte    // blocks × sieveRow bytes a view, in groups
	scales []float32 // per view, of whole groups: scale × Σ value·level is about the cosine
	rests  []float32 // per view: the squared length of what its levels are off by
	slack  float32   // how far off an estimate may be
}

const (
	// sieveBlock is how many dimensions are rotated, and taken by the kernel, at
	// once. Byte i of a block's row holds dimensions i, i+32, i+64 and i+96,
	// from its lowest bits up.
	sieveBlock = 128
	sieveRow   = sieveBlock / 4
	// sieveGroup is how many rows lie together: the first four bytes of each,
	// then the next four, and so on through the blocks, so that the kernel adds
	// up sixteen sums side by side. The last group is filled up with zeros.
	sieveGroup = 16
	// sieveStep is how far levels are apart, in standard deviations: the best for
	// four levels of a normal distribution (Max, "Quantizing for minimum
	// distortion", 1960).
	sieveStep = 0.9957
	// sieveSlack is in standard deviations of the estimate. One in 160 is farther
	// off, but the slack is counted from the worst of the best, of which more are
	// kept than are wanted: the wanted ones stand so far above it that hardly any
	// is lost, and every view let through is a wait for memory. Measured, see
	// DESIGN.md of retrieval.
	sieveSlack = 2.5
)

// newSieve takes rows over from another sieve, or nil, for the views that came
// from there.
func newSieve(v *views, from *sieve) *sieve {
	groups := (len(v.docs) + sieveGroup - 1) / sieveGroup
	s := &sieve{blocks: (v.dim + sieveBlock - 1) / sieveBlock}
	s.rows = make([]byte, groups*sieveGroup*s.width())
	s.scales = make([]float32, groups*sieveGroup)
	s.rests = make([]float32, len(v.docs))
	inParallel(len(v.docs), func(start, end int) {
		rotated, row := make([]float32, s.blocks*sieveBlock), make([]byte, s.width())
		for i := start; i < end; i++ {
			if old := v.from(i); old >= 0 {
				from.read(row, old)
				s.scales[i], s.rests[i] = from.scales[old], from.rests[old]
			} else {
				rotate(rotated, v.vector(i))
				s.scales[i], s.rests[i] = levels(row, rotated)
			}
			s.write(i, row)
		}
	})
	var square float64
	for _, rest := range s.rests {
		square += float64(rest)
	}
	s.slack = float32(sieveSlack * math.Sqrt(square/float64(max(len(s.rests)*s.blocks*sieveBlock, 1))))
	return s
}

// width is how many bytes a row has.
func (s *sieve) width() int { return s.blocks * sieveRow }

// place is where the first four bytes of a view's row are; the next four are a
// group of fours further on.
func (s *sieve) place(view int) int {
	return view/sieveGroup*sieveGroup*s.width() + 4*(view%sieveGroup)
}

func (s *sieve) write(view int, row []byte) {
	for at := s.place(view); len(row) > 0; at, row = at+4*sieveGroup, row[4:] {
		copy(s.rows[at:at+4], row)
	}
}

func (s *sieve) read(row []byte, view int) {
	for at := s.place(view); len(row) > 0; at, row = at+4*sieveGroup, row[4:] {
		copy(row[:4], s.rows[at:])
	}
}

// rotate writes the vector, turned by a fixed rotation of every block that
// spreads what stands out in one dimension over all: signs, then a Hadamard
// transform.
func rotate(out, v []float32) {
	clear(out[copy(out, v):])
	for i := range v {
		if uint64(i+1)*0x9E3779B97F4A7C15>>63 != 0 { // the golden ratio's digits are as good as random
			out[i] = -out[i]
		}
	}
	for ; len(out) >= sieveBlock; out = out[sieveBlock:] {
		hadamard((*[sieveBlock]float32)(out))
	}
}

func hadamard(x *[sieveBlock]float32) {
	for half := 1; half < sieveBlock; half *= 2 {
		for start := 0; start < sieveBlock; start += 2 * half {
			a, b := x[start:start+half], x[start+half:start+2*half]
			for i, p := range a {
				q := b[i]
				a[i], b[i] = p+q, p-q
			}
		}
	}
	for i := range x {
		x[i] *= 0.08838834764831845 // 1/√128
	}
}

// levels writes the codes, 0 to 3 for levels −3, −1, 1 and 3, and returns their
// scale and the squared length of what they are off by at that scale.
func levels(row []byte, rotated []float32) (scale, rest float32) {
	clear(row)
	steps := float32(math.Sqrt(float64(len(rotated))) / sieveStep)
	var along, square float32
	for i, x := range rotated {
		code := int32(min(max(float32(x*steps)+2, 0), 3))
		level := float32(2*code - 3)
		along += float32(x * level)
		square += float32(level * level)
		at := i % sieveBlock
		row[i/sieveBlock*sieveRow+at%sieveRow] |= byte(code << (2 * (at / sieveRow)))
	}
	return 1 / along, max(square/float32(along*along)-1, 0)
}

// sifting is a query as the sieve takes it.
type sifting struct {
	rotated []float32
	codes   []int8
	scale   float32
	sum     int32 // of codes
}

// estimates are those of views that follow one another: a query's scale times
// an estimate is about the cosine.
type estimates struct {
	values []float32
	step   int       // how many of them are looked at together
	most   []float32 // the largest of each step
}

func (s *sieve) newSifting() *sifting {
	return &sifting{rotated: make([]float32, s.blocks*sieveBlock), codes: make([]int8, s.blocks*sieveBlock)}
}

// ask prepares a query of length one.
func (s *sieve) ask(q *sifting, unit []float32) {
	rotate(q.rotated, unit)
	q.scale = encode(q.codes, q.rotated)
	q.sum = 0
	for _, c := range q.codes {
		q.sum += int32(c)
	}
}

// estimate fills the estimates of the views from start, the first of a group, to
// end, and returns one that at least so many of them reach.
func (s *sieve) estimate(q *sifting, e *estimates, start, end, many int) float32 {
	n := (end - start + sieveGroup - 1) / sieveGroup * sieveGroup
	e.values = slices.Grow(e.values[:0], n)[:n]
	e.step = (n/sieveSteps/sieveGroup + 1) * sieveGroup
	e.most = e.most[:0]
	for from := 0; from < n; from += e.step {
		to := min(from+e.step, n)
		e.most = append(e.most, s.sift(q, e.values[from:to], start+from))
	}
	return q.reached(e.most, many)
}

// sift writes the estimates of the views from one, the first of a group, on, and
// returns the largest.
func (s *sieve) sift(q *sifting, out []float32, from int) float32 {
	to := from + len(out)
	return sift(out, q.codes, s.rows[from*s.width():to*s.width()], s.scales[from:to], 3*q.sum)
}

// reached is an estimate that at least so many of those given reach; 0 if none
// above it is.
func (q *sifting) reached(values []float32, many int) float32 {
	const buckets = 512 // from 0 to 1 in cosines
	var counts [buckets]int32
	scale := q.scale * buckets
	for _, estimate := range values {
		counts[min(max(int(estimate*scale), 0), buckets-1)]++
	}
	bucket := buckets - 1
	for ; bucket > 0 && many > int(counts[bucket]); bucket-- {
		many -= int(counts[bucket])
	}
	return float32(bucket) / (buckets * q.scale)
}

// sieveSteps is how many pieces the views are looked at in, the largest estimate
// of each of which counts.
const sieveSteps = 256

// bar is the estimate that a view reaches if its cosine may be above the given
// one.
func (s *sieve) bar(q *sifting, cosine float32) float32 { return (cosine - s.slack) / q.scale }
