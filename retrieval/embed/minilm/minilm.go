// Package minilm is the encoder in the program: all-MiniLM-L6-v2 in whole
// numbers, with the vectors of the texts that come with the program.
//
// Guarantees: vectors are within a cosine of .995 of the original's, which a test
// checks where that is at hand; nothing is read before the first text that is not
// known, and the weights are used where they lie in the program, so that they
// take no memory of their own; an [Embedder] may be used from any number of
// goroutines.
//
// Made anew by go generate, vectors.bin whenever a shipped rule or a text of the
// background has changed (a test of cmd/writ-train tells), model.bin never: it
// takes the folder of the original, see test/ci/minilm-weights.sh. NOTICE says
// whose work it is.
package minilm

import (
	"context"
	_ "embed" // for model and vectors
	"fmt"
	"slices"
	"sync"
	"unsafe"

	"github.com/writbus/writ/retrieval/embed"
	"github.com/writbus/writ/retrieval/embed/bert"
)

//go:generate go run github.com/writbus/writ/cmd/writ-train vectors --out vectors.bin

// Name is that of the setting, and of the embedder before its version.
const (
	Setting = "minilm"
	name    = "all-MiniLM-L6-v2-int8"
)

//go:embed model.bin
var shippedModel string

//go:embed vectors.bin
var shippedVectors string

// Embedder is the encoder, and what it once made of known texts.
type Embedder struct {
	name  string
	known known
	model func() (*embed.Cache, error)
}

var shipped = sync.OnceValues(func() (*Embedder, error) {
	// The memory of a string is for reading alone, as Decode promises.
	raw := unsafe.Slice(unsafe.StringData(shippedModel), len(shippedModel))
	full, err := bert.PackedName(raw, name)
	if err != nil {
		return nil, fmt.Errorf("minilm: the model in this program: %w", err)
	}
	e := &Embedder{name: full, model: sync.OnceValues(func() (*embed.Cache, error) {
		m, err := bert.Decode(raw, bert.Options{Name: name})
		if err != nil {
			return nil, fmt.Errorf("minilm: the model in this program: %w", err)
		}
		return embed.NewCache(m, embed.DefaultCache), nil
	})}
	// Of another model's vectors none is known.
	e.known, _ = readKnown(shippedVectors, full)
	return e, nil
})

// Default returns the embedder of the model in the program, the same one each
// time. An error means that the build is broken.
func Default() (*Embedder, error) { return shipped() }

// Name is the model's name with its version.
func (e *Embedder) Name() string { return e.name }

// Dim is the number of dimensions.
func (e *Embedder) Dim() int { return dim }

// dim is that of the model, and of the vectors of known texts.
const dim = 384

// Warm reads what the first text would wait for.
func (e *Embedder) Warm() { _, _ = e.model() }

// Known says that a text's vector is at hand: it costs a look into a list.
func (e *Embedder) Known(text string) bool {
	_, found := e.known.find(text)
	return found
}

// Embed returns the unit vector of a text; the caller owns it.
func (e *Embedder) Embed(text string) ([]float32, error) {
	if at, found := e.known.find(text); found {
		return e.known.vector(at), nil
	}
	m, err := e.model()
	if err != nil {
		return nil, err
	}
	return m.Embed(text)
}

// EmbedBatch returns the vectors of many texts, on all processors. It stops when
// ctx ends.
func (e *Embedder) EmbedBatch(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	var others []string
	for i, text := range texts {
		if at, found := e.known.find(text); found {
			out[i] = e.known.vector(at)
		} else {
			others = append(others, text)
		}
	}
	if len(others) == 0 {
		return out, nil
	}
	m, err := e.model()
	if err != nil {
		return nil, err
	}
	made, err := m.EmbedBatch(ctx, others)
	if err != nil {
		return nil, err
	}
	for i := range out {
		if out[i] == nil {
			out[i], made = made[0], made[1:]
		}
	}
	return slices.Clip(out), nil
}
