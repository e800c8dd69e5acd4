package minilm

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/writbus/writ/retrieval/embed/bert"
)

// TestMiniLMVectorsAreNearTheOriginals compares with what sentence-transformers
// made of 64 texts, which test the original in package bert.
func TestMiniLMVectorsAreNearTheOriginals(t *testing.T) {
	folder := filepath.Join("..", "bert", "testdata")
	texts, err := os.ReadFile(filepath.Join(folder, "texts.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	vectors, err := os.ReadFile(filepath.Join(folder, "vectors.f32"))
	if err != nil {
		t.Fatal(err)
	}
	e, sum, n, below := embedder(t), 0.0, 0, 0
	for line := range bytes.Lines(texts) {
		var s struct{ Text string }
		if err := json.Unmarshal(line, &s); err != nil {
			t.Fatal(err)
		}
		want := make([]float32, dim)
		for i := range want {
			want[i] = math.Float32frombits(binary.LittleEndian.Uint32(vectors[4*(n*dim+i):]))
		}
		got, err := e.Embed(s.Text)
		if err != nil {
			t.Fatal(err)
		}
		c := cosine(got, want)
		if sum, n = sum+c, n+1; c < 0.995 {
			below++
			t.Logf("cosine %.4f: %.80q", c, s.Text)
		}
		if c < 0.98 {
			t.Errorf("cosine %.4f: %.80q", c, s.Text)
		}
	}
	if mean := sum / float64(n); n != 64 || mean < 0.997 || below > n/10 {
		t.Errorf("%d texts, mean cosine %.4f, %d below .995", n, mean, below)
	}
	t.Logf("mean cosine %.4f", sum/float64(n))
}

// TestMiniLMIsPackedFromTheOriginal makes the model in the program anew.
func TestMiniLMIsPackedFromTheOriginal(t *testing.T) {
	dir := os.Getenv("WRIT_MINILM_DIR")
	if dir == "" {
		t.Skip("WRIT_MINILM_DIR names no directory with all-MiniLM-L6-v2; test/ci/minilm-weights.sh fetches it and runs this test")
	}
	packed, err := bert.Pack(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(packed, []byte(shippedModel)) {
		t.Error("model.bin is another: writ-train encoder makes it")
	}
}
