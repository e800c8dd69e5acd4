package embed

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/writbus/writ/retrieval/embed/bert"
	"github.com/writbus/writ/retrieval/embed/openai"
	"github.com/writbus/writ/retrieval/embed/safetensors"
	"github.com/writbus/writ/retrieval/embed/static"
)

// Every embedder can stand behind the interface.
var _ = []Embedder{(*bert.Model)(nil), (*openai.Client)(nil), (*Cache)(nil)}

const (
	tinyBERT  = "bert/testdata/tiny"
	tinyTable = "model2vec/testdata/plain"
)

func copied(t testing.TB, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "m[o]del")
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

func write(t testing.TB, dir, name, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestLoadFindsTheKind(t *testing.T) {
	for dir, want := range map[string]struct {
		kind Kind
		dim  int
		name string
	}{tinyBERT: {BERT, 20, "tiny@"}, tinyTable: {Model2Vec, 8, "plain@"}} {
		kind, err := Detect(dir)
		if err != nil || kind != want.kind {
			t.Errorf("%s: %q, %v", dir, kind, err)
		}
		e, err := Load(dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, cached := e.(*Cache); !cached || e.Dim() != want.dim || !strings.HasPrefix(e.Name(), want.name) || len(e.Name()) != len(want.name)+12 {
			t.Errorf("%s: %T %q with %d dimensions", dir, e, e.Name(), e.Dim())
		}
		v, err := e.Embed("the index")
		if err != nil || len(v) != want.dim {
			t.Fatal(v, err)
		}
		plain, err := Load(dir, Options{Cache: -1, Portable: true})
		if err != nil {
			t.Fatal(err)
		}
		batch, err := plain.EmbedBatch(context.Background(), []string{"the index"})
		if err != nil || len(batch) != 1 {
			t.Fatal(err)
		}
		for i := range v {
			if d := v[i] - batch[0][i]; d > 1e-5 || d < -1e-5 {
				t.Fatalf("%v, without cache and vector instructions %v", v, batch[0])
			}
		}
		if _, cached := plain.(*Cache); cached || plain.Name() != e.Name() {
			t.Errorf("%T %q", plain, plain.Name())
		}
	}
}

// The version follows everything that shapes a vector, and nothing else.
func TestTheNameIsTheContent(t *testing.T) {
	name := func(dir string, opt Options) string {
		t.Helper()
		opt.Name = "m"
		e, err := Load(dir, opt)
		if err != nil {
			t.Fatal(err)
		}
		return e.Name()
	}
	dir := copied(t, tinyBERT)
	plain := name(tinyBERT, Options{})
	write(t, dir, "LICENSE", "text")
	if got := name(dir, Options{Cache: 7}); got != plain {
		t.Errorf("%s and %s", got, plain)
	}
	seen := []string{plain, name(dir, Options{MaxTokens: 9})}
	write(t, dir, "sentence_bert_config.json", `{"max_seq_length":30}`)
	seen = append(seen, name(dir, Options{}))
	raw, err := os.ReadFile(filepath.Join(dir, "model.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	raw[len(raw)-2] ^= 1
	write(t, dir, "model.safetensors", string(raw))
	seen = append(seen, name(dir, Options{}))
	slices.Sort(seen)
	if len(slices.Compact(seen)) != 4 {
		t.Errorf("names repeat: %v", seen)
	}
}

func TestChecksums(t *testing.T) {
	sum := func(dir, name string) string {
		raw, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		h := sha256.Sum256(raw)
		return hex.EncodeToString(h[:])
	}
	good := copied(t, tinyTable)
	weights, config, tokenizer := sum(good, "model.safetensors"), sum(good, "config.json"), sum(good, "tokenizer.json")
	other := strings.Repeat("0", 64)
	list := fmt.Sprintf("# the model\n\n%s  model.safetensors\r\n%s *./config.json\n%s tokenizer.json\n%s  README.md\n", weights, strings.ToUpper(config), tokenizer, other)
	for name, c := range map[string]struct {
		file, content string
		want          error
		word          string
	}{
		"listed":           {listFile, list, nil, ""},
		"wrong weights":    {listFile, strings.Replace(list, weights, other, 1), ErrChecksum, "model.safetensors has SHA-256 " + weights},
		"not listed":       {listFile, weights + "  model.safetensors\n", ErrChecksum, "config.json is not in checksums.txt"},
		"missing":          {listFile, list + other + "  vocab.txt\n", ErrChecksum, "vocab.txt is missing"},
		"twice":            {listFile, list + other + "  config.json\n", ErrChecksum, "line 7"},
		"no list":          {listFile, "model.safetensors\n", ErrChecksum, "line 1"},
		"card":             {cardFile, "# Model\n\n    " + weights + "  model.safetensors\n", nil, ""},
		"card of another":  {cardFile, "Sums:\n```\n" + other + "  model.safetensors\n```\n", ErrChecksum, "model.safetensors"},
		"card without any": {cardFile, "# Model\n" + other + "\n", nil, ""},
	} {
		dir := copied(t, tinyTable)
		write(t, dir, c.file, c.content)
		_, err := Load(dir, Options{})
		if !errors.Is(err, c.want) || err != nil && !strings.Contains(err.Error(), c.word) {
			t.Errorf("%s: %v, want %v with %q", name, err, c.want, c.word)
		}
	}
}

func TestDirectoriesWithoutAModel(t *testing.T) {
	const other = "\x34\x00\x00\x00\x00\x00\x00\x00" + `{"w":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}`
	for name, c := range map[string]struct {
		files map[string]string
		want  error
		word  string
	}{
		"empty":     {nil, ErrUnknown, "has no model.safetensors"},
		"onnx":      {map[string]string{"model_quantized.onnx": "x"}, ErrUnknown, "model_quantized.onnx"},
		"bare onnx": {map[string]string{"onnx/model.onnx": "x"}, ErrUnknown, "save_pretrained"},
		"torch":     {map[string]string{"pytorch_model.bin": "x"}, ErrUnknown, "pytorch_model.bin"},
		"damaged":   {map[string]string{"model.safetensors": "x"}, safetensors.ErrFormat, "model.safetensors"},
		"foreign":   {map[string]string{"model.safetensors": strings.Replace(other, "\x34", "\x35", 1)}, ErrUnknown, `["w"]`},
		"no config": {map[string]string{"model.safetensors": readString(t, tinyTable+"/model.safetensors")}, fs.ErrNotExist, "config.json"},
	} {
		dir := copied(t, t.TempDir())
		for file, content := range c.files {
			write(t, dir, file, content)
		}
		if _, err := Load(dir, Options{}); !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.word) || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v, want %v with %q", name, err, c.want, c.word)
		}
	}
	if _, err := Load(filepath.Join(t.TempDir(), "none"), Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, err := Load("load.go", Options{}); !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), "load.go is a file") {
		t.Error(err)
	}
	dir := copied(t, t.TempDir())
	write(t, dir, "model.onnx", "x")
	if _, err := Load(filepath.Join(dir, "model.onnx"), Options{}); !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), "save_pretrained") {
		t.Error(err)
	}
}

