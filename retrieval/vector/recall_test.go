package vector

import (
	"math"
	"math/rand"
	"slices"
	"testing"
)

// latent makes vectors as embedders do: few directions matter, and several views
// of a document lie close together.
func latent(r *rand.Rand, docs, perDoc, dim, rank int) []View {
	basis := make([][]float64, rank)
	for i := range basis {
		basis[i] = make([]float64, dim)
		for j := range basis[i] {
			basis[i][j] = r.NormFloat64()
		}
	}
	views := make([]View, 0, docs*perDoc)
	for doc := range docs {
		centre := make([]float64, rank)
		for i := range centre {
			centre[i] = r.NormFloat64()
		}
		for range perDoc {
			v := make([]float32, dim)
			for i := range rank {
				weight := centre[i] + 0.7*r.NormFloat64()
				for j := range v {
					v[j] += float32(weight * basis[i][j])
				}
			}
			for j := range v {
				v[j] += float32(0.3 * math.Sqrt(float64(rank)) * r.NormFloat64())
			}
			views = append(views, View{Doc: int32(doc), Vector: v})
		}
	}
	return views
}

// queriesNear are texts about one of the documents, never equal to a view.
func queriesNear(r *rand.Rand, views []View, n int) [][]float32 {
	out := make([][]float32, n)
	for i := range out {
		near := views[r.Intn(len(views))].Vector
		var norm float64
		for _, x := range near {
			norm += float64(x) * float64(x)
		}
		noise := 0.8 * math.Sqrt(norm/float64(len(near)))
		v := make([]float32, len(near))
		for j := range v {
			v[j] = near[j] + float32(noise*r.NormFloat64())
		}
		out[i] = v
	}
	return out
}

// truth is the exact answer, computed in 64 bits.
func truth(views []View, query []float32, k int) []int32 {
	best := naive(views, query, func(int32) bool { return true })
	docs := make([]int32, 0, len(best))
	for doc := range best {
		docs = append(docs, doc)
	}
	slices.SortFunc(docs, func(a, b int32) int {
		return order(Match{a, best[a]}, Match{b, best[b]})
	})
	return docs[:min(k, len(docs))]
}

func recall(ix interface {
	Nearest([]float32, int, func(int32) bool) []Match
}, queries [][]float32, want [][]int32,
) float64 {
	var hit, all float64
	for i, q := range queries {
		for _, m := range ix.Nearest(q, 10, nil) {
			if slices.Contains(want[i], m.Doc) {
				hit++
			}
		}
		all += float64(len(want[i]))
	}
	return hit / all
}

func TestRecallOfTheScan(t *testing.T) {
	for _, c := range []struct{ docs, perDoc, dim, rank int }{
		{1, 3, 16, 4}, {60, 5, 128, 32}, {276, 1, 384, 32}, {150, 6, 128, 48}, {800, 1, 128, 24}, {250, 3, 40, 40},
	} {
		r := rand.New(rand.NewSource(int64(c.docs)))
		views := latent(r, c.docs, c.perDoc, c.dim, c.rank)
		queries := queriesNear(r, views, 30)
		want := make([][]int32, len(queries))
		for i, q := range queries {
			want[i] = truth(views, q, 10)
		}
		ix, err := New(views)
		if err != nil {
			t.Fatal(err)
		}
		if got := recall(ix, queries, want); got < 0.999 {
			t.Errorf("%d documents × %d views × %d: recall@10 is %.4f", c.docs, c.perDoc, c.dim, got)
		}
	}
}
