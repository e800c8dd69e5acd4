package bert

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"github.com/writbus/writ/retrieval/embed/safetensors"
)

// transform is a dense layer behind the pooling, applied once a text: x·Wᵀ + b,
// and its tangent if tanh.
type transform struct {
	in, out int
	weight  []float32 // out rows of in
	bias    []float32 // none is 0
	tanh    bool
}

func readTransforms(c config) (all []transform, err error) {
	width := c.Hidden
	for _, dir := range c.behind {
		t, err := readTransform(dir, width)
		if err != nil {
			return nil, err
		}
		all, width = append(all, t), t.out
	}
	return all, nil
}

// readTransform reads a folder of a Dense module of sentence-transformers.
func readTransform(dir string, width int) (t transform, err error) {
	path := filepath.Join(dir, configFile)
	stated := struct {
		In         int    `json:"in_features"`
		Out        int    `json:"out_features"`
		Bias       bool   `json:"bias"`
		Activation string `json:"activation_function"`
	}{Bias: true, Activation: "Tanh"}
	if found, err := readJSON(dir, configFile, &stated); err != nil || !found {
		return t, errors.Join(err, fmt.Errorf("%w: %s: the layer behind the pooling has no configuration", ErrUnsupported, path))
	}
	activation := stated.Activation[strings.LastIndex(stated.Activation, ".")+1:]
	switch {
	case stated.In != width || stated.Out < 1 || stated.Out > 1<<14:
		return t, fmt.Errorf("%w: %s: from %d to %d dimensions, wanted from %d", ErrUnsupported, path, stated.In, stated.Out, width)
	case activation != "Identity" && activation != "Tanh":
		return t, fmt.Errorf("%w: %s: activation_function is %q, wanted Identity or Tanh", ErrUnsupported, path, stated.Activation)
	}
	file, err := safetensors.Open(filepath.Join(dir, "model.safetensors"))
	if err != nil {
		return t, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	r := &reader{from: &parameters{File: file}}
	t = transform{in: stated.In, out: stated.Out, tanh: activation == "Tanh", weight: r.floats("linear.weight", stated.Out, stated.In)}
	if stated.Bias {
		t.bias = r.floats("linear.bias", stated.Out)
	}
	return t, r.err
}

func (t *transform) apply(x []float32) []float32 {
	y := make([]float32, t.out)
	copy(y, t.bias)
	for i := range y {
		row := t.weight[i*t.in:][:t.in]
		sum := y[i]
		for j, v := range x {
			sum += row[j] * v
		}
		if y[i] = sum; t.tanh {
			y[i] = float32(math.Tanh(float64(sum)))
		}
	}
	return y
}
