package bert

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand"
	"slices"
	"testing"
)

// randomCodes is a matrix of codes and, as floats, what they stand for.
func randomCodes(r *rand.Rand, out, in int) (c codes, floats []float32) {
	c = codes{in: in, out: out, panels: make([]byte, codeBytes(out, in)), scales: make([]float32, out)}
	floats = make([]float32, out*in)
	for o := range out {
		c.scales[o] = r.Float32() / 100
		for i := range in {
			code := int8(r.Intn(255) - 127)
			if r.Intn(4) == 0 {
				code = int8(127 * (2*r.Intn(2) - 1)) // whose sums are nearest to overflow
			}
			c.panels[c.at(o, i)] = byte(code)
			floats[o*in+i] = c.scales[o] * float32(code)
		}
	}
	return c, floats
}

// Every kernel's product of codes against one in float64; what lies outside the
// tiles stays as it was.
func TestProductsOfCodes(t *testing.T) {
	for _, k := range kernels() {
		for _, shape := range []struct{ rows, in, out int }{{1, 16, 16}, {4, 48, 32}, {5, 384, 48}, {3, 1536, 16}} {
			r := rand.New(rand.NewSource(int64(shape.in)))
			c, w := randomCodes(r, shape.out, shape.in)
			rows := roundUp(shape.rows, k.rows)
			lda, ldc := shape.in+3, shape.out+5
			x := randoms(r, rows*lda)
			for i := range shape.in { // all as large as they get, of one sign with the codes
				x[i] = 1
				if w[i] < 0 {
					x[i] = -1
				}
			}
			before := randoms(r, rows*ldc)
			y := slices.Clone(before)
			c.addProduct(k, &rounded{}, shape.rows, x, lda, y, ldc)
			for row := range rows {
				for o := range ldc {
					want, size := float64(before[row*ldc+o]), 1.0
					for i := 0; i < shape.in && o < shape.out; i++ {
						p := float64(x[row*lda+i]) * float64(w[o*shape.in+i])
						want += p
						size += math.Abs(p)
					}
					if got := float64(y[row*ldc+o]); math.Abs(got-want) > 3e-4*size {
						t.Fatalf("%s %+v [%d,%d]: %v, want %v", k.name, shape, row, o, got, want)
					}
				}
			}
		}
	}
}

// Sums of products of codes are exact with every kernel, also where they are as
// large as they get and of either sign.
func TestSumsOfCodesAreExact(t *testing.T) {
	const rows, out = 4, 32
	for _, k := range kernels() {
		for _, in := range []int{16, 384, 1536} {
			r := rand.New(rand.NewSource(int64(in)))
			c, w := randomCodes(r, out, in)
			limit := int(c.limit())
			x, y := make([]float32, rows*in), make([]float32, rows*out)
			for i := range x {
				x[i] = float32(r.Intn(2*limit+1) - limit)
				if row := i / in; i%in == 0 || row == 0 || row == 1 && w[i%in] > 0 {
					x[i] = float32(limit)
				} else if row == 1 {
					x[i] = float32(-limit)
				}
			}
			for o := range c.scales {
				c.scales[o] = 1
			}
			c.addProduct(k, &rounded{}, rows, x, in, y, out)
			for i, got := range y {
				sum := int64(0)
				for j, v := range x[i/out*in:][:in] {
					sum += int64(v) * int64(int8(c.panels[c.at(i%out, j)]))
				}
				if got != float32(sum) {
					t.Fatalf("%s, %d inputs, [%d,%d]: %v, want %d", k.name, in, i/out, i%out, got, sum)
				}
			}
		}
	}
}

func TestStatesAreRounded(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for _, k := range kernels() {
		for _, x := range [][]float32{randoms(r, 16), randoms(r, 384), randoms(r, 7), make([]float32, 32), {}} {
			got, want := make([]int16, len(x)), make([]int16, len(x))
			scale, wanted := k.round(got, x, 11008), roundPortable(want, x, 11008)
			for i := range got {
				if d := int(got[i]) - int(want[i]); d < -1 || d > 1 {
					t.Fatalf("%s: %v of %d is %d, portable %d", k.name, x[i], len(x), got[i], want[i])
				}
			}
			if math.Abs(float64(scale-wanted)) > 1e-6*float64(wanted) {
				t.Errorf("%s: scale %v, portable %v", k.name, scale, wanted)
			}
		}
	}
}

