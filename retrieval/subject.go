package retrieval

import "math"

// subject tells what a text is about: how much nearer it is, on average, to the
// texts of the index's rules than to those of the background, which are about
// anything. One rule's cosine tells little of a text of three words, which has
// some neighbour or other; on which side of the two it lies tells more.
type subject struct {
	axis         []float64 // the rules' mean vector less the background's; nil: nothing is told
	mean, spread float64   // of the background texts
}

// newSubject takes the mean of the rules' vectors and that of the background's,
// of which nil ones do not count. It places the background texts, each measured
// without its own part in the axis.
func newSubject(rules, background [][]float32) (s subject, places []float64) {
	places = make([]float64, len(background))
	ours, n := sumOf(rules)
	theirs, m := sumOf(background)
	if n == 0 || m < 2 || len(ours) != len(theirs) {
		return s, places
	}
	s.axis = make([]float64, len(ours))
	for i := range s.axis {
		s.axis[i] = ours[i]/float64(n) - theirs[i]/float64(m)
	}
	var measured []float64
	for at, v := range background {
		if len(v) != len(theirs) {
			continue
		}
		along, norm := project(v, s.axis)
		all, _ := project(v, theirs)
		places[at] = along + all/float64(m) - (all-norm)/float64(m-1)
		measured = append(measured, places[at])
	}
	s.mean, s.spread = meanAndSpread(measured)
	for at, v := range background {
		if len(v) == len(theirs) {
			places[at] = standard(places[at], s.mean, s.spread)
		}
	}
	return s, places
}

// of places a text: 0 is where background texts are on average, 1 a deviation
// nearer to the rules. A text without a direction is at 0.
func (s *subject) of(v []float32) float64 {
	if len(v) != len(s.axis) {
		return 0
	}
	along, norm := project(v, s.axis)
	if !(norm > 0) || math.IsInf(norm, 0) || math.IsNaN(along) {
		return 0
	}
	return standard(along/math.Sqrt(norm), s.mean, s.spread)
}

// project is a vector's dot product with the axis, and with itself.
func project(v []float32, axis []float64) (along, norm float64) {
	for i, x := range v {
		x := float64(x)
		along += float64(x * axis[i])
		norm += float64(x * x)
	}
	return along, norm
}

// standard is x in deviations from a mean, within bounds.
func standard(x, mean, spread float64) float64 { return min(max((x-mean)/spread, -4), 6) }

// meanAndSpread of some numbers; the spread is never so small that everything
// stands out.
func meanAndSpread(numbers []float64) (mean, spread float64) {
	var sum, square float64
	for _, x := range numbers {
		sum += x
		square += float64(x * x)
	}
	n := float64(len(numbers))
	mean = sum / n
	return mean, max(math.Sqrt(max(square/n-float64(mean*mean), 0)), leastSpread)
}

// sumOf adds up vectors of one dimension and counts them.
func sumOf(vectors [][]float32) (sum []float64, n int) {
	for _, v := range vectors {
		if len(v) == 0 || n > 0 && len(v) != len(sum) {
			continue
		}
		if n == 0 {
			sum = make([]float64, len(v))
		}
		for i, x := range v {
			sum[i] += float64(x)
		}
		n++
	}
	return sum, n
}
