package vector

import (
	"math"
	"math/rand"
	"testing"
)

func TestCodesKeepCosines(t *testing.T) {
	r := rand.New(rand.NewSource(5))
	for _, dim := range []int{1, 26, 128} {
		random := func() []float32 {
			v := make([]float32, dim)
			for i := range v {
				v[i] = float32(r.NormFloat64())
			}
			return v
		}
		var vectors [][]float32
		codes := NewCodes(dim, 0)
		for range 40 {
			vectors = append(vectors, random())
			codes.Append(vectors[len(vectors)-1])
		}
		again := NewCodes(dim, 40)
		for i := range 20 {
			row, scale := codes.Row(i)
			if err := again.AppendRow(row, scale); err != nil {
				t.Fatal(err)
			}
		}
		again.AppendFrom(codes, 20, 40)
		var q Question
		query := random()
		if !q.Ask(query) {
			t.Fatal("a random vector has no direction")
		}
		got, same := make([]float32, 40), make([]float32, 40)
		codes.Cosines(got, &q, 0)
		again.Cosines(same, &q, 0)
		for i, v := range vectors {
			if want := cosine(query, v); math.Abs(float64(got[i])-want) > 0.012 {
				t.Errorf("dimension %d, vector %d: %.4f, exactly %.4f", dim, i, got[i], want)
			}
			if got[i] != same[i] {
				t.Errorf("dimension %d, vector %d: copied it is %v, not %v", dim, i, same[i], got[i])
			}
		}
	}
}

func cosine(a, b []float32) float64 {
	var ab, aa, bb float64
	for i := range a {
		ab += float64(a[i]) * float64(b[i])
		aa += float64(a[i]) * float64(a[i])
		bb += float64(b[i]) * float64(b[i])
	}
	return ab / math.Sqrt(aa*bb)
}

func TestCodesOfNothing(t *testing.T) {
	codes := NewCodes(3, 0)
	for _, v := range [][]float32{nil, {0, 0, 0}, {1, 2}, {1, 2, float32(math.NaN())}, {1, 0, 0}} {
		codes.Append(v)
	}
	var q Question
	if q.Ask([]float32{0, 0, 0}) {
		t.Error("nothing has a direction")
	}
	got := make([]float32, codes.Len())
	codes.Cosines(got, &q, 0)
	q.Ask([]float32{1, 1})
	codes.Cosines(got, &q, 0)
	for i, x := range got {
		if x != 0 {
			t.Errorf("vector %d is similar to what cannot be compared: %v", i, x)
		}
	}
	q.Ask([]float32{1, 0, 0})
	codes.Cosines(got, &q, 0)
	for i, x := range got {
		if want := float32(0); i < 4 && x != want || i == 4 && x < 0.99 {
			t.Errorf("vector %d: %v", i, x)
		}
	}
	for _, bad := range []float32{-1, float32(math.NaN()), float32(math.Inf(1))} {
		if codes.AppendRow([]int8{1, 2, 3}, bad) == nil {
			t.Errorf("a scale of %v is accepted", bad)
		}
	}
	if codes.AppendRow([]int8{1}, 1) == nil {
		t.Error("a short row is accepted")
	}
}
