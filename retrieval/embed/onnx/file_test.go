package onnx

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// message builds protobuf messages field by field.
type message []byte

func (m message) number(field protowire.Number, v uint64) message {
	return protowire.AppendVarint(protowire.AppendTag(m, field, protowire.VarintType), v)
}

func (m message) bytes(field protowire.Number, v []byte) message {
	return protowire.AppendBytes(protowire.AppendTag(m, field, protowire.BytesType), v)
}

func (m message) text(field protowire.Number, v string) message { return m.bytes(field, []byte(v)) }

func model(graph message) message {
	return message(nil).number(modelVersion, 8).text(2, "a test").bytes(modelGraph, graph)
}

// tensor is one of a name, a type and dimensions; its numbers are added to it.
func tensor(name string, kind uint64, dims ...int64) message {
	m := message(nil)
	for _, d := range dims {
		m = m.number(tensorDims, uint64(d))
	}
	return m.number(tensorType, kind).text(tensorName, name)
}

func stored(tensors ...message) message {
	graph := message(nil)
	for _, t := range tensors {
		graph = graph.bytes(graphTensor, t)
	}
	return model(graph)
}

func node(op string, inputs, outputs []string, attributes ...message) message {
	m := message(nil)
	for _, in := range inputs {
		m = m.text(nodeInput, in)
	}
	for _, out := range outputs {
		m = m.text(nodeOutput, out)
	}
	m = m.text(3, "its name").text(nodeOp, op)
	for _, a := range attributes {
		m = m.bytes(nodeAttribute, a)
	}
	return m
}

func parse(raw []byte) (*File, error) {
	return Parse("m.onnx", bytes.NewReader(raw), int64(len(raw)))
}

func floats(values ...float32) (raw []byte) {
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
	}
	return raw
}

func varints(values ...uint64) (raw []byte) {
	for _, v := range values {
		raw = protowire.AppendVarint(raw, v)
	}
	return raw
}

