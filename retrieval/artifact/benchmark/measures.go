package benchmark

import (
	"maps"
	"math"
	"slices"

	"github.com/writbus/writ/retrieval"
)

// Depth is how far rankings are looked at.
const Depth = 100

// MeasureNames are the measures, in the order of [Measures.Values]. nDCG has the
// grade as gain and log2(rank+1) as discount (Järvelin and Kekäläinen, TOIS
// 2002); a path is relevant to the others whatever its grade.
var MeasureNames = []string{"ndcg@10", "mrr", "recall@10", "recall@100", "hit@1", "hit@5"}

// Measures are those of one ranking, 0 to 1.
type Measures [6]float64

// Measure judges a ranking of distinct paths, best first.
func Measure(ranking []string, relevant Grades) (m Measures) {
	if len(relevant) == 0 {
		return m
	}
	var gain, found10, found float64
	for i, path := range ranking[:min(Depth, len(ranking))] {
		grade := relevant[path]
		if grade <= 0 {
			continue
		}
		if found == 0 {
			m[1] = 1 / float64(i+1)
			m[4], m[5] = retrieval.Indicate(i < 1), retrieval.Indicate(i < 5)
		}
		found++
		if i < 10 {
			found10++
			gain += grade / math.Log2(float64(i)+2)
		}
	}
	grades := slices.Sorted(maps.Values(relevant))
	slices.Reverse(grades)
	ideal := 0.0
	for i, g := range grades[:min(10, len(grades))] {
		ideal += g / math.Log2(float64(i)+2)
	}
	m[0] = gain / ideal
	m[2], m[3] = found10/float64(len(relevant)), found/float64(len(relevant))
	return m
}
