package bert

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// leastCosine is how near every vector must be to the original's.
const leastCosine = 0.9999

// miniLM is where all-MiniLM-L6-v2 is, or a reason to skip.
func miniLM(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("WRIT_MINILM_DIR")
	if dir == "" {
		t.Skip("WRIT_MINILM_DIR names no directory with all-MiniLM-L6-v2; test/ci/minilm.sh fetches it and runs this test")
	}
	return dir
}

// sample is a text and what sentence-transformers made of it.
type sample struct {
	Text   string  `json:"text"`
	Limit  int     `json:"limit"`
	Tokens []int32 `json:"tokens"`
	Vector []byte  `json:"vector"` // base64 of float32, little-endian
}

func samples(t testing.TB, path string) []sample {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var all []sample
	for in := json.NewDecoder(bufio.NewReader(file)); ; {
		var s sample
		if err := in.Decode(&s); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
}

// committed are the texts and vectors of testdata, made by test/ci/minilm.sh with
// sentence-transformers 6.2.0 and PyTorch 2.15.0.
func committed(t testing.TB) []sample {
	t.Helper()
	all := samples(t, "testdata/texts.jsonl")
	raw, err := os.ReadFile("testdata/vectors.f32")
	if err != nil {
		t.Fatal(err)
	}
	if len(raw) != len(all)*384*4 {
		t.Fatalf("%d bytes of vectors for %d texts", len(raw), len(all))
	}
	for i := range all {
		all[i].Limit, all[i].Vector = 128, raw[i*384*4:(i+1)*384*4]
	}
	return all
}

func TestMiniLMIsTheOriginal(t *testing.T) {
	dir := miniLM(t)
	all := committed(t)
	if path := os.Getenv("WRIT_MINILM_REFERENCE"); path != "" {
		more := samples(t, path)
		if len(more) < 1000 {
			t.Fatalf("%s has only %d texts", path, len(more))
		}
		all = append(all, more...)
	} else {
		t.Logf("WRIT_MINILM_REFERENCE names no file: %d committed vectors are compared, not 1,000", len(all))
	}
	for _, k := range kernels() {
		some := all
		if k == &portable { // twenty times slower: one text in twelve
			some = nil
			for i := 0; i < len(all); i += 12 {
				some = append(some, all[i])
			}
		}
		t.Run(k.name, func(t *testing.T) { compare(t, dir, k, some) })
	}
}

func compare(t *testing.T, dir string, k *kernel, all []sample) {
	models := map[int]*Model{}
	worst, sum := 1.0, 0.0
	for _, s := range all {
		m := models[s.Limit]
		if m == nil {
			var err error
			if m, err = load(dir, Options{MaxTokens: s.Limit}, k); err != nil {
				t.Fatal(err)
			}
			models[s.Limit] = m
		}
		if tokens := m.tokens.Encode(nil, s.Text, s.Limit); s.Tokens != nil && !slices.Equal(tokens, s.Tokens) {
			t.Errorf("%.60q: tokens %v, want %v", s.Text, tokens, s.Tokens)
		}
		got, err := m.Embed(s.Text)
		if err != nil {
			t.Fatal(err)
		}
		c := cosine(got, floatsOf(s.Vector))
		worst, sum = min(worst, c), sum+c
		if !(c >= leastCosine) {
			t.Errorf("%.60q: cosine %.7f", s.Text, c)
		}
	}
	t.Logf("%d texts: the least cosine is 1 − %.1e, the mean 1 − %.1e", len(all), 1-worst, 1-sum/float64(len(all)))
}

func floatsOf(raw []byte) []float32 {
	v := make([]float32, len(raw)/4)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return v
}

func cosine(a, b []float32) float64 {
	if len(a) != len(b) {
		return math.NaN()
	}
	var dot, aa, bb float64
	for i := range a {
		dot += float64(a[i]) * float64(b[i])
		aa += float64(a[i]) * float64(a[i])
		bb += float64(b[i]) * float64(b[i])
	}
	return dot / math.Sqrt(aa*bb)
}

// TestMiniLMBatches: the same bits in a batch as alone.
func TestMiniLMBatches(t *testing.T) {
	m, err := Load(miniLM(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, s := range committed(t) {
		texts = append(texts, s.Text)
	}
	began := time.Now()
	batch, err := m.EmbedBatch(context.Background(), texts)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d texts in %v with %s", len(texts), time.Since(began).Round(time.Millisecond), m.kernel.name)
	for i, text := range texts {
		if alone, err := m.Embed(text); err != nil || !slices.Equal(alone, batch[i]) {
			t.Errorf("%.60q differs in a batch (%v)", text, err)
		}
	}
}

// BenchmarkMiniLM measures one query by its number of tokens, in processor time
// where the system tells it.
func BenchmarkMiniLM(b *testing.B) {
	dir := miniLM(b)
	for _, k := range kernels() {
		m, err := load(dir, Options{}, k)
		if err != nil {
			b.Fatal(err)
		}
		measure(b, m, 8, 16, 32, 64, 128)
	}
}

// BenchmarkPacked is BenchmarkMiniLM of the encoder in the program.
func BenchmarkPacked(b *testing.B) {
	raw, err := os.ReadFile("../minilm/model.bin")
	if err != nil {
		b.Fatal(err)
	}
	for _, portable := range []bool{false, true} {
		m, err := Decode(raw, Options{Portable: portable})
		if err != nil {
			b.Fatal(err)
		}
		measure(b, m, 8, 12, 16, 32)
	}
}

func measure(b *testing.B, m *Model, lengths ...int) {
	for _, tokens := range lengths {
		text := strings.Repeat("word ", tokens-2)
		b.Run(fmt.Sprintf("%s/%d", m.kernel.name, tokens), func(b *testing.B) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			var took []time.Duration
			b.ReportAllocs()
			for range b.N {
				began := elapsed()
				if _, err := m.Embed(text); err != nil {
					b.Fatal(err)
				}
				took = append(took, elapsed()-began)
			}
			slices.Sort(took)
			for name, at := range map[string]int{"min-ms": 0, "p50-ms": len(took) / 2, "p95-ms": len(took) * 95 / 100} {
				b.ReportMetric(float64(took[at].Microseconds())/1000, name)
			}
		})
	}
}
