package curation

import (
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// slowClusters is the definition, written down: look at all pairs before each
// merge.
func slowClusters(vectors [][]float64, least float64, most int, apart func(a, b int) bool) []cluster {
	var groups []cluster
	for i := range vectors {
		groups = append(groups, cluster{i})
	}
	for {
		bestA, bestB, best := -1, -1, 0.0
		for a := range groups {
			for b := a + 1; b < len(groups); b++ {
				var sum float64
				allowed := len(groups[a])+len(groups[b]) <= most
				for _, x := range groups[a] {
					for _, y := range groups[b] {
						sum += product(vectors[x], vectors[y])
						allowed = allowed && !apart(x, y)
					}
				}
				linked := sum / float64(len(groups[a])*len(groups[b]))
				if allowed && linked >= least && (bestA < 0 || linked > best) {
					bestA, bestB, best = a, b, linked
				}
			}
		}
		if bestA < 0 {
			return groups
		}
		groups[bestA] = append(groups[bestA], groups[bestB]...)
		slices.Sort(groups[bestA])
		groups = slices.Delete(groups, bestB, bestB+1)
	}
}

func TestClustersAreThoseOfTheDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Powers of two add up without rounding, so that ties are ties.
		axis := rapid.SampledFrom([]float64{0, 1, 0.5, 0.25})
		vectors := rapid.SliceOfN(rapid.SliceOfN(axis, 3, 3), 1, 9).Draw(t, "vectors")
		least := rapid.SampledFrom([]float64{0, 0.25, 0.5, 1}).Draw(t, "least")
		most := rapid.IntRange(2, 5).Draw(t, "most")
		foes := rapid.IntRange(0, 8).Draw(t, "foes")
		apart := func(a, b int) bool { return (a+b)%9 == foes }
		got, want := clusters(vectors, least, most, apart), slowClusters(vectors, least, most, apart)
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}
