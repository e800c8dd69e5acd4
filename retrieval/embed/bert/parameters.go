package bert

import (
	"path/filepath"

	"github.com/writbus/writ/retrieval/embed/safetensors"
)

// wordsTensor is what every encoder has, and few other models do.
const wordsTensor = "embeddings.word_embeddings.weight"

// parameters are a model's weights under the names that Hugging Face gives them,
// without what stands before "embeddings." and "encoder.".
type parameters struct {
	*safetensors.File
	prefix string // before every name, as models with a head have it
}

func openParameters(dir string) (*parameters, error) {
	file, err := safetensors.Open(filepath.Join(dir, "model.safetensors"))
	if err != nil {
		return nil, err
	}
	p := &parameters{File: file}
	if _, ok := file.Lookup(wordsTensor); !ok {
		if _, ok := file.Lookup("bert." + wordsTensor); ok {
			p.prefix = "bert."
		}
	}
	return p, nil
}

func (p *parameters) has(name string) bool {
	_, ok := p.Lookup(p.prefix + name)
	return ok
}

// floats returns a tensor of a shape, outermost first; a weight has a row for
// each of its outputs.
func (p *parameters) floats(name string, shape ...int) ([]float32, error) {
	return p.Floats(p.prefix+name, shape...)
}
