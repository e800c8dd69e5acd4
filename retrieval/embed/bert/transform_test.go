package bert

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// withDense adds a dense layer behind the pooling of a copy of the tiny model:
// of row i and column j sin(i+2j), of the bias cos(i).
func withDense(t *testing.T, config string, out int, bias bool) (dir string) {
	t.Helper()
	dir = copyTiny(t)
	if err := os.Mkdir(filepath.Join(dir, "2_Dense"), 0o700); err != nil {
		t.Fatal(err)
	}
	var data []byte
	add := func(x float64) { data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(x))) }
	tensor := func(from int, shape ...int) map[string]any {
		return map[string]any{"dtype": "F32", "shape": shape, "data_offsets": []int{from, len(data)}}
	}
	for i := range out * 20 {
		add(denseWeight(i/20, i%20))
	}
	header := map[string]any{"linear.weight": tensor(0, out, 20)}
	if bias {
		from := len(data)
		for i := range out {
			add(math.Cos(float64(i)))
		}
		header["linear.bias"] = tensor(from, out)
	}
	raw, err := json.Marshal(header)
	if err != nil {
		t.Fatal(err)
	}
	file := append(binary.LittleEndian.AppendUint64(nil, uint64(len(raw))), raw...)
	write(t, dir, "2_Dense/model.safetensors", string(append(file, data...)))
	write(t, dir, "2_Dense/config.json", config)
	write(t, dir, "modules.json", `[{"path":"","type":"sentence_transformers.models.Transformer"},
		{"path":"1_Pooling","type":"sentence_transformers.models.Pooling"},
		{"path":"2_Dense","type":"sentence_transformers.models.Dense"},
		{"path":"3_Normalize","type":"sentence_transformers.models.Normalize"}]`)
	return dir
}

func denseWeight(i, j int) float64 { return math.Sin(float64(i + 2*j)) }

// The layer behind the pooling is W·x + b of the mean of the states, and what is
// stated of it.
func TestLayersBehindThePooling(t *testing.T) {
	plain, err := load(tiny, Options{}, &portable)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		config     string
		out        int
		bias, tanh bool
	}{
		"identity": {`{"in_features":20,"out_features":31,"bias":false,"activation_function":"torch.nn.modules.linear.Identity"}`, 31, false, false},
		"bias":     {`{"in_features":20,"out_features":7,"bias":true,"activation_function":"torch.nn.modules.linear.Identity"}`, 7, true, false},
		"tanh":     {`{"in_features":20,"out_features":24}`, 24, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := withDense(t, c.config, c.out, c.bias)
			for _, k := range kernels() {
				m, err := load(dir, Options{}, k)
				if err != nil || m.Dim() != c.out {
					t.Fatal(m, err)
				}
				for _, text := range []string{"the index of words", "a"} {
					mean := meanOf(plain, text)
					want, square := make([]float64, c.out), 0.0
					for i := range want {
						if c.bias {
							want[i] = math.Cos(float64(i))
						}
						for j, x := range mean {
							want[i] += denseWeight(i, j) * x
						}
						if c.tanh {
							want[i] = math.Tanh(want[i])
						}
						square += want[i] * want[i]
					}
					unit := make([]float32, c.out)
					for i, x := range want {
						unit[i] = float32(x / math.Sqrt(square))
					}
					near(t, m, text, unit)
				}
			}
		})
	}
}

// meanOf is the mean of the states of a text's tokens.
func meanOf(m *Model, text string) []float64 {
	s := &scratch{}
	s.tokens = m.tokens.Encode(nil, text, m.limit)
	s.ends = []int{len(s.tokens)}
	m.forward(s)
	mean := make([]float64, m.config.Hidden)
	for row := range s.tokens {
		for i := range mean {
			mean[i] += float64(s.x[row*m.stride+i]) / float64(len(s.tokens))
		}
	}
	return mean
}

func TestUnusableLayersAreNamed(t *testing.T) {
	for config, word := range map[string]string{
		`{"in_features":21,"out_features":8}`:                                       "from 21 to 8",
		`{"in_features":20,"out_features":0}`:                                       "to 0",
		`{"in_features":20,"out_features":8,"activation_function":"torch.nn.ReLU"}`: "ReLU",
		`{"in_features":20,"out_features":9,"bias":false}`:                          "linear.weight",
	} {
		if _, err := Load(withDense(t, config, 8, true), Options{}); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%s: %v", config, err)
		}
	}
	dir := withDense(t, "{}", 8, true)
	if err := os.Remove(filepath.Join(dir, "2_Dense", "config.json")); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(dir, Options{}); !errors.Is(err, ErrUnsupported) {
		t.Error(err)
	}
}

// What a model wants before a text stands before it: for queries, and for what is
// found.
func TestPromptsOfQueriesAndDocuments(t *testing.T) {
	plain, err := Load(tiny, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ file, query, document string }{
		"none":           {`{"prompts":{}}`, "", ""},
		"query":          {`{"prompts":{"query":"search the index: "},"default_prompt_name":null}`, "search the index: ", ""},
		"both":           {`{"prompts":{"query":"words: ","document":"index: "}}`, "words: ", "index: "},
		"passage":        {`{"prompts":{"passage":"index: ","corpus":"no: "}}`, "", "index: "},
		"by default":     {`{"prompts":{"sts":"words: ","query":"index: "},"default_prompt_name":"sts"}`, "index: ", "words: "},
		"empty document": {`{"prompts":{"document":"","query":"q "},"default_prompt_name":"query"}`, "q ", ""},
	} {
		dir := copyTiny(t)
		write(t, dir, promptsFile, c.file)
		m, err := Load(dir, Options{})
		if err != nil {
			t.Fatal(name, err)
		}
		want, err := plain.Embed(c.document + "of texts")
		if err != nil {
			t.Fatal(err)
		}
		near(t, m, "of texts", want)
		batch, err := m.EmbedBatch(t.Context(), []string{"of texts"})
		if err != nil || cosine(batch[0], want) < 0.99999 {
			t.Errorf("%s: in a batch %v, %v", name, batch, err)
		}
		if want, err = plain.Embed(c.query + "of texts"); err != nil {
			t.Fatal(err)
		}
		if got, err := m.EmbedQuery("of texts"); err != nil || cosine(got, want) < 0.99999 {
			t.Errorf("%s: a query %v, %v", name, got, err)
		}
	}
}

func TestPoolingWithoutItsPromptIsRefused(t *testing.T) {
	dir := copyTiny(t)
	write(t, dir, "1_Pooling/config.json", `{"pooling_mode_mean_tokens":true,"include_prompt":false}`)
	if _, err := Load(dir, Options{}); !errors.Is(err, ErrUnsupported) {
		t.Error(err)
	}
}
