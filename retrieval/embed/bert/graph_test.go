package bert

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/writbus/writ/retrieval/embed/onnx"
)

// exports are the tiny model as ONNX, made with optimum 2.1.0, PyTorch 2.15.0 and
// onnxruntime 1.31.1: exported with its pooling as a sentence-transformers model,
// which puts "0.model." before its names; exported alone, in float16; and by
// PyTorch's newer exporter, which numbers otherwise.
var exports = []string{"optimum", "half", "dynamo"}

func exported(t testing.TB, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "onnx", name+".onnx"))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// withGraph is the tiny model's directory with an ONNX file for its weights.
func withGraph(t testing.TB, name string, raw []byte) string {
	t.Helper()
	dir := copyTiny(t)
	if err := os.Remove(filepath.Join(dir, weightsFile)); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, dir, name, string(raw))
	return dir
}

// The same weights give the same bits, whichever file they come from.
func TestExportsAreTheModel(t *testing.T) {
	want, err := Load(tiny, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range exports {
		place := []string{"model.onnx", "onnx/model.onnx"}[i%2]
		m, err := Load(withGraph(t, place, exported(t, name)), Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, c := range tinyCases(t) {
			a, err := m.Embed(c.Text)
			if err != nil {
				t.Fatal(err)
			}
			b, err := want.Embed(c.Text)
			if err != nil {
				t.Fatal(err)
			}
			for i := range a {
				if a[i] != b[i] {
					t.Fatalf("%s: %.60q:\n got %v\nwant %v", name, c.Text, a, b)
				}
			}
		}
	}
}

func TestSafetensorsArePreferred(t *testing.T) {
	dir := copyTiny(t)
	write(t, dir, "model.onnx", "never read")
	if _, err := Load(dir, Options{}); err != nil {
		t.Error(err)
	}
	if name, found := WeightsFile(dir); name != weightsFile || !found {
		t.Error(name, found)
	}
	if name, found := WeightsFile(t.TempDir()); found {
		t.Error(name, found)
	}
}

// A graph made by hand: what exporters do only with some models.
type handmade []byte

func (h handmade) tensor(name string, values []byte, dims ...uint64) handmade {
	t := protowire.AppendString(protowire.AppendTag(nil, 8, protowire.BytesType), name)
	for _, d := range dims {
		t = protowire.AppendVarint(protowire.AppendTag(t, 1, protowire.VarintType), d)
	}
	t = protowire.AppendVarint(protowire.AppendTag(t, 2, protowire.VarintType), 1)
	t = protowire.AppendBytes(protowire.AppendTag(t, 9, protowire.BytesType), values)
	return protowire.AppendBytes(protowire.AppendTag(h, 5, protowire.BytesType), t)
}

func (h handmade) node(domain, op, out string, in ...string) handmade {
	var n []byte
	for _, name := range in {
		n = protowire.AppendString(protowire.AppendTag(n, 1, protowire.BytesType), name)
	}
	n = protowire.AppendString(protowire.AppendTag(n, 2, protowire.BytesType), out)
	n = protowire.AppendString(protowire.AppendTag(n, 4, protowire.BytesType), op)
	n = protowire.AppendString(protowire.AppendTag(n, 7, protowire.BytesType), domain)
	return protowire.AppendBytes(protowire.AppendTag(h, 1, protowire.BytesType), n)
}

func (h handmade) open(t *testing.T) (parameters, error) {
	t.Helper()
	raw := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 8)
	raw = protowire.AppendBytes(protowire.AppendTag(raw, 7, protowire.BytesType), h)
	path := filepath.Join(t.TempDir(), "model.onnx")
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := openGraph(path)
	if err == nil {
		t.Cleanup(func() { _ = p.Close() })
	}
	return p, err
}

var (
	twoByOne = []byte{0, 0, 0x80, 0x3f, 0, 0, 0, 0x40} // 1, 2
	words    = handmade(nil).tensor(wordsTensor, nil, 0)
)

func TestWeightsAreFoundThroughTheGraph(t *testing.T) {
	base := words.tensor("d.bias", twoByOne[:4], 1).tensor("7", twoByOne, 2, 1)
	for name, c := range map[string]struct {
		graph handmade
		want  error
		word  string
	}{
		"by the bias":         {base.node("", "MatMul", "p", "x", "7").node("", "Add", "s", "p", "d.bias"), nil, ""},
		"bias first":          {base.node("", "MatMul", "p", "x", "7").node("ai.onnx", "Add", "s", "d.bias", "p"), nil, ""},
		"through casts":       {base.node("", "Cast", "8", "7").node("", "MatMul", "p", "x", "8").node("", "Cast", "q", "p").node("", "Cast", "b", "d.bias").node("", "Add", "s", "q", "b"), nil, ""},
		"by its name":         {base.tensor("d.weight", twoByOne, 1, 2), nil, ""},
		"turned":              {base.node("", "Transpose", "d.weight", "7"), nil, ""},
		"a shared bias":       {words.tensor("e.bias", twoByOne[:4], 1).tensor("7", twoByOne, 2, 1).node("", "Identity", "d.bias", "e.bias").node("", "MatMul", "p", "x", "7").node("", "Add", "s", "p", "d.bias").node("", "MatMul", "q", "x", "9").node("", "Add", "u", "q", "e.bias"), nil, ""},
		"a bias passed on":    {base.node("", "MatMul", "p", "x", "7").node("", "Add", "s", "p", "d.bias").node("", "Identity", "e.bias", "d.bias").node("", "MatMul", "q", "x", "9").node("", "Add", "u", "q", "e.bias"), nil, ""},
		"no product":          {base.node("", "Add", "s", "x", "d.bias"), onnx.ErrMissing, "0 products"},
		"two products":        {base.node("", "MatMul", "p", "x", "7").node("", "Add", "s", "p", "d.bias").node("", "MatMul", "q", "y", "7").node("", "Add", "u", "q", "d.bias"), onnx.ErrMissing, "2 products"},
		"a computed factor":   {base.node("", "Softmax", "f", "7").node("", "MatMul", "p", "x", "f").node("", "Add", "s", "p", "d.bias"), onnx.ErrMissing, "no stored factor"},
		"a circle":            {base.node("", "Cast", "f", "g").node("", "Cast", "g", "f").node("", "MatMul", "p", "x", "f").node("", "Add", "s", "p", "d.bias"), onnx.ErrMissing, "no stored factor"},
		"a circle of biases":  {words.node("", "Identity", "d.bias", "e").node("", "Identity", "e", "d.bias"), onnx.ErrMissing, "d.weight"},
		"the wrong way round": {words.tensor("d.bias", twoByOne[:4], 1).tensor("7", twoByOne, 1, 2).node("", "MatMul", "p", "x", "7").node("", "Add", "s", "p", "d.bias"), onnx.ErrShape, "d.weight"},
	} {
		p, err := c.graph.open(t)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		v, err := p.Floats("d.weight", 1, 2)
		if !errors.Is(err, c.want) || err != nil && !strings.Contains(err.Error(), c.word) {
			t.Errorf("%s: %v, want %v with %q", name, err, c.want, c.word)
		}
		if err == nil && (len(v) != 2 || v[0] != 1 || v[1] != 2) {
			t.Errorf("%s: %v", name, v)
		}
	}
}

func TestForeignGraphsAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		graph handmade
		word  string
	}{
		"another model": {handmade(nil).tensor("conv1.weight", nil, 0), wordsTensor},
		"two encoders":  {words.tensor("b."+wordsTensor, nil, 0), "two encoders"},
		"not its own":   {handmade(nil).tensor("no"+wordsTensor, nil, 0), wordsTensor},
		"quantised":     {words.node("", "MatMulInteger", "x", "y"), "quantised"},
		"optimised":     {words.node("com.microsoft", "Attention", "x", "y"), "com.microsoft"},
	} {
		if _, err := c.graph.open(t); !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), c.word) || !strings.Contains(err.Error(), "model.onnx") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestUnusableGraphsAreNamed(t *testing.T) {
	raw := exported(t, "optimum")
	config, err := os.ReadFile(filepath.Join(tiny, "config.json"))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		raw      []byte
		from, to string // in config.json
		want     error
	}{
		"cut":            {raw[:len(raw)/2], "", "", onnx.ErrFormat},
		"a web page":     {[]byte("<html>404</html>"), "", "", onnx.ErrFormat},
		"other width":    {raw, `"hidden_size": 20`, `"hidden_size": 24`, onnx.ErrShape},
		"other inside":   {raw, `"intermediate_size": 37`, `"intermediate_size": 38`, onnx.ErrShape},
		"more layers":    {raw, `"num_hidden_layers": 2`, `"num_hidden_layers": 3`, onnx.ErrMissing},
		"fewer layers":   {raw, `"num_hidden_layers": 2`, `"num_hidden_layers": 1`, ErrUnsupported},
		"no such output": {bytes.ReplaceAll(raw, []byte("0.model.encoder.layer.1.output.dense.bias"), []byte("0.model.encoder.layer.1.output.dense.bios")), "", "", onnx.ErrMissing},
	} {
		dir := withGraph(t, "model.onnx", c.raw)
		changed := strings.Replace(string(config), c.from, c.to, 1)
		if c.from != "" && changed == string(config) {
			t.Fatalf("config.json has no %s", c.from)
		}
		write(t, dir, "config.json", changed)
		if _, err := Load(dir, Options{}); !errors.Is(err, c.want) || !strings.Contains(err.Error(), "model.onnx") {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// Damage gives an error or a model, never a panic.
func FuzzGraph(f *testing.F) {
	raw := exported(f, "half")
	dir := withGraph(f, "model.onnx", raw)
	f.Add(uint32(0), []byte{0xff})
	f.Add(uint32(40_000), []byte{0xff, 0xff, 0xff, 0xff, 0x7f})
	f.Add(uint32(len(raw)-50), []byte("MatMul"))
	f.Fuzz(func(t *testing.T, at uint32, patch []byte) {
		damaged := bytes.Clone(raw)
		copy(damaged[int(at)%len(damaged):], patch)
		write(t, dir, "model.onnx", string(damaged))
		m, err := Load(dir, Options{})
		if err == nil {
			_, _ = m.Embed("the index")
		}
	})
}
