package vector

import (
	"math/rand"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestKernelsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewSource(rapid.Int64().Draw(t, "seed")))
		stride, n := lanes*rapid.IntRange(1, 9).Draw(t, "steps"), rapid.IntRange(0, 11).Draw(t, "rows")
		code := func() int8 {
			if r.Intn(3) == 0 {
				return int8(127 * (2*r.Intn(2) - 1)) // the values whose sums are nearest to overflow
			}
			return int8(r.Intn(255) - 127)
		}
		query, rows := make([]int8, stride), make([]int8, stride*n)
		for i := range query {
			query[i] = code()
		}
		for i := range rows {
			rows[i] = code()
		}
		got, want := make([]int32, n), make([]int32, n)
		dotCodes(got, query, rows)
		dotCodesPortable(want, query, rows)
		if !slices.Equal(got, want) {
			t.Fatalf("stride %d, %d rows: %v, portable %v", stride, n, got, want)
		}
		picked, scales := make([]int32, 4*n), make([]float32, n)
		for i := range picked {
			picked[i] = int32(r.Intn(n))
		}
		for i := range scales {
			scales[i] = r.Float32()
		}
		for number, kernel := range []func(out []float32, query, rows []int8, scales []float32, picked []int32){scorePickedPortable, scorePicked} {
			scores := make([]float32, len(picked))
			kernel(scores, query, rows, scales, picked)
			for i, row := range picked {
				if score := float32(want[row]) * scales[row]; scores[i] != score {
					t.Fatalf("kernel %d, stride %d, row %d: %v, want %v", number, stride, row, scores[i], score)
				}
			}
		}
		for i := range want {
			var sum int32
			for j := range stride {
				sum += int32(query[j]) * int32(rows[i*stride+j])
			}
			if sum != want[i] {
				t.Fatalf("row %d: %d, want %d", i, want[i], sum)
			}
		}
	})
}

func TestDotKernelsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewSource(rapid.Int64().Draw(t, "seed")))
		dim, n := rapid.IntRange(1, 70).Draw(t, "values"), rapid.IntRange(0, 12).Draw(t, "rows")
		if rapid.Bool().Draw(t, "whole") {
			dim *= 16
		}
		row := func() []float32 {
			v := make([]float32, dim)
			for i := range v {
				v[i] = float32(r.NormFloat64())
			}
			return v
		}
		query, rows, want := row(), make([]*float32, n), make([]float32, n)
		for i := range rows {
			v := row()
			rows[i] = &v[0]
			var lanes [8]float32
			for j := range v {
				lane := j % 8
				if j >= dim&^7 {
					lane = 0
				}
				lanes[lane] += float32(query[j] * v[j])
			}
			want[i] = ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]))
		}
		for number, kernel := range []func(out, query []float32, rows []*float32){dotRowsPortable, dotRows} {
			got := make([]float32, n)
			kernel(got, query, rows)
			if !slices.Equal(got, want) {
				t.Fatalf("kernel %d, %d values: %v, want %v", number, dim, got, want)
			}
		}
	})
}
