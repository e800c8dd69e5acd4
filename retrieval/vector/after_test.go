package vector

import (
	"math/rand"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// An index that takes over what another has prepared is the one that is built
// alone, whatever became of the documents.
func TestNewAfterAnotherIsTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewSource(rapid.Int64().Draw(t, "seed")))
		dim := rapid.IntRange(1, 40).Draw(t, "dim")
		vectors := func(n int) [][]float32 {
			var out [][]float32
			for _, v := range randomViews(r, n, 1, dim) {
				if unit, ok := normalise(v.Vector); ok && r.Intn(5) > 0 { // some are not of length one, and are copied
					v.Vector = unit
				}
				if r.Intn(6) == 0 {
					clear(v.Vector) // matches nothing
				}
				out = append(out, v.Vector)
			}
			return out
		}
		var previous *Index
		var docs [][][]float32
		for range 3 {
			var views []View
			next, was := make([][][]float32, rapid.IntRange(0, 12).Draw(t, "documents")), make([]int32, 12)
			for doc := range next {
				was[doc] = int32(r.Intn(len(docs)+1)) - 1
				if was[doc] >= 0 {
					next[doc] = slices.Clone(docs[was[doc]])
				}
				if was[doc] < 0 || r.Intn(3) == 0 {
					next[doc] = append(next[doc], vectors(r.Intn(4))...)
				}
				for _, v := range next[doc] {
					views = append(views, View{Doc: int32(doc), Vector: v})
				}
			}
			got, err := NewAfter(views, previous, func(doc int32) int32 { return was[doc] })
			if err != nil {
				t.Fatal(err)
			}
			alone, err := New(views)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got.codes, alone.codes) || !slices.Equal(got.scales, alone.scales) || !slices.Equal(got.first, alone.first) ||
				!slices.Equal(got.docs, alone.docs) || got.most != alone.most || !sameVectors(got.views, alone.views) {
				t.Fatalf("views differ: %v after another, %v alone", got.views, alone.views)
			}
			previous, docs = got, next
		}
	})
}

func sameVectors(a, b *views) bool {
	for view := range a.full {
		if view >= len(b.full) || !slices.Equal(a.vector(view), b.vector(view)) {
			return false
		}
	}
	return len(a.full) == len(b.full)
}
