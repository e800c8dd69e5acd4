package bert

import (
	"math"
	"math/rand"
	"testing"
)

func randoms(r *rand.Rand, n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}

// Every kernel's product against one in float64, for shapes that do and do not
// fill its tiles; what lies outside the tiles stays as it was.
func TestProducts(t *testing.T) {
	for _, k := range kernels() {
		for _, shape := range []struct{ rows, in, out int }{
			{1, 1, 1}, {4, 3, 2}, {5, 32, 24}, {7, 33, 25}, {8, 384, 96}, {3, 385, 48}, {2, 1536, 49}, {9, 1000, 51},
		} {
			r := rand.New(rand.NewSource(int64(shape.in)))
			rows := roundUp(shape.rows, k.rows)
			lda := shape.in + 5
			x, w := randoms(r, rows*lda), randoms(r, shape.out*shape.in)
			var m, transposed matrix
			m.pack(k, w, shape.out, shape.in, shape.in)
			columns := make([]float32, len(w))
			for o := range shape.out {
				for i := range shape.in {
					columns[i*shape.out+o] = w[o*shape.in+i]
				}
			}
			transposed.panels = randoms(r, 8) // old content must not shine through
			transposed.packColumns(k, columns, shape.out, shape.in, shape.out)
			ldc := m.stride + 3
			before := randoms(r, rows*ldc)
			for _, m := range []*matrix{&m, &transposed} {
				y := append([]float32(nil), before...)
				m.addProduct(k, shape.rows, x, lda, y, ldc)
				for row := range rows {
					for o := range ldc {
						want := float64(before[row*ldc+o])
						for i := 0; i < shape.in && o < shape.out; i++ {
							want += float64(x[row*lda+i]) * float64(w[o*shape.in+i])
						}
						if got := float64(y[row*ldc+o]); math.Abs(got-want) > 1e-4*(1+math.Sqrt(float64(shape.in))) {
							t.Fatalf("%s %+v [%d,%d]: %v, want %v", k.name, shape, row, o, got, want)
						}
					}
				}
			}
		}
	}
}

func TestSoftmaxAndGELU(t *testing.T) {
	var inputs []float32
	for x := float32(-20); x < 20; x += 1.0 / 64 {
		inputs = append(inputs, x)
	}
	inputs = append(inputs, 0, float32(math.Copysign(0, -1)), 1e-30, -1e-30, 100, -100, 3e38, -3e38)
	for _, k := range kernels() {
		x := append([]float32(nil), inputs...)
		k.gelu(x)
		for i, v := range inputs {
			want := float64(v) * 0.5 * math.Erfc(-float64(v)/math.Sqrt2)
			if got := float64(x[i]); math.Abs(got-want) > 4e-7*math.Max(1, math.Abs(want)) {
				t.Errorf("%s: gelu(%v) = %v, want %v", k.name, v, got, want)
			}
		}
		const scale, top = 0.25, 6
		x = append(x[:0], inputs[:len(inputs)-4]...)
		for len(x)%lanes != 0 {
			x = append(x, float32(math.Inf(-1)))
		}
		want := 0.0
		sum := k.softmax(x, scale, top)
		for i, v := range inputs[:len(inputs)-4] {
			e := math.Exp(float64(v)*scale - top)
			want += e
			if got := float64(x[i]); math.Abs(got-e) > 3e-7*e {
				t.Errorf("%s: exp(%v) = %v, want %v", k.name, v, got, e)
			}
		}
		if math.Abs(float64(sum)-want) > 1e-5*want {
			t.Errorf("%s: sum %v, want %v", k.name, sum, want)
		}
		if x[len(x)-1] > 1e-37 {
			t.Errorf("%s: exp(-Inf) = %v", k.name, x[len(x)-1])
		}
	}
}

// The vector kernels and the portable one differ by little more than rounding.
func TestKernelsAgree(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	in := randoms(r, 4096)
	want := append([]float32(nil), in...)
	portable.gelu(want)
	wantExp := append([]float32(nil), in...)
	wantSum := portable.softmax(wantExp, 0.5, 3)
	for _, k := range kernels() {
		got := append([]float32(nil), in...)
		k.gelu(got)
		gotExp := append([]float32(nil), in...)
		sum := k.softmax(gotExp, 0.5, 3)
		for i := range got {
			if d := math.Abs(float64(got[i] - want[i])); d > 5e-7 {
				t.Fatalf("%s: gelu(%v) differs by %v", k.name, in[i], d)
			}
			if d := math.Abs(float64(gotExp[i] - wantExp[i])); d > 2e-7*float64(wantExp[i]) {
				t.Fatalf("%s: exp(%v) differs by %v", k.name, in[i], d)
			}
		}
		if d := math.Abs(float64(sum - wantSum)); d > 1e-5*float64(wantSum) {
			t.Fatalf("%s: the sums differ by %v", k.name, d)
		}
	}
}

func BenchmarkProduct(b *testing.B) {
	for _, k := range kernels() {
		for _, rows := range []int{4, 16, 128} {
			b.Run(k.name+"/"+string(rune('0'+rows/100))+string(rune('0'+rows/10%10))+string(rune('0'+rows%10)), func(b *testing.B) {
				r := rand.New(rand.NewSource(1))
				x := randoms(r, rows*384)
				var m matrix
				m.pack(k, randoms(r, 384*1536), 1536, 384, 384)
				y := make([]float32, rows*m.stride)
				b.ResetTimer()
				for range b.N {
					m.addProduct(k, rows, x, 384, y, m.stride)
				}
				b.ReportMetric(2*float64(rows*384*1536)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			})
		}
	}
}
