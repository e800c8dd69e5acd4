package vector

import (
	"math"
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
		for number, kernel := range pickKernels() {
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

func TestSiftingKernelsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewSource(rapid.Int64().Draw(t, "seed")))
		blocks, n := rapid.SampledFrom([]int{1, 1, 1, 2, 9}).Draw(t, "blocks"), sieveGroup*rapid.IntRange(0, 9).Draw(t, "groups")
		query, rows := make([]int8, blocks*sieveBlock), make([]byte, n*blocks*sieveRow)
		s := &sieve{blocks: blocks}
		for i := range query {
			query[i] = int8(r.Intn(255) - 127)
			if r.Intn(3) == 0 {
				query[i] = 127
			}
		}
		for i := range rows {
			rows[i] = byte(r.Intn(256)) | byte(r.Intn(2)*255)
		}
		scales, bias := make([]float32, n), int32(r.Intn(1000)-500)
		want, wantMost := make([]float32, n), float32(math.Inf(-1))
		for i := range want {
			scales[i] = r.Float32()
			var sum int32
			for dim := range query {
				at := dim/sieveBlock*sieveRow + dim%sieveRow // in its row
				code := rows[s.place(i)+at/4*4*sieveGroup+at%4] >> (dim % sieveBlock / sieveRow * 2) & 3
				sum += int32(query[dim]) * int32(code)
			}
			want[i] = float32(2*sum-bias) * scales[i]
			wantMost = max(wantMost, want[i])
		}
		for number, kernel := range siftKernels() {
			got := make([]float32, n)
			most := kernel(got, query, rows, scales, bias)
			if !slices.Equal(got, want) || most != wantMost {
				t.Fatalf("kernel %d: %v, most %v, want %v, %v", number, got, most, want, wantMost)
			}
		}
		for _, bar := range append(slices.Clone(want), 0, -math.MaxFloat32, math.MaxFloat32) {
			wanted := make([]uint64, (n+63)/64)
			for i, estimate := range want {
				if estimate >= bar {
					wanted[i/64] |= 1 << (i % 64)
				}
			}
			for number, kernel := range []func([]uint64, []float32, float32){abovePortable, above} {
				got := make([]uint64, len(wanted))
				for i := range got {
					got[i] = math.MaxUint64
				}
				kernel(got, want, bar)
				if !slices.Equal(got, wanted) {
					t.Fatalf("kernel %d, estimates %v, bar %v: %b, want %b", number, want, bar, got, wanted)
				}
			}
			var over []int32
			for i, estimate := range want {
				if estimate >= bar {
					over = append(over, int32(160+i))
				}
			}
			for number, kernel := range overKernels() {
				views, values := make([]int32, n+sieveGroup), make([]float32, n+sieveGroup)
				found := kernel(views, values, query, rows, scales, bias, 160, bar)
				if !slices.Equal(views[:found], over) || slices.ContainsFunc(views[:found], func(view int32) bool { return values[slices.Index(over, view)] != want[view-160] }) {
					t.Fatalf("kernel %d, estimates %v, bar %v: %v, %v, want %v", number, want, bar, views[:found], values[:found], over)
				}
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