// Every type in every place where the format puts it.
func TestFloats(t *testing.T) {
	doubles := binary.LittleEndian.AppendUint64(nil, math.Float64bits(-1.5))
	for name, c := range map[string]struct {
		tensor message
		want   []float32
	}{
		"F32 raw":     {tensor("x", 1, 2).bytes(tensorRaw, floats(0.1, -3)), []float32{0.1, -3}},
		"F32 typed":   {tensor("x", 1, 2).bytes(tensorFloats, floats(0.1, -3)), []float32{0.1, -3}},
		"F16 raw":     {tensor("x", 10, 2).bytes(tensorRaw, []byte{0x00, 0x3c, 0x00, 0xc0}), []float32{1, -2}},
		"F16 typed":   {tensor("x", 10, 2).bytes(tensorInts, varints(0x3c00, 0xc000)), []float32{1, -2}},
		"BF16 raw":    {tensor("x", 16, 1).bytes(tensorRaw, []byte{0x80, 0x3f}), []float32{1}},
		"BF16 typed":  {tensor("x", 16, 1).bytes(tensorInts, varints(0x3f80)), []float32{1}},
		"F64 raw":     {tensor("x", 11, 1).bytes(tensorRaw, doubles), []float32{-1.5}},
		"F64 typed":   {tensor("x", 11, 1).bytes(tensorDoubles, doubles), []float32{-1.5}},
		"a scalar":    {tensor("x", 1).bytes(tensorRaw, floats(7)), []float32{7}},
		"nothing":     {tensor("x", 1, 0, 5), nil},
		"packed dims": {message(nil).bytes(tensorDims, varints(1, 2)).number(tensorType, 1).text(tensorName, "x").bytes(tensorRaw, floats(1, 2)), []float32{1, 2}},
	} {
		f, err := parse(stored(c.tensor))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got, err := f.Floats("x"); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

// Tensors larger than the windows in which files are read, raw and as varints.
func TestLargeTensors(t *testing.T) {
	const n = 1<<18 + 3
	raw, ints, want := make([]byte, 0, 4*n), make([]byte, 0, 3*n), make([]float32, n)
	for i := range n {
		want[i] = float32(i % 1000)
		raw = append(raw, floats(want[i])...)
		ints = protowire.AppendVarint(ints, uint64(math.Float32bits(want[i])>>16))
	}
	path := filepath.Join(t.TempDir(), "big.onnx")
	file := stored(tensor("x", 1, n).bytes(tensorRaw, raw), tensor("y", 16, n).bytes(tensorInts, ints), tensor("z", 1).bytes(tensorRaw, floats(5)))
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got, err := f.Floats("x", n); err != nil || !slices.Equal(got, want) {
		t.Error("x differs", err)
	}
	got, err := f.Floats("y", -1)
	if err != nil || len(got) != n {
		t.Fatal(err)
	}
	for i, v := range got {
		if v != math.Float32frombits(math.Float32bits(want[i])&0xffff0000) {
			t.Fatalf("y[%d] is %v", i, v)
		}
	}
	if z, err := f.Floats("z"); err != nil || z[0] != 5 {
		t.Error(z, err)
	}
}

func TestGraphs(t *testing.T) {
	perm := message(nil).text(attributeName, "perm").bytes(attributeInts, varints(1, 0))
	constant := message(nil).text(attributeName, "value").bytes(attributeTensor, tensor("", 1, 1).bytes(tensorRaw, floats(4)))
	graph := message(nil).text(2, "graph").
		bytes(graphNode, node("Constant", nil, []string{"c"}, constant)).
		bytes(graphTensor, tensor("w", 1, 1, 2).bytes(tensorRaw, floats(1, 2))).
		bytes(graphNode, node("Transpose", []string{"w"}, []string{"t"}, perm)).
		bytes(graphNode, append(node("Add", []string{"c", "t", "c", ""}, []string{"sum", ""}), message(nil).text(nodeDomain, "elsewhere")...))
	f, err := parse(model(graph))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(f.Names(), []string{"c", "w"}) || f.Name() != "m.onnx" || len(f.Nodes()) != 2 {
		t.Errorf("%v %v", f.Names(), f.Nodes())
	}
	if c, err := f.Floats("c"); err != nil || c[0] != 4 {
		t.Error(c, err)
	}
	if w, ok := f.Lookup("w"); !ok || w.Type != "F32" || !slices.Equal(w.Shape, []int{1, 2}) || w.Elements() != 2 {
		t.Error(w, ok)
	}
	if n, ok := f.Maker("t"); !ok || n.Op != "Transpose" || !slices.Equal(n.Ints["perm"], []int64{1, 0}) {
		t.Error(n, ok)
	}
	if n, ok := f.Maker("w"); ok {
		t.Error("a node makes w", n)
	}
	for value, want := range map[string]int{"c": 1, "t": 1, "w": 1, "sum": 0, "": 0} {
		if users := f.Users(value); len(users) != want {
			t.Errorf("%q has users %v", value, users)
		}
	}
	if sum, _ := f.Maker("sum"); sum.Domain != "elsewhere" {
		t.Error(sum)
	}
}

func TestReadersSayWhatIsWrong(t *testing.T) {
	f, err := parse(stored(
		tensor("x", 1, 2).bytes(tensorRaw, floats(1, 2)),
		tensor("ints", 7, 1).bytes(tensorRaw, make([]byte, 8)),
		tensor("strange", 99, 1),
		tensor("outside", 1, 2).number(tensorLocation, locationOutside).bytes(13, message(nil).text(1, "location").text(2, "../x")),
		append(tensor("single", 1, 1), protowire.AppendFixed32(protowire.AppendTag(nil, tensorFloats, protowire.Fixed32Type), 1)...),
		tensor("pieces", 1, 2).bytes(tensorFloats, floats(1)).bytes(tensorFloats, floats(2)),
		tensor("wide", 10, 1).bytes(tensorInts, varints(1<<16)),
		tensor("more", 10, 1).bytes(tensorInts, varints(1, 2)),
		tensor("fewer", 10, 2).bytes(tensorInts, varints(300)),
	))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]error{
		"y": ErrMissing, "ints": ErrType, "strange": ErrType, "outside": ErrType, "single": ErrType, "pieces": ErrType,
		"wide": ErrFormat, "more": ErrFormat, "fewer": ErrFormat,
	} {
		if _, err := f.Floats(name); !errors.Is(err, want) || !strings.Contains(err.Error(), "m.onnx") || !strings.Contains(err.Error(), `"`+name+`"`) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
	for _, shape := range [][]int{{1}, {2, 1}, {-1, -1}} {
		if _, err := f.Floats("x", shape...); !errors.Is(err, ErrShape) {
			t.Errorf("%v: %v", shape, err)
		}
	}
}

func TestMalformedFilesAreNamed(t *testing.T) {
	whole := stored(tensor("x", 1, 2).bytes(tensorRaw, floats(1, 2)))
	for name, raw := range map[string][]byte{
		"empty":             nil,
		"text":              []byte("<!DOCTYPE html><html>not found</html>"),
		"zeros":             make([]byte, 64),
		"cut":               whole[:len(whole)-1],
		"no graph":          message(nil).number(modelVersion, 8).text(2, "x"),
		"no version":        message(nil).bytes(modelGraph, nil),
		"two graphs":        append(whole, message(nil).bytes(modelGraph, nil)...),
		"a vast length":     append(whole, protowire.AppendVarint(protowire.AppendTag(nil, 2, protowire.BytesType), math.MaxUint64)...),
		"a group":           append(whole, protowire.AppendTag(nil, 2, protowire.StartGroupType)...),
		"an endless number": append(whole, bytes.Repeat([]byte{0xff}, 30)...),
		"negative":          stored(tensor("x", 1, -1, -2).bytes(tensorRaw, floats(1, 2))),
		"huge":              stored(tensor("x", 1, 1<<31, 2).bytes(tensorRaw, floats(1, 2))),
		"huge, never read":  stored(tensor("x", 7, 1<<31)),
		"overflowing":       stored(tensor("x", 1, 1<<30, 1<<30, 1<<30).bytes(tensorRaw, floats(1, 2))),
		"to nothing":        stored(tensor("x", 1, 1<<16, 1<<16, 1<<16, 1<<16).bytes(tensorRaw, nil)),
		"too few":           stored(tensor("x", 1, 3).bytes(tensorRaw, floats(1, 2))),
		"too many":          stored(tensor("x", 1, 1).bytes(tensorFloats, floats(1, 2))),
		"too few halves":    stored(tensor("x", 10, 1<<30).bytes(tensorInts, varints(1))),
		"no numbers":        stored(tensor("x", 1, 3)),
		"misplaced numbers": stored(tensor("x", 1, 1).bytes(tensorInts, varints(1))),
		"stored twice":      stored(tensor("x", 7), tensor("x", 7)),
		"made twice":        model(message(nil).bytes(graphNode, node("A", nil, []string{"x"})).bytes(graphNode, node("B", nil, []string{"x"}))),
		"a number as name":  model(message(nil).bytes(graphNode, message(nil).number(nodeOp, 1))),
		"a long name":       model(message(nil).bytes(graphNode, message(nil).bytes(nodeOp, make([]byte, longestText+1)))),
		"long dims":         stored(message(nil).bytes(tensorDims, make([]byte, longestText+1))),
		"bad dims":          stored(message(nil).bytes(tensorDims, []byte{0xff})),
		"dims as floats":    stored(protowire.AppendFixed32(protowire.AppendTag(nil, tensorDims, protowire.Fixed32Type), 1)),
	} {
		if _, err := parse(raw); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "m.onnx") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestUnreadableFiles(t *testing.T) {
	if _, err := Open(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if _, err := Open(t.TempDir()); err == nil {
		t.Error("a folder was opened")
	}
	// Files that shrink before the graph is read, and after.
	raw := stored(tensor("x", 1, 2).bytes(tensorRaw, floats(1, 2)), tensor("h", 10, 1).bytes(tensorInts, varints(9)))
	if _, err := Parse("m", bytes.NewReader(raw[:9]), int64(len(raw))); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
	data := &shrinking{raw: raw}
	f, err := Parse("m", data, int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	data.raw = raw[:20]
	for _, name := range []string{"x", "h"} {
		if _, err := f.Floats(name); !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), `"`+name+`"`) {
			t.Error(err)
		}
	}
}

type shrinking struct{ raw []byte }

func (s *shrinking) ReadAt(p []byte, at int64) (int, error) {
	return bytes.NewReader(s.raw).ReadAt(p, at)
}

func FuzzParse(f *testing.F) {
	perm := message(nil).text(attributeName, "perm").bytes(attributeInts, varints(1, 0))
	f.Add([]byte(model(message(nil).
		bytes(graphTensor, tensor("w", 10, 1, 2).bytes(tensorInts, varints(0x3c00, 1))).
		bytes(graphTensor, tensor("b", 1, 2).bytes(tensorRaw, floats(1, 2))).
		bytes(graphNode, node("Transpose", []string{"w"}, []string{"t"}, perm)).
		bytes(graphNode, node("MatMul", []string{"x", "t"}, []string{"p"})).
		bytes(graphNode, node("Add", []string{"p", "b"}, []string{"s"})))))
	f.Add([]byte(stored(tensor("x", 1, 1<<40, 1<<40))))
	f.Add([]byte(stored(tensor("x", 16, 3).bytes(tensorInts, varints(1, 2)))))
	f.Fuzz(func(t *testing.T, raw []byte) {
		file, err := parse(raw)
		if err != nil {
			if !errors.Is(err, ErrFormat) {
				t.Fatal(err)
			}
			return
		}
		for _, name := range file.Names() {
			described, _ := file.Lookup(name)
			v, err := file.Floats(name)
			if err == nil && (len(v) != described.Elements() || len(v) > len(raw)) {
				t.Fatalf("%q: %d values of %d in %d bytes", name, len(v), described.Elements(), len(raw))
			}
		}
		for _, n := range file.Nodes() {
			for _, in := range n.Inputs {
				file.Users(in)
				file.Maker(in)
			}
		}
	})
}