// randomModel is the tiny model's folder with other sizes, and weights of a
// fixed seed.
func randomModel(t *testing.T) string {
	t.Helper()
	const hidden, wide, layers, positions, vocabulary = 48, 96, 2, 40, 900
	dir, r := copyTiny(t), rand.New(rand.NewSource(3))
	write(t, dir, "config.json", fmt.Sprintf(`{"model_type": "bert", "hidden_size": %d, "intermediate_size": %d, "num_hidden_layers": %d,
		"num_attention_heads": 4, "max_position_embeddings": %d, "vocab_size": %d}`, hidden, wide, layers, positions, vocabulary))
	type tensor struct {
		Type    string `json:"dtype"`
		Shape   []int  `json:"shape"`
		Offsets [2]int `json:"data_offsets"`
	}
	header, body := map[string]tensor{}, []byte{}
	add := func(name string, mean float64, shape ...int) {
		from, n := len(body), 1
		for _, size := range shape {
			n *= size
		}
		for range n {
			body = binary.LittleEndian.AppendUint32(body, math.Float32bits(float32(mean+0.2*r.NormFloat64())))
		}
		header[name] = tensor{"F32", shape, [2]int{from, len(body)}}
	}
	norm := func(name string) { add(name+".weight", 1, hidden); add(name+".bias", 0, hidden) }
	dense := func(name string, out, in int) { add(name+".weight", 0, out, in); add(name+".bias", 0, out) }
	add("embeddings.word_embeddings.weight", 0, vocabulary, hidden)
	add("embeddings.position_embeddings.weight", 0, positions, hidden)
	add("embeddings.token_type_embeddings.weight", 0, 2, hidden)
	norm("embeddings.LayerNorm")
	for i := range layers {
		at := fmt.Sprintf("encoder.layer.%d.", i)
		for _, part := range []string{"query", "key", "value"} {
			dense(at+"attention.self."+part, hidden, hidden)
		}
		dense(at+"attention.output.dense", hidden, hidden)
		norm(at + "attention.output.LayerNorm")
		dense(at+"intermediate.dense", wide, hidden)
		dense(at+"output.dense", hidden, wide)
		norm(at + "output.LayerNorm")
	}
	raw, err := json.Marshal(header)
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, weightsFile, string(binary.LittleEndian.AppendUint64(nil, uint64(len(raw))))+string(raw)+string(body))
	return dir
}

// A packed model gives nearly the vectors of the one it was made of, with every
// kernel, and damage to it is an error.
func TestPackedModels(t *testing.T) {
	dir := randomModel(t)
	full, err := Load(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := Pack(dir)
	if err != nil {
		t.Fatal(err)
	}
	name, err := PackedName(raw, "tiny")
	if err != nil {
		t.Fatal(err)
	}
	for _, portable := range []bool{false, true} {
		m, err := Decode(raw, Options{Name: "tiny", Portable: portable})
		if err != nil {
			t.Fatal(err)
		}
		if m.Name() != name || m.Dim() != full.Dim() {
			t.Errorf("%s, %d dimensions", m.Name(), m.Dim())
		}
		for _, text := range []string{"the cat sat on the mat", "a long text with many words in it, and a stop. And more?"} {
			got, err := m.Embed(text)
			if err != nil {
				t.Fatal(err)
			}
			want, err := full.Embed(text)
			if err != nil {
				t.Fatal(err)
			}
			if c := cosine(got, want); c < 0.995 {
				t.Errorf("portable %v, %q: cosine %.4f", portable, text, c)
			}
		}
	}
	for n := 0; n < len(raw); n += 1 + len(raw)/50 {
		if _, err := Decode(raw[:n], Options{}); !errors.Is(err, ErrPacked) && !errors.Is(err, ErrUnsupported) {
			t.Fatalf("%d of %d bytes: %v", n, len(raw), err)
		}
	}
	if _, err := Decode(append(slices.Clone(raw), 0), Options{}); !errors.Is(err, ErrPacked) {
		t.Errorf("one byte too many: %v", err)
	}
}