// A table that was trained is an embedder, damaged it is none.
func TestTablesInFiles(t *testing.T) {
	table, err := static.Build(2, []string{"index", "word"}, 1, []float32{1, 0, 0, 1, 1, 1})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "table.bin")
	write(t, dir, "table.bin", string(table.Encode()))
	if kind, err := Detect(path); kind != Static || err != nil {
		t.Error(kind, err)
	}
	e, err := Load(path, Options{})
	if err != nil || e.Name() != static.New(table).Name() || e.Dim() != 2 {
		t.Fatal(e, err)
	}
	v, err := e.Embed("index")
	if err != nil || len(v) != 2 || v[0] == 0 {
		t.Error(v, err)
	}
	if batch, err := e.EmbedBatch(t.Context(), []string{"word", "index"}); err != nil || !slices.Equal(batch[1], v) {
		t.Error(batch, err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := e.EmbedBatch(ended, []string{"word"}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	write(t, dir, "table.bin", string(table.Encode()[:40]))
	if _, err := Load(path, Options{}); !errors.Is(err, static.ErrTable) || !strings.Contains(err.Error(), path) {
		t.Error(err)
	}
}

func readString(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// counting is an embedder that counts and can fail.
type counting struct {
	mu    sync.Mutex
	asked []string
	fail  error
}

func (*counting) Name() string { return "counting@1" }
func (*counting) Dim() int     { return 1 }
func (c *counting) Embed(text string) ([]float32, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = append(c.asked, text)
	return []float32{float32(len(text))}, c.fail
}

func (c *counting) EmbedBatch(_ context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, text := range texts {
		out[i], _ = c.Embed(text)
	}
	return out, nil
}

func TestTheCacheForgetsTheLeastRecentlyUsed(t *testing.T) {
	inner := &counting{}
	c := NewCache(inner, 2)
	long := strings.Repeat("x", longestCached+1)
	for _, text := range []string{"a", "b", "a", "ccc", "a", "b", long, long} {
		v, err := c.Embed(text)
		if err != nil || len(v) != 1 || v[0] != float32(len(text)) {
			t.Fatal(v, err)
		}
		v[0] = -1 // the caller's own
	}
	if want := []string{"a", "b", "ccc", "b", long, long}; !slices.Equal(inner.asked, want) {
		t.Errorf("asked for %.80q, want %.80q", inner.asked, want)
	}
	if _, err := c.EmbedBatch(context.Background(), []string{"b"}); err != nil || len(inner.asked) != 7 || c.Name() != "counting@1" {
		t.Errorf("a batch: %v, %d", err, len(inner.asked))
	}
	inner.fail = errors.New("down")
	for range 2 {
		if v, err := c.Embed("new"); !errors.Is(err, inner.fail) || v != nil {
			t.Error(v, err)
		}
	}
	if len(inner.asked) != 9 {
		t.Errorf("%d asked: a failure was remembered", len(inner.asked))
	}
}

func TestTheCacheIsSharedSafely(t *testing.T) {
	c := NewCache(&counting{}, 3)
	var group sync.WaitGroup
	for g := range 4 {
		group.Go(func() {
			for i := range 500 {
				text := strings.Repeat("x", (i*g+i)%7)
				if v, err := c.Embed(text); err != nil || v[0] != float32(len(text)) {
					t.Errorf("%q: %v, %v", text, v, err)
				}
			}
		})
	}
	group.Wait()
	if c.recent.Len() != 3 || len(c.byText) != 3 {
		t.Errorf("%d and %d remembered", c.recent.Len(), len(c.byText))
	}
}

func FuzzChecksums(f *testing.F) {
	f.Add([]byte("# x\n" + strings.Repeat("0a", 32) + "  a b\n\n" + strings.Repeat("F", 64) + " *./c/../d\n"))
	f.Add([]byte("\xff\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		sums, err := parseChecksums(raw)
		if err != nil {
			return
		}
		for name, sum := range sums {
			if again, n, ok := checksumLine(sum + "  " + name); !ok || again != sum || n != name {
				t.Fatalf("%q %q is read as %q %q", sum, name, again, n)
			}
		}
	})
}
