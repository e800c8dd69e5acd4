package bert

import (
	"fmt"
	"slices"
	"strings"

	"github.com/writbus/writ/retrieval/embed/onnx"
)

// graph are the parameters of an ONNX file. Exporters keep the names of biases,
// norms and embeddings, but transpose the weights of products and number them; a
// weight is found by the product to which its bias is added.
type graph struct {
	*onnx.File
	prefix string // before every name: "", "bert.", "0.model." and others
}

func openGraph(path string) (parameters, error) {
	file, err := onnx.Open(path)
	if err != nil {
		return nil, err
	}
	g := &graph{File: file}
	problem := g.foreign()
	if problem == "" {
		problem = g.findPrefix()
	}
	if problem != "" {
		_ = file.Close()
		return nil, fmt.Errorf("%w: %s: %s", ErrUnsupported, path, problem)
	}
	return g, nil
}

// quantized are the operations of graphs whose weights are no floats.
var quantized = []string{"DequantizeLinear", "DynamicQuantizeLinear", "MatMulInteger", "QLinearMatMul", "QuantizeLinear"}

// foreign says for people why the graph is not one as it was exported, "" if it
// is: runtimes fuse weights, and store them in smaller types.
func (g *graph) foreign() string {
	for _, n := range g.Nodes() {
		switch {
		case slices.Contains(quantized, n.Op):
			return fmt.Sprintf("it is quantised (operation %s); use the export in float32 or float16", n.Op)
		case n.Domain != "" && n.Domain != "ai.onnx":
			return fmt.Sprintf("it was optimised for one runtime (operation %s of %s); use the export before that", n.Op, n.Domain)
		}
	}
	return ""
}

func (g *graph) findPrefix() string {
	found := false
	for _, name := range g.Names() {
		prefix, ok := strings.CutSuffix(name, wordsTensor)
		if !ok || prefix != "" && !strings.HasSuffix(prefix, ".") {
			continue
		}
		if found {
			return fmt.Sprintf("it holds two encoders, %q and %q", g.prefix, prefix)
		}
		g.prefix, found = prefix, true
	}
	if !found {
		return "it holds no BERT encoder: no tensor is named " + wordsTensor
	}
	return ""
}

// maxSteps bounds walks through nodes that only pass a value on: graphs of
// damaged files may have circles.
const maxSteps = 8

// origin walks from a value back to the tensor that is stored for it; turned
// says that the value is its transpose.
func (g *graph) origin(value string) (tensor string, turned, ok bool) {
	for range maxSteps {
		if _, ok := g.Lookup(value); ok {
			return value, turned, true
		}
		n, made := g.Maker(value)
		if !made || len(n.Inputs) == 0 {
			return "", false, false
		}
		switch perm := n.Ints["perm"]; {
		case n.Op == "Identity", n.Op == "Cast":
		case n.Op == "Transpose" && (perm == nil || slices.Equal(perm, []int64{1, 0})):
			turned = !turned
		default:
			return "", false, false
		}
		value = n.Inputs[0]
	}
	return "", false, false
}

// Has tells whether a parameter is there under its name.
func (g *graph) Has(name string) bool {
	_, _, ok := g.origin(g.prefix + name)
	return ok
}

// Floats returns a parameter.
func (g *graph) Floats(name string, shape ...int) ([]float32, error) {
	tensor, turned, ok := g.origin(g.prefix + name)
	if !ok && len(shape) == 2 && strings.HasSuffix(name, ".weight") {
		var err error
		if tensor, turned, err = g.factor(name); err != nil {
			return nil, err
		}
		ok = true
	}
	switch {
	case !ok:
		return nil, fmt.Errorf("%w: %s: tensor %q", onnx.ErrMissing, g.Name(), g.prefix+name)
	case !turned:
		return g.read(name, tensor, shape...)
	case len(shape) != 2:
		return nil, fmt.Errorf("%w: %s: tensor %q is transposed", ErrUnsupported, g.Name(), g.prefix+name)
	}
	v, err := g.read(name, tensor, shape[1], shape[0])
	if err != nil {
		return nil, err
	}
	return transpose(v, shape[1], shape[0]), nil
}

// read names in errors the parameter as well, since a tensor may have a number
// for a name.
func (g *graph) read(name, tensor string, shape ...int) ([]float32, error) {
	v, err := g.File.Floats(tensor, shape...)
	if err != nil && tensor != g.prefix+name {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return v, err
}

// factor finds the weight of a product by its bias; turned says that the stored
// tensor is the weight's transpose.
func (g *graph) factor(name string) (tensor string, turned bool, err error) {
	bias := g.prefix + strings.TrimSuffix(name, ".weight") + ".bias"
	factors := g.factors(bias, maxSteps)
	if len(factors) != 1 {
		return "", false, fmt.Errorf("%w: %s: tensor %q: the bias %q is added to %d products, wanted one",
			onnx.ErrMissing, g.Name(), g.prefix+name, bias, len(factors))
	}
	tensor, turned, ok := g.origin(factors[0])
	if !ok {
		return "", false, fmt.Errorf("%w: %s: tensor %q: the product to which %q is added has no stored factor",
			onnx.ErrMissing, g.Name(), g.prefix+name, bias)
	}
	return tensor, !turned, nil // a product takes inputs × outputs
}

// factors are the second factors of the products to which a bias is added. What
// passes the bias on is followed only if nothing adds the bias itself: equal
// biases are stored once, and passed on under the others' names.
func (g *graph) factors(bias string, steps int) (factors []string) {
	users := g.Users(bias)
	for _, n := range users {
		if n.Op != "Add" || len(n.Inputs) != 2 {
			continue
		}
		for i := range n.Inputs {
			if n.Inputs[1-i] == bias {
				factors = append(factors, g.product(n.Inputs[i])...)
			}
		}
	}
	for _, n := range users {
		if len(factors) == 0 && steps > 0 && (n.Op == "Identity" || n.Op == "Cast") && len(n.Outputs) == 1 {
			factors = g.factors(n.Outputs[0], steps-1)
		}
	}
	return factors
}

// product returns the second factor of the product that a value is, if it is one.
func (g *graph) product(value string) []string {
	for range maxSteps {
		n, made := g.Maker(value)
		switch {
		case made && n.Op == "MatMul" && len(n.Inputs) == 2:
			return n.Inputs[1:]
		case made && (n.Op == "Cast" || n.Op == "Identity") && len(n.Inputs) == 1:
			value = n.Inputs[0]
		default:
			return nil
		}
	}
	return nil
}

// transpose turns rows × columns values.
func transpose(v []float32, rows, columns int) []float32 {
	out := make([]float32, len(v))
	for r := range rows {
		for c, x := range v[r*columns : (r+1)*columns] {
			out[c*rows+r] = x
		}
	}
	return out
}
