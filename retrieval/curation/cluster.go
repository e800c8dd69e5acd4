package curation

import (
	"math"
	"slices"
)

// cluster is a group of places, ascending; none is empty.
type cluster []int

// clusters groups unit vectors bottom-up by average linkage: the two groups
// whose members are most alike on average become one, as long as the average
// reaches least, no group grows beyond most, and the two are not apart. Of
// equals the pair that comes first is merged, so the order of the vectors
// decides; the caller sorts them. It takes time in the square of their number.
func clusters(vectors [][]float64, least float64, most int, apart func(a, b int) bool) []cluster {
	l := &linkage{least: least, most: most, apart: apart}
	for i, v := range vectors {
		l.groups = append(l.groups, cluster{i})
		l.sums = append(l.sums, slices.Clone(v))
	}
	l.best = make([]partner, len(l.groups))
	for i := range l.groups {
		l.choose(i)
	}
	for l.merge() {
	}
	return slices.DeleteFunc(l.groups, func(c cluster) bool { return len(c) == 0 })
}

// linkage is the state between merges. With unit vectors the average cosine of
// two groups is the product of their sums over the product of their sizes.
type linkage struct {
	least  float64
	most   int
	apart  func(a, b int) bool
	groups []cluster
	sums   [][]float64
	best   []partner // of each group, among those after it
}

// partner is a group to merge with; none if place is 0.
type partner struct {
	place  int
	linked float64
}

// choose finds the best partner after a group.
func (l *linkage) choose(i int) {
	l.best[i] = partner{linked: math.Inf(-1)}
	if len(l.groups[i]) == 0 {
		return
	}
	for j := i + 1; j < len(l.groups); j++ {
		l.offer(i, j)
	}
}

// offer makes j the partner of i if it is the best so far.
func (l *linkage) offer(i, j int) {
	a, b := l.groups[i], l.groups[j]
	if len(b) == 0 || len(a)+len(b) > l.most {
		return
	}
	linked := product(l.sums[i], l.sums[j]) / float64(len(a)*len(b))
	if linked < l.least || linked < l.best[i].linked || linked == l.best[i].linked && l.best[i].place < j {
		return
	}
	for _, x := range a {
		for _, y := range b {
			if l.apart(x, y) {
				return
			}
		}
	}
	l.best[i] = partner{j, linked}
}

// merge joins the best pair and reports whether there was one.
func (l *linkage) merge() bool {
	from := -1
	for i, b := range l.best {
		if b.place > 0 && (from < 0 || b.linked > l.best[from].linked) {
			from = i
		}
	}
	if from < 0 {
		return false
	}
	gone := l.best[from].place
	l.groups[from] = append(l.groups[from], l.groups[gone]...)
	slices.Sort(l.groups[from])
	for d := range l.sums[from] {
		l.sums[from][d] += l.sums[gone][d]
	}
	l.groups[gone] = nil
	// A merged group is never nearer to a third than its nearer half was, so
	// only those lose their partner who had one of the two.
	for i := range l.groups {
		if at := l.best[i].place; i == from || i == gone || at == from || at == gone {
			l.choose(i)
		}
	}
	return true
}

func product(a, b []float64) float64 {
	var sum float64
	for i := range min(len(a), len(b)) {
		sum += float64(a[i] * b[i])
	}
	return sum
}

// unit returns a vector at length one; what has no direction is empty.
func unit(v []float32) []float64 {
	var square float64
	for _, x := range v {
		square += float64(float64(x) * float64(x))
	}
	norm := math.Sqrt(square)
	if norm == 0 || math.IsNaN(norm) || math.IsInf(norm, 0) {
		return nil
	}
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = float64(x) / norm
	}
	return out
}
