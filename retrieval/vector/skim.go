package vector

import (
	"math"
	"slices"
)

// Of many views few are near enough to be looked at. Which estimate these have at
// least is told from a sample of the views; then only views that reach it are
// remembered, and what is found among them tells whether that was low enough.

const (
	// skimFrom is how many views are skimmed: remembering the estimates of fewer
	// costs less than a sample.
	skimFrom = 16 * blockViews
	// sampleRuns are as many runs of sampleRun views each, spread over all.
	sampleRuns = 16
	sampleRun  = 8 * sieveGroup
	// skimmedAtOnce is how many views are sifted before there must be room for more.
	skimmedAtOnce = 4 * blockViews
)

// skimmedMost is about how many views of n are remembered: two or three times
// what is looked at then.
func skimmedMost(n int) int { return 2*blockViews + n/64 }

// skimmed are views and their estimates.
type skimmed struct {
	views  []int32
	values []float32
}

// skim leaves the best documents by codes in s.top, unless the sample was
// misleading or a filter admits few: then it is false.
func (ix *Index) skim(s *scanning, most int, keep func(int32) bool) bool {
	least := ix.sample(s, keep)
	if least <= 0 {
		return false
	}
	if n := len(ix.docs); n <= ix.portion {
		ix.sieve.skim(s.sifting, &s.skimmed, 0, n, least)
	} else {
		ix.each(s, func(part *scanning, from, to int) { ix.sieve.skim(s.sifting, &part.skimmed, from, to, least) })
		s.skimmed.gather(s.parts)
		ix.putBack(s)
	}
	if keep != nil {
		s.skimmed.filter(func(view int32) bool { return keep(ix.docs[view]) })
	}
	s.top = s.top[:0]
	nearest := max(s.sifting.reached(s.skimmed.values, outlined*most), least)
	s.picked = s.skimmed.between(s.picked[:0], nearest, float32(math.Inf(1)))
	worst := ix.look(s, most, float32(math.Inf(-1)), nil)
	bar := ix.sieve.bar(s.sifting, worst*s.question.scale)
	if len(s.top) < most || bar < least {
		return false
	}
	s.picked = s.skimmed.between(s.picked[:0], bar, nearest)
	ix.look(s, most, worst, nil)
	return true
}

// sample is an estimate that about as many views reach as are to be remembered,
// 0 if it cannot tell.
func (ix *Index) sample(s *scanning, keep func(int32) bool) float32 {
	n := len(ix.docs)
	var values [sampleRuns * sampleRun]float32
	admitted := values[:0]
	for run := range sampleRuns {
		start := n / sampleRuns * run / sieveGroup * sieveGroup
		some := values[run*sampleRun : (run+1)*sampleRun]
		ix.sieve.sift(s.sifting, some, start)
		if keep == nil {
			continue
		}
		for i, value := range some {
			if keep(ix.docs[start+i]) {
				admitted = append(admitted, value)
			}
		}
	}
	if keep == nil {
		admitted = values[:]
	}
	many := skimmedMost(n) * len(values) / n
	if len(admitted) <= many {
		return 0
	}
	return s.sifting.reached(admitted, many)
}

// skim fills found with the views from one, the first of a group, to another
// whose estimate is at least a bar, which is above zero.
func (s *sieve) skim(q *sifting, found *skimmed, from, to int, bar float32) {
	found.views, found.values = found.views[:0], found.values[:0]
	n := 0
	for start := from; start < to; start += skimmedAtOnce {
		end := (min(start+skimmedAtOnce, to) + sieveGroup - 1) / sieveGroup * sieveGroup
		found.grow(n + end - start + sieveGroup)
		n += siftOver(found.views[n:], found.values[n:], q.codes, s.rows[start*s.width():end*s.width()], s.scales[start:end], 3*q.sum, int32(start), bar)
	}
	found.views, found.values = found.views[:n], found.values[:n]
}

// grow makes room for n in all.
func (f *skimmed) grow(n int) {
	if n > cap(f.views) {
		views, values := make([]int32, 2*n), make([]float32, 2*n)
		copy(views, f.views)
		copy(values, f.values)
		f.views, f.values = views, values
	}
	f.views, f.values = f.views[:cap(f.views)], f.values[:cap(f.views)]
}

// gather takes what the parts found.
func (f *skimmed) gather(parts []*scanning) {
	f.views, f.values = f.views[:0], f.values[:0]
	for _, part := range parts {
		f.views = append(f.views, part.skimmed.views...)
		f.values = append(f.values, part.skimmed.values...)
	}
}

func (f *skimmed) filter(admits func(view int32) bool) {
	n := 0
	for i, view := range f.views {
		if admits(view) {
			f.views[n], f.values[n] = view, f.values[i]
			n++
		}
	}
	f.views, f.values = f.views[:n], f.values[:n]
}

// between appends the views whose estimate, which is above zero, is at least one
// and below another. It has no branch: no processor would predict it.
func (f *skimmed) between(to []int32, bar, below float32) []int32 {
	to = slices.Grow(to, len(f.views)+1)
	n, out := len(to), to[:cap(to)]
	from := math.Float32bits(bar) // numbers above zero are in the order of their bits
	width := math.Float32bits(below) - from
	for i, value := range f.values[:len(f.views)] {
		out[n] = f.views[i]
		in := 0
		if math.Float32bits(value)-from < width {
			in = 1
		}
		n += in
	}
	return out[:n]
}
