package model2vec

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/writbus/writ/retrieval/embed/safetensors"
	"github.com/writbus/writ/retrieval/embed/wordpiece"
)

// ErrUnsupported is returned by [Load] for what is not a usable Model2Vec
// directory.
var ErrUnsupported = errors.New("model2vec: unsupported model")

// defaultMaxTokens is the library's limit for models that state none.
const defaultMaxTokens = 512

// Options change how a model is used.
type Options struct {
	Name      string // of the model, with its version; the directory's name if empty
	MaxTokens int    // per text; 0 is what the model states, or 512
}

// Model is a loaded table.
type Model struct {
	name    string
	tokens  *wordpiece.Tokenizer
	limit   int
	longest int // text, in characters
	dim     int
	rows    []float32 // row by row
	row     []int32   // of each token; nil if token and row have one number
	weight  []float32 // of each token; nil for 1
	scratch sync.Pool // of *[]int32
}

// Load reads model.safetensors, config.json and tokenizer.json of a directory.
func Load(dir string, opt Options) (_ *Model, err error) {
	m := &Model{name: opt.Name, limit: opt.MaxTokens}
	if m.name == "" {
		m.name = filepath.Base(dir)
	}
	if err := m.readLimit(filepath.Join(dir, "config.json")); err != nil {
		return nil, err
	}
	if m.tokens, err = wordpiece.Load(dir); err != nil {
		return nil, err
	}
	m.longest = longest(m.tokens, m.limit)
	file, err := safetensors.Open(filepath.Join(dir, "model.safetensors"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if err := m.readTable(file); err != nil {
		return nil, err
	}
	m.scratch.New = func() any { return new([]int32) }
	return m, nil
}

func (m *Model) readLimit(path string) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("model2vec: %w", err)
	}
	var config struct {
		MaxTokens *int `json:"max_length"`
	}
	if err := json.Unmarshal(raw, &config); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrUnsupported, path, err)
	}
	if m.limit == 0 {
		m.limit = defaultMaxTokens
		if config.MaxTokens != nil {
			m.limit = *config.MaxTokens
		}
	}
	if m.limit < 1 || m.limit > 1<<20 {
		return fmt.Errorf("%w: %s: texts of at most %d tokens", ErrUnsupported, path, m.limit)
	}
	return nil
}

// longest is how many characters the library keeps of a text before it splits
// it: the limit times the median length of a token.
func longest(t *wordpiece.Tokenizer, limit int) int {
	var lengths []int
	for id := range t.Size() {
		if token := t.Token(int32(id)); token != "" {
			lengths = append(lengths, utf8.RuneCountInString(token))
		}
	}
	slices.Sort(lengths)
	n := len(lengths)
	return limit * ((lengths[(n-1)/2] + lengths[n/2]) / 2)
}

func (m *Model) readTable(file *safetensors.File) error {
	name := "embeddings"
	if _, ok := file.Lookup(name); !ok {
		name = "embedding.weight" // as sentence-transformers saves it
	}
	table, _ := file.Lookup(name)
	var err error
	if m.rows, err = file.Floats(name, -1, -1); err != nil {
		return err
	}
	count := table.Shape[0]
	if m.dim = table.Shape[1]; m.dim == 0 || count == 0 {
		return fmt.Errorf("%w: %s: tensor %q is %v", ErrUnsupported, file.Name(), name, table.Shape)
	}
	if err := finite(file.Name(), name, m.rows); err != nil {
		return err
	}
	if _, ok := file.Lookup("weights"); ok {
		if m.weight, err = file.Floats("weights", -1); err != nil {
			return err
		}
		if err := finite(file.Name(), "weights", m.weight); err != nil {
			return err
		}
	}
	tokens := count
	if _, ok := file.Lookup("mapping"); ok {
		if err := m.readMapping(file, count); err != nil {
			return err
		}
		tokens = len(m.row)
	}
	if m.weight != nil {
		tokens = min(tokens, len(m.weight))
	}
	if m.tokens.Size() > tokens {
		return fmt.Errorf("%w: %s: it has rows for %d tokens, the tokenizer has %d", ErrUnsupported, file.Name(), tokens, m.tokens.Size())
	}
	return nil
}

func (m *Model) readMapping(file *safetensors.File, count int) error {
	mapping, err := file.Ints("mapping", -1)
	if err != nil {
		return err
	}
	m.row = make([]int32, len(mapping))
	for i, row := range mapping {
		if row < 0 || row >= int64(count) {
			return fmt.Errorf("%w: %s: token %d has row %d of %d", ErrUnsupported, file.Name(), i, row, count)
		}
		m.row[i] = int32(row)
	}
	return nil
}

func finite(file, name string, values []float32) error {
	for i, v := range values {
		if v-v != 0 {
			return fmt.Errorf("%w: %s: tensor %q holds %v at %d", ErrUnsupported, file, name, v, i)
		}
	}
	return nil
}

// Name is the name the model was loaded with.
func (m *Model) Name() string { return m.name }

// Dim is the number of dimensions of every vector.
func (m *Model) Dim() int { return m.dim }

// MaxTokens is how many tokens of a text count.
func (m *Model) MaxTokens() int { return m.limit }

// Embed returns the unit vector of a text, all zeros if it has no known token.
// The error is always nil.
func (m *Model) Embed(text string) ([]float32, error) {
	tokens := m.scratch.Get().(*[]int32)
	defer m.scratch.Put(tokens)
	*tokens = m.tokens.Tokens((*tokens)[:0], cut(text, m.longest), m.limit)
	v := make([]float32, m.dim)
	for _, token := range *tokens {
		if token == m.tokens.Unknown() {
			continue
		}
		row, weight := token, float32(1)
		if m.row != nil {
			row = m.row[token]
		}
		if m.weight != nil {
			weight = m.weight[token]
		}
		for i, x := range m.rows[int(row)*m.dim:][:m.dim] {
			v[i] += weight * x
		}
	}
	normalise(v)
	return v, nil
}

// EmbedBatch returns the vectors of many texts, those [Model.Embed] gives. It
// stops when ctx ends.
func (m *Model) EmbedBatch(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("embed %d texts with %s: %w", len(texts), m.name, err)
		}
		out[i], _ = m.Embed(text)
	}
	return out, nil
}

// cut is the first n characters of text.
func cut(text string, n int) string {
	for at := range text {
		if n == 0 {
			return text[:at]
		}
		n--
	}
	return text
}

// normalise scales v to unit length. Scaling makes dividing by the number of
// tokens needless.
func normalise(v []float32) {
	var square float64
	for _, x := range v {
		square += float64(x) * float64(x)
	}
	if square == 0 {
		return
	}
	norm := math.Sqrt(square)
	for i, x := range v {
		v[i] = float32(float64(x) / norm)
	}
}
