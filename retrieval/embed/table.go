package embed

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/writbus/writ/retrieval/embed/static"
)

// trained is a table of word vectors from a file, as writ-train writes it.
type trained struct{ *static.Embedder }

// loadTable reads a trained table. It is named as the built-in one is: by its
// content.
func loadTable(path string) (Embedder, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("embed: %w", err)
	}
	if filepath.Ext(path) == ".onnx" {
		return nil, fmt.Errorf("%w: %s is an ONNX file, which Writ does not read; %s, and name the directory", ErrUnknown, path, convert)
	}
	table, err := static.Decode(raw)
	if err != nil {
		return nil, fmt.Errorf("%w: %s is a file: %w; name a trained table or the directory that holds %s", ErrUnknown, path, err, weightsFile)
	}
	return trained{static.New(table)}, nil
}

// EmbedBatch returns the vectors of many texts. It stops when ctx ends.
func (t trained) EmbedBatch(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("embed %d texts with %s: %w", len(texts), t.Name(), err)
		}
		v, err := t.Embed(text)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}
