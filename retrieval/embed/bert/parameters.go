package bert

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/writbus/writ/retrieval/embed/safetensors"
)

// parameters are a model's weights under the names that Hugging Face gives them,
// without what stands before "embeddings." and "encoder.".
type parameters interface {
	Name() string // of the file
	Has(name string) bool
	// Floats returns a tensor of a shape, outermost first; a weight has a row for
	// each of its outputs.
	Floats(name string, shape ...int) ([]float32, error)
	Close() error
}

// wordsTensor is what every encoder has, and few other models do.
const wordsTensor = "embeddings.word_embeddings.weight"

// weightsFiles are where a model directory may keep its parameters, the
// preferred first: safetensors need no search.
var weightsFiles = []string{"model.safetensors", "model.onnx", "onnx/model.onnx"}

// WeightsFile finds the file with the parameters in a model directory, by its
// name: slash-separated, relative to the directory.
func WeightsFile(dir string) (name string, found bool) {
	for _, name := range weightsFiles {
		_, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name)))
		if !errors.Is(err, fs.ErrNotExist) {
			return name, true // what else is wrong, opening it tells
		}
	}
	return "", false
}

func openParameters(dir string) (parameters, error) {
	name, found := WeightsFile(dir)
	if !found {
		return nil, fmt.Errorf("bert: %s has neither %s nor %s: %w", dir, weightsFiles[0], weightsFiles[1], fs.ErrNotExist)
	}
	path := filepath.Join(dir, filepath.FromSlash(name))
	if filepath.Ext(name) == ".onnx" {
		return openGraph(path)
	}
	file, err := safetensors.Open(path)
	if err != nil {
		return nil, err
	}
	stored := &stored{File: file}
	if _, ok := file.Lookup(wordsTensor); !ok {
		if _, ok := file.Lookup("bert." + wordsTensor); ok {
			stored.prefix = "bert."
		}
	}
	return stored, nil
}

// stored are the parameters of a safetensors file.
type stored struct {
	*safetensors.File
	prefix string // before every name, as models with a head have it
}

func (s *stored) Has(name string) bool {
	_, ok := s.Lookup(s.prefix + name)
	return ok
}

func (s *stored) Floats(name string, shape ...int) ([]float32, error) {
	return s.File.Floats(s.prefix+name, shape...)
}
