package vector

import (
	"errors"
	"math"
	"math/rand"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

func randomViews(r *rand.Rand, n, docs, dim int) []View {
	views := make([]View, n)
	for i := range views {
		v := make([]float32, dim)
		for j := range v {
			v[j] = float32(r.NormFloat64())
		}
		views[i] = View{Doc: int32(r.Intn(docs)), Vector: v}
	}
	return views
}

// naive computes what Nearest promises, in 64 bits, view by view.
func naive(views []View, query []float32, keep func(int32) bool) map[int32]float64 {
	best := map[int32]float64{}
	for _, view := range views {
		if !keep(view.Doc) {
			continue
		}
		var dot, a, b float64
		for i := range query {
			x, y := float64(query[i]), float64(view.Vector[i])
			dot, a, b = dot+x*y, a+x*x, b+y*y
		}
		cosine := dot / math.Sqrt(a*b)
		if old, ok := best[view.Doc]; !ok || cosine > old {
			best[view.Doc] = cosine
		}
	}
	return best
}

func TestNearestIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewSource(rapid.Int64().Draw(t, "seed")))
		dim, docs := rapid.IntRange(1, 70).Draw(t, "dim"), rapid.IntRange(1, 40).Draw(t, "docs")
		views := randomViews(r, rapid.IntRange(1, 120).Draw(t, "views"), docs, dim)
		query := randomViews(r, 1, 1, dim)[0].Vector
		k := rapid.IntRange(1, 12).Draw(t, "k")
		keep := func(doc int32) bool { return doc%3 != 0 }
		ix, err := New(views)
		if err != nil {
			t.Fatal(err)
		}
		want := naive(views, query, keep)
		var cosines []float64
		for _, c := range want {
			cosines = append(cosines, c)
		}
		slices.Sort(cosines)
		slices.Reverse(cosines)
		got := ix.Nearest(query, k, keep)
		if len(got) != min(k, len(want)) {
			t.Fatalf("%d matches of %d documents, k = %d", len(got), len(want), k)
		}
		for i, m := range got {
			if math.Abs(m.Cosine-cosines[i]) > 1e-5 || math.Abs(m.Cosine-want[m.Doc]) > 1e-5 {
				t.Fatalf("place %d: %+v, want %.6f, its own is %.6f", i, m, cosines[i], want[m.Doc])
			}
		}
	})
}

func TestTiesGoByNumber(t *testing.T) {
	ix, err := New([]View{{5, []float32{1, 0}}, {2, []float32{2, 0}}, {9, []float32{3, 0}}, {2, []float32{0, 1}}})
	if err != nil {
		t.Fatal(err)
	}
	got := ix.Nearest([]float32{1, 0}, 2, nil)
	if len(got) != 2 || got[0].Doc != 2 || got[1].Doc != 5 || got[0].Cosine != 1 {
		t.Errorf("got %v", got)
	}
}

func TestVectorsWithoutDirectionMatchNothing(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	ix, err := New([]View{{0, []float32{0, 0}}, {1, []float32{nan, 1}}, {2, []float32{inf, 1}}, {3, []float32{1, 1}}})
	if err != nil {
		t.Fatal(err)
	}
	if got := ix.Nearest([]float32{1, 1}, 5, nil); len(got) != 1 || got[0].Doc != 3 {
		t.Errorf("got %v", got)
	}
	for _, query := range [][]float32{nil, {0, 0}, {nan, 1}, {1}, {1, 1, 1}} {
		if got := ix.Nearest(query, 5, nil); got != nil {
			t.Errorf("%v is near %v", query, got)
		}
	}
	if got := ix.Nearest([]float32{1, 1}, 0, nil); got != nil {
		t.Errorf("k = 0 gave %v", got)
	}
	empty, err := New(nil)
	if err != nil || empty.Nearest([]float32{1}, 3, nil) != nil {
		t.Errorf("an empty index: %v", err)
	}
}

func TestNewRefuses(t *testing.T) {
	if _, err := New([]View{{0, []float32{1}}, {1, []float32{1, 2}}}); !errors.Is(err, ErrDimension) {
		t.Errorf("two dimensions: %v", err)
	}
	if _, err := New([]View{{-1, []float32{1}}}); !errors.Is(err, ErrDocument) {
		t.Errorf("a negative number: %v", err)
	}
}

func TestCosinesAreThoseOfNearest(t *testing.T) {
	ix, err := New(randomViews(rand.New(rand.NewSource(1)), 50, 10, 8))
	if err != nil {
		t.Fatal(err)
	}
	query := []float32{1, 0, 0, 0, 0, 0, 0, 0}
	out := make([]float64, 12)
	for _, m := range ix.Nearest(query, 10, nil) {
		ix.Cosines(query, []int32{m.Doc}, out[:1])
		if out[0] != m.Cosine {
			t.Errorf("document %d: %v alone, %v among the nearest", m.Doc, out[0], m.Cosine)
		}
	}
	ix.Cosines([]float32{1}, []int32{3}, out[:1])
	if out[0] != 0 {
		t.Errorf("a query of another dimension has a cosine of %v", out[0])
	}
	ix.Cosines(query, []int32{-1, 1 << 20}, out[:2])
	if out[0] != 0 || out[1] != 0 {
		t.Errorf("documents that are not there: %v", out[:2])
	}
}

func TestConcurrentSearches(t *testing.T) {
	views := randomViews(rand.New(rand.NewSource(1)), 500, 100, 32)
	ix, err := New(views)
	if err != nil {
		t.Fatal(err)
	}
	want := ix.Nearest(views[7].Vector, 10, nil)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 50 {
				if got := ix.Nearest(views[7].Vector, 10, nil); !slices.Equal(got, want) {
					t.Errorf("got %v, want %v", got, want)
				}
			}
		})
	}
	wg.Wait()
}

func BenchmarkNearest(b *testing.B) {
	for _, n := range []int{300, 10_000} {
		b.Run(map[int]string{300: "300x128", 10_000: "10000x128"}[n], func(b *testing.B) {
			views := randomViews(rand.New(rand.NewSource(1)), n, n, 128)
			ix, err := New(views)
			if err != nil {
				b.Fatal(err)
			}
			b.ResetTimer()
			for i := range b.N {
				ix.Nearest(views[i%n].Vector, 10, nil)
			}
		})
	}
}
