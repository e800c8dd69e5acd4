package bert

import (
	"fmt"
	"math"
)

// weights are a model's parameters, ready for one kernel.
type weights struct {
	words     words
	positions []float32 // positions × hidden, with the first type's embedding added
	embedding norm
	layers    []layer
}

type layer struct {
	qkv           dense // queries, keys and values side by side
	attention     dense
	attentionNorm norm
	intermediate  dense
	output        dense
	outputNorm    norm
}

// dense is x·Wᵀ + b, of floats or of codes.
type dense struct {
	matrix
	codes codes     // of a packed model, without floats
	bias  []float32 // as long as a row of the result
}

// words are the vectors of the vocabulary.
type words interface {
	// add adds a token's vector to y.
	add(y []float32, token int32)
}

// floatWords are words row by row.
type floatWords []float32

func (w floatWords) add(y []float32, token int32) {
	for i, v := range w[int(token)*len(y):][:len(y)] {
		y[i] += v
	}
}

// norm is a layer normalisation.
type norm struct {
	scale, shift []float32
	epsilon      float64
}

// reader reads parameters until the first error.
type reader struct {
	from   *parameters
	c      config
	kernel *kernel
	err    error
}

func readWeights(from *parameters, c config, k *kernel) (*weights, error) {
	r := &reader{from: from, c: c, kernel: k}
	if from.has(fmt.Sprintf("encoder.layer.%d.attention.output.LayerNorm.weight", c.Layers)) {
		return nil, fmt.Errorf("%w: %s has more layers than the %d of its configuration", ErrUnsupported, from.Name(), c.Layers)
	}
	w := &weights{
		words:     floatWords(r.floats(wordsTensor, c.Vocabulary, c.Hidden)),
		positions: r.floats("embeddings.position_embeddings.weight", c.Positions, c.Hidden),
		embedding: r.norm("embeddings.LayerNorm"),
	}
	types := r.floats("embeddings.token_type_embeddings.weight", c.Types, c.Hidden)
	for i := 0; r.err == nil && i < len(w.positions); i++ {
		w.positions[i] += types[i%c.Hidden]
	}
	for i := 0; r.err == nil && i < c.Layers; i++ {
		w.layers = append(w.layers, r.layer(fmt.Sprintf("encoder.layer.%d.", i)))
	}
	return w, r.err
}

func (r *reader) layer(at string) layer {
	h, wide := r.c.Hidden, r.c.Intermediate
	var l layer
	var qkv, bias []float32
	for _, part := range []string{"query", "key", "value"} {
		qkv = append(qkv, r.floats(at+"attention.self."+part+".weight", h, h)...)
		bias = append(bias, r.floats(at+"attention.self."+part+".bias", h)...)
	}
	l.qkv = r.pack(qkv, bias, 3*h, h)
	l.attention = r.dense(at+"attention.output.dense", h, h)
	l.attentionNorm = r.norm(at + "attention.output.LayerNorm")
	l.intermediate = r.dense(at+"intermediate.dense", wide, h)
	l.output = r.dense(at+"output.dense", h, wide)
	l.outputNorm = r.norm(at + "output.LayerNorm")
	return l
}

func (r *reader) dense(name string, out, in int) dense {
	return r.pack(r.floats(name+".weight", out, in), r.floats(name+".bias", out), out, in)
}

func (r *reader) pack(w, bias []float32, out, in int) dense {
	var d dense
	if r.err == nil {
		d.pack(r.kernel, w, out, in, in)
		d.bias = append(bias, make([]float32, d.stride-out)...)
	}
	return d
}

func (r *reader) norm(name string) norm {
	return norm{
		scale: r.floats(name+".weight", r.c.Hidden), shift: r.floats(name+".bias", r.c.Hidden), epsilon: r.c.Epsilon,
	}
}

// floats reads a tensor and refuses values that would make every vector NaN.
func (r *reader) floats(name string, shape ...int) []float32 {
	if r.err != nil {
		return nil
	}
	v, err := r.from.floats(name, shape...)
	if err != nil {
		r.err = err
		return nil
	}
	for i, x := range v {
		if x-x != 0 {
			r.err = fmt.Errorf("%w: %s: tensor %q holds %v at %d", ErrUnsupported, r.from.Name(), name, x, i)
			return nil
		}
	}
	return v
}

// apply normalises each row of y, stride values apart, into x.
func (n *norm) apply(x, y []float32, rows, stride int) {
	h := len(n.scale)
	for row := range rows {
		in, out := y[row*stride:row*stride+h], x[row*stride:row*stride+h]
		mean, deviation := moments(in)
		inverse := 1 / math.Sqrt(deviation+n.epsilon)
		factor, offset := float32(inverse), float32(-mean*inverse)
		for i, v := range in {
			out[i] = (v*factor+offset)*n.scale[i] + n.shift[i]
		}
	}
}

// moments are mean and variance, each summed in four parts, since one sum would
// wait for itself at every step.
func moments(v []float32) (mean, variance float64) {
	var a, b, c, d float64
	n, i := float64(len(v)), 0
	for ; i+4 <= len(v); i += 4 {
		a += float64(v[i])
		b += float64(v[i+1])
		c += float64(v[i+2])
		d += float64(v[i+3])
	}
	for ; i < len(v); i++ {
		a += float64(v[i])
	}
	mean = (a + b + c + d) / n
	a, b, c, d = 0, 0, 0, 0
	for i = 0; i+4 <= len(v); i += 4 {
		da, db, dc, dd := float64(v[i])-mean, float64(v[i+1])-mean, float64(v[i+2])-mean, float64(v[i+3])-mean
		a += da * da
		b += db * db
		c += dc * dc
		d += dd * dd
	}
	for ; i < len(v); i++ {
		da := float64(v[i]) - mean
		a += da * da
	}
	return mean, (a + b + c + d) / n
}
