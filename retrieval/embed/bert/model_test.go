package bert

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/writbus/writ/retrieval/embed/safetensors"
	"github.com/writbus/writ/retrieval/embed/wordpiece"
)

// tiny is a random BERT in float16 with lengths that fill no tile: 20 dimensions,
// 4 heads, 37 inner dimensions, 2 layers, texts of at most 32 tokens.
const tiny = "testdata/tiny"

// tinyCase is a line of its cases.jsonl: what sentence-transformers 6.2.0 makes
// of a text with it, pooled by the first token and by the mean.
type tinyCase struct {
	Text  string    `json:"text"`
	First []float32 `json:"first"`
	Mean  []float32 `json:"mean"`
}

func tinyCases(t testing.TB) (all []tinyCase) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(tiny, "cases.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(raw) {
		var c tinyCase
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	if len(all) < 40 {
		t.Fatalf("only %d cases", len(all))
	}
	return all
}

const weightsFile = "model.safetensors"

// copyTiny copies the model to a folder of its own, for a test to change.
func copyTiny(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(tiny)); err != nil {
		t.Fatal(err)
	}
	return dir
}

func write(t testing.TB, dir, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestVectorsAreTheReferences(t *testing.T) {
	first := copyTiny(t)
	write(t, first, "1_Pooling/config.json", `{"pooling_mode_cls_token":true,"pooling_mode_mean_tokens":false}`)
	for _, k := range kernels() {
		mean, err := load(tiny, Options{MaxTokens: 32}, k)
		if err != nil {
			t.Fatal(err)
		}
		byFirst, err := load(first, Options{MaxTokens: 32}, k)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range tinyCases(t) {
			near(t, mean, c.Text, c.Mean)
			near(t, byFirst, c.Text, c.First)
		}
	}
}

func near(t *testing.T, m *Model, text string, want []float32) {
	t.Helper()
	got, err := m.Embed(text)
	if err != nil || len(got) != len(want) {
		t.Fatalf("%s: %q: %v, %v", m.kernel.name, text, got, err)
	}
	for i := range got {
		if math.Abs(float64(got[i]-want[i])) > 2e-5 {
			t.Fatalf("%s: %.60q:\n got %v\nwant %v", m.kernel.name, text, got, want)
		}
	}
}

// A text's vector has the same bits alone, in any batch, and beside others in
// other goroutines.
func TestCompanyChangesNothing(t *testing.T) {
	for _, k := range kernels() {
		m, err := load(tiny, Options{}, k)
		if err != nil {
			t.Fatal(err)
		}
		var texts []string
		var alone [][]float32
		for range 8 {
			for _, c := range tinyCases(t) {
				texts = append(texts, c.Text)
			}
		}
		for _, text := range texts {
			v, err := m.Embed(text)
			if err != nil {
				t.Fatal(err)
			}
			alone = append(alone, v)
		}
		var group sync.WaitGroup
		for range 3 {
			group.Go(func() {
				batch, err := m.EmbedBatch(context.Background(), texts)
				if err != nil {
					t.Error(err)
					return
				}
				for i := range batch {
					if !slices.Equal(batch[i], alone[i]) {
						t.Errorf("%s: %.60q differs in a batch", k.name, texts[i])
						return
					}
				}
			})
		}
		group.Wait()
	}
}

func TestBatchesEnd(t *testing.T) {
	m, err := Load(tiny, Options{Portable: true})
	if err != nil || m.kernel.name != "portable" {
		t.Fatal(err)
	}
	if out, err := m.EmbedBatch(context.Background(), nil); err != nil || len(out) != 0 {
		t.Error(out, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := m.EmbedBatch(ctx, []string{"a"}); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "tiny") {
		t.Error(err)
	}
}

func TestEmbeddingAllocatesOnlyItsResult(t *testing.T) {
	m, err := Load(tiny, Options{})
	if err != nil {
		t.Fatal(err)
	}
	// One vector, the word being spelled and one character's decomposition. The
	// least of many runs counts: a collection, or the race detector, may empty
	// the pool of scratch memory in between.
	least := math.Inf(1)
	for range 100 {
		least = min(least, testing.AllocsPerRun(1, func() { _, _ = m.Embed("the index of words and more words") }))
	}
	if least > 6 {
		t.Errorf("%v allocations", least)
	}
}

func TestLimits(t *testing.T) {
	for asked, want := range map[int]int{0: 32, 3: 3, 32: 32, 33: -1, 2: -1, -1: -1} {
		m, err := Load(tiny, Options{MaxTokens: asked, Name: "t@1"})
		switch {
		case want < 0 && !errors.Is(err, ErrUnsupported):
			t.Errorf("%d: %v", asked, err)
		case want >= 0 && (err != nil || m.MaxTokens() != want || m.Dim() != 20 || m.Name() != "t@1"):
			t.Errorf("%d: %v", asked, err)
		}
	}
}

// Files beside the weights may be missing; the mean is then taken, and the
// limit is the number of positions.
func TestPlainBERTDirectories(t *testing.T) {
	dir := copyTiny(t)
	for _, name := range []string{"modules.json", "sentence_bert_config.json", "1_Pooling/config.json"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	m, err := Load(dir, Options{})
	if err != nil || m.MaxTokens() != 40 {
		t.Fatal(m, err)
	}
	c := tinyCases(t)[2]
	near(t, m, c.Text, c.Mean)
}

func TestUnusableDirectoriesAreNamed(t *testing.T) {
	config, err := os.ReadFile(filepath.Join(tiny, "config.json"))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(tiny, weightsFile))
	if err != nil {
		t.Fatal(err)
	}
	change := func(from, to string) string {
		changed := strings.Replace(string(config), from, to, 1)
		if changed == string(config) {
			t.Fatalf("config.json has no %s", from)
		}
		return changed
	}
	for name, c := range map[string]struct {
		file, content string
		want          error
		word          string
	}{
		"no config":        {"config.json", "", fs.ErrNotExist, "config.json"},
		"bad config":       {"config.json", "{", ErrUnsupported, "config.json"},
		"other model":      {"config.json", change(`"bert"`, `"roberta"`), ErrUnsupported, "roberta"},
		"other activation": {"config.json", change(`"gelu"`, `"relu"`), ErrUnsupported, "relu"},
		"other positions":  {"config.json", `{"position_embedding_type":"relative_key",` + string(config)[1:], ErrUnsupported, "relative_key"},
		"odd heads":        {"config.json", change(`"num_attention_heads": 4`, `"num_attention_heads": 3`), ErrUnsupported, "3 heads"},
		"no layers":        {"config.json", change(`"num_hidden_layers": 2`, `"num_hidden_layers": 0`), ErrUnsupported, "num_hidden_layers"},
		"more layers":      {"config.json", change(`"num_hidden_layers": 2`, `"num_hidden_layers": 3`), safetensors.ErrMissing, "encoder.layer.2"},
		"vast":             {"config.json", change(`"hidden_size": 20`, `"hidden_size": 2000000000`), ErrUnsupported, "hidden_size"},
		"other width":      {"config.json", change(`"hidden_size": 20`, `"hidden_size": 24`), safetensors.ErrShape, "[900 20]"},
		"other vocabulary": {"config.json", change(`"vocab_size": 900`, `"vocab_size": 899`), ErrUnsupported, "899"},
		"no epsilon":       {"config.json", change(`1e-06`, `0`), ErrUnsupported, "layer_norm_eps"},
		"bad limit":        {"sentence_bert_config.json", `{"max_seq_length":"x"}`, ErrUnsupported, "sentence_bert_config.json"},
		"short limit":      {"sentence_bert_config.json", `{"max_seq_length":2}`, ErrUnsupported, "too short"},
		"extra layer":      {"modules.json", `[{"type":"sentence_transformers.models.LSTM"}]`, ErrUnsupported, "LSTM"},
		"bad modules":      {"modules.json", `3`, ErrUnsupported, "modules.json"},
		"max pooling":      {"1_Pooling/config.json", `{"pooling_mode_max_tokens":true}`, ErrUnsupported, "1_Pooling"},
		"two poolings":     {"1_Pooling/config.json", `{"pooling_mode_cls_token":true,"pooling_mode_mean_tokens":true}`, ErrUnsupported, "1_Pooling"},
		"no pooling":       {"1_Pooling/config.json", `{"pooling_mode_mean_tokens":false}`, ErrUnsupported, "1_Pooling"},
		"other pooling":    {"1_Pooling/config.json", `{"pooling_mode":"lasttoken"}`, ErrUnsupported, "1_Pooling"},
		"new pooling":      {"1_Pooling/config.json", `{"pooling_mode":"mean"}`, nil, ""},
		"no tokenizer":     {"tokenizer.json", "", fs.ErrNotExist, "tokenizer.json"},
		"bad tokenizer":    {"tokenizer.json", "{}", wordpiece.ErrUnsupported, "tokenizer.json"},
		"no marks":         {"tokenizer.json", `{"pre_tokenizer":{"type":"BertPreTokenizer"},"model":{"type":"WordPiece","vocab":{"[UNK]":0}}}`, ErrUnsupported, "[CLS]"},
		"fewer layers":     {"config.json", change(`"num_hidden_layers": 2`, `"num_hidden_layers": 1`), ErrUnsupported, "more layers"},
		"no weights":       {weightsFile, "", fs.ErrNotExist, weightsFile},
		"cut weights":      {weightsFile, string(raw[:len(raw)-2]), safetensors.ErrFormat, weightsFile},
		"damaged weights":  {weightsFile, string(raw[:len(raw)-2]) + "\x00\x7c", ErrUnsupported, "Inf"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := copyTiny(t)
			if c.content == "" {
				if err := os.Remove(filepath.Join(dir, c.file)); err != nil {
					t.Fatal(err)
				}
			} else {
				write(t, dir, c.file, c.content)
			}
			_, err := Load(dir, Options{})
			if !errors.Is(err, c.want) || err != nil && !strings.Contains(err.Error(), c.word) {
				t.Errorf("%v, want %v with %q", err, c.want, c.word)
			}
		})
	}
}

// Finite parameters may still overflow: an error, not a vector of NaN.
func TestOverflowIsAnError(t *testing.T) {
	m, err := Load(tiny, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range m.weights.layers[1].outputNorm.scale {
		m.weights.layers[1].outputNorm.scale[i] = math.MaxFloat32
	}
	if _, err := m.Embed("the index"); !errors.Is(err, ErrOverflow) {
		t.Error(err)
	}
	if _, err := m.EmbedBatch(context.Background(), []string{"the", "index"}); !errors.Is(err, ErrOverflow) {
		t.Error(err)
	}
}

// Models with a head keep the encoder's tensors under "bert.".
func TestPrefixedTensors(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(tiny, weightsFile))
	if err != nil {
		t.Fatal(err)
	}
	dir := copyTiny(t)
	n := int(raw[0]) | int(raw[1])<<8
	header := strings.NewReplacer(`"embeddings.`, `"bert.embeddings.`, `"encoder.`, `"bert.encoder.`).Replace(string(raw[8 : 8+n]))
	write(t, dir, weightsFile, string([]byte{byte(len(header)), byte(len(header) >> 8), 0, 0, 0, 0, 0, 0})+header+string(raw[8+n:]))
	m, err := Load(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := tinyCases(t)[1]
	near(t, m, c.Text, c.Mean)
}

func FuzzEmbed(f *testing.F) {
	var models []*Model
	for _, k := range kernels() {
		m, err := load(tiny, Options{}, k)
		if err != nil {
			f.Fatal(err)
		}
		models = append(models, m)
	}
	f.Add("the index", "words [SEP] and \xff\xfe bytes")
	f.Add("", strings.Repeat("x ", 99))
	f.Fuzz(func(t *testing.T, a, b string) {
		for _, m := range models {
			both, err := m.EmbedBatch(context.Background(), []string{a, b})
			if err != nil {
				t.Fatal(err)
			}
			if c := cosine(both[1], both[1]); math.Abs(c-1) > 1e-6 {
				t.Fatalf("%s: %q has no direction", m.kernel.name, b)
			}
			near(t, models[0], b, both[1])
		}
	})
}
