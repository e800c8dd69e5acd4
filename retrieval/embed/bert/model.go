package bert

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/writbus/writ/retrieval/embed/wordpiece"
)

// ErrOverflow is returned for a text whose vector is no number: the model's
// parameters are damaged or were never trained.
var ErrOverflow = errors.New("bert: the vector is not finite")

// DefaultMaxTokens is how many tokens of a text count if [Options] do not say:
// rules and prompts rarely have more, and time grows with them.
const DefaultMaxTokens = 128

// Options change how a model is run.
type Options struct {
	Name      string // of the model, with its version; the directory's name if empty
	MaxTokens int    // per text, its two marks included; 0 is 128, or the model's limit if that is less
	Portable  bool   // use no vector instructions, to compare
}

// Model is a loaded encoder.
type Model struct {
	name    string
	config  config
	tokens  *wordpiece.Tokenizer
	limit   int // tokens per text
	kernel  *kernel
	stride  int // of a token's state: config.Hidden, rounded up to whole panels
	weights *weights
	behind  []transform // the pooling, the first first
	scratch sync.Pool   // of *scratch
}

// Load reads a model directory: model.safetensors, config.json, tokenizer.json
// or vocab.txt, and what sentence-transformers keeps beside them.
func Load(dir string, opt Options) (*Model, error) {
	k := kernels()[0]
	if opt.Portable {
		k = &portable
	}
	return load(dir, opt, k)
}

func load(dir string, opt Options, k *kernel) (_ *Model, err error) {
	m := &Model{name: opt.Name, kernel: k}
	if m.name == "" {
		m.name = filepath.Base(dir)
	}
	if m.config, err = readConfig(dir); err != nil {
		return nil, err
	}
	if m.limit, err = limit(opt.MaxTokens, m.config.limit); err != nil {
		return nil, fmt.Errorf("%w: %s", err, dir)
	}
	if m.tokens, err = wordpiece.Load(dir); err != nil {
		return nil, err
	}
	if !m.tokens.Framed() {
		return nil, fmt.Errorf("%w: %s: the vocabulary lacks [CLS] or [SEP]", ErrUnsupported, dir)
	}
	if m.tokens.Size() > m.config.Vocabulary {
		return nil, fmt.Errorf("%w: %s: the tokenizer has %d tokens, the model %d", ErrUnsupported, dir, m.tokens.Size(), m.config.Vocabulary)
	}
	from, err := openParameters(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	if m.weights, err = readWeights(from, m.config, k); err != nil {
		return nil, err
	}
	if m.behind, err = readTransforms(m.config); err != nil {
		return nil, err
	}
	m.stride = roundUp(m.config.Hidden, k.cols)
	m.scratch.New = func() any { return &scratch{} }
	return m, nil
}

func limit(asked, most int) (int, error) {
	switch {
	case most < 3:
		return 0, fmt.Errorf("%w: texts of %d tokens are too short for any word", ErrUnsupported, most)
	case asked == 0:
		return min(DefaultMaxTokens, most), nil
	case asked < 3 || asked > most:
		return 0, fmt.Errorf("%w: %d tokens per text asked for, the model takes 3 to %d", ErrUnsupported, asked, most)
	}
	return asked, nil
}

// Name is the name the model was loaded with.
func (m *Model) Name() string { return m.name }

// Dim is the number of dimensions of every vector.
func (m *Model) Dim() int {
	if n := len(m.behind); n > 0 {
		return m.behind[n-1].out
	}
	return m.config.Hidden
}

// MaxTokens is how many tokens of a text count, its two marks included.
func (m *Model) MaxTokens() int { return m.limit }

// Embed returns the unit vector of a text that is to be found, of which the first
// [Model.MaxTokens] count; what the model wants before such texts counts, too.
func (m *Model) Embed(text string) ([]float32, error) { return m.embed(m.config.document + text) }

// EmbedQuery returns the vector of a text that is asked for.
func (m *Model) EmbedQuery(text string) ([]float32, error) { return m.embed(m.config.query + text) }

func (m *Model) embed(text string) ([]float32, error) {
	s := m.scratch.Get().(*scratch)
	defer m.scratch.Put(s)
	s.tokens = m.tokens.Encode(s.tokens[:0], text, m.limit)
	s.ends = append(s.ends[:0], len(s.tokens))
	m.forward(s)
	return m.pool(s, 0, len(s.tokens))
}

// batchTokens is how many tokens EmbedBatch takes through the encoder at once:
// enough to read each weight once for many, few enough to stay in the cache.
const batchTokens = 256

// EmbedBatch returns the vectors of many texts, those [Model.Embed] gives, using
// all processors. It stops between batches when ctx ends.
func (m *Model) EmbedBatch(ctx context.Context, texts []string) ([][]float32, error) {
	b := batch{model: m, texts: texts, out: make([][]float32, len(texts))}
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(texts)) {
		workers.Go(func() { b.work(ctx) })
	}
	workers.Wait()
	if err := errors.Join(ctx.Err(), b.err); err != nil {
		return nil, fmt.Errorf("embed %d texts with %s: %w", len(texts), m.name, err)
	}
	return b.out, nil
}

// batch is the state that EmbedBatch's workers share.
type batch struct {
	model *Model
	texts []string
	out   [][]float32

	mu   sync.Mutex
	next int // text
	err  error
}

func (b *batch) work(ctx context.Context) {
	s := b.model.scratch.Get().(*scratch)
	defer b.model.scratch.Put(s)
	for ctx.Err() == nil {
		at := b.take(s)
		if len(s.ends) == 0 {
			return
		}
		b.model.forward(s)
		from := 0
		for _, end := range s.ends {
			var err error
			if b.out[at], err = b.model.pool(s, from, end); err != nil {
				b.fail(fmt.Errorf("text %d: %w", at, err))
				return
			}
			at, from = at+1, end
		}
	}
}

// take claims the next texts, as many as one pass takes, and tokenises them; at
// is the first one's number.
func (b *batch) take(s *scratch) (at int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s.tokens, s.ends, at = s.tokens[:0], s.ends[:0], b.next
	for b.err == nil && b.next < len(b.texts) && (len(s.ends) == 0 || len(s.tokens)+b.model.limit <= batchTokens) {
		s.tokens = b.model.tokens.Encode(s.tokens, b.model.config.document+b.texts[b.next], b.model.limit)
		s.ends = append(s.ends, len(s.tokens))
		b.next++
	}
	return at
}

func (b *batch) fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.err = errors.Join(b.err, err)
}
