package onnx

import (
	"encoding/binary"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/writbus/writ/retrieval/embed/number"
)

// Numbers of the fields of a TensorProto, and of its places for data.
const (
	tensorDims     = 1
	tensorType     = 2
	tensorFloats   = 4
	tensorInts     = 5
	tensorName     = 8
	tensorRaw      = 9
	tensorDoubles  = 10
	tensorLocation = 14
)

// locationOutside is TensorProto.DataLocation.EXTERNAL.
const locationOutside = 1

// types names the kinds of number (TensorProto.DataType) as number.Decoder does.
var types = map[uint64]string{
	1: "F32", 2: "U8", 3: "I8", 4: "U16", 5: "I16", 6: "I32", 7: "I64", 8: "STRING", 9: "BOOL",
	10: "F16", 11: "F64", 12: "U32", 13: "U64", 16: "BF16",
}

// Tensor describes a stored tensor.
type Tensor struct {
	Name  string
	Type  string // "F32", "F16", "BF16", "F64", or another, which cannot be read
	Shape []int  // outermost first; empty for a scalar

	in         int   // the field that holds the numbers, 0 for none
	begin, end int64 // of it
	problem    string
}

// Elements is how many values the tensor has.
func (t Tensor) Elements() int {
	n := 1
	for _, d := range t.Shape {
		n *= d
	}
	return n
}

// floats tells whether the tensor is of a type that is read.
func (t Tensor) floats() bool {
	return t.Type == "F32" || t.Type == "F16" || t.Type == "BF16" || t.Type == "F64"
}

// readTensor reads a TensorProto but its numbers.
func readTensor(c *cursor) (t Tensor, err error) {
	var dims []int64
	kind := uint64(0)
	for {
		field, ok, err := c.next()
		if err != nil {
			return t, err
		}
		if !ok {
			break
		}
		switch field.number {
		case tensorDims:
			dims, err = c.numbers(dims, field)
		case tensorType:
			kind = field.value
		case tensorName:
			t.Name, err = c.text(field)
		case tensorFloats, tensorInts, tensorRaw, tensorDoubles:
			t.keep(field)
		case tensorLocation:
			if field.value == locationOutside {
				t.problem = "its numbers are in another file; save the model as one"
			}
		}
		if err != nil {
			return t, err
		}
	}
	var known bool
	if t.Type, known = types[kind]; !known {
		t.Type = fmt.Sprintf("type %d", kind)
	}
	if problem := t.shape(dims); problem != "" {
		return t, c.file.malformed("tensor %q: %s", t.Name, problem)
	}
	return t, nil
}

// keep notes where the numbers are. Those in several parts, or one by one, would
// have to be collected; no exporter writes them.
func (t *Tensor) keep(f field) {
	if t.in != 0 || f.kind != protowire.BytesType {
		t.problem = "its numbers are not in one piece"
	}
	t.in, t.begin, t.end = f.number, f.begin, f.end
}

// shape takes over the dimensions and compares them with the numbers there are;
// it says for people what is wrong, "" if nothing is.
func (t *Tensor) shape(dims []int64) (problem string) {
	const most = math.MaxInt64 / 8
	n := int64(1)
	t.Shape = make([]int, len(dims))
	for i, d := range dims {
		if d < 0 || d > math.MaxInt32 || d > 0 && n > most/d {
			return fmt.Sprintf("its shape is %v", dims)
		}
		n *= d
		t.Shape[i] = int(d)
	}
	if t.problem != "" || !t.floats() || t.in == 0 && n == 0 {
		return ""
	}
	size := t.end - t.begin
	if width := t.width(); width == 0 {
		return fmt.Sprintf("%s of shape %v, without fitting numbers", t.Type, dims)
	} else if t.in == tensorInts && (size < n || size > binary.MaxVarintLen64*n) || t.in != tensorInts && size != n*int64(width) {
		return fmt.Sprintf("%s of shape %v, but %d bytes of numbers", t.Type, dims, size)
	}
	return ""
}

// width is how many bytes a number has where it is stored, the least if that
// varies, and 0 if numbers of the type cannot be there.
func (t *Tensor) width() int {
	width, _ := number.Decoder(t.Type)
	switch {
	case t.in == tensorRaw, t.in == tensorFloats && t.Type == "F32", t.in == tensorDoubles && t.Type == "F64":
		return width
	case t.in == tensorInts && (t.Type == "F16" || t.Type == "BF16"):
		return 1
	}
	return 0
}

// Floats reads a stored tensor as float32, row by row. If a shape is given the
// tensor must have it; −1 stands for any length.
func (f *File) Floats(name string, shape ...int) ([]float32, error) {
	t, ok := f.tensors[name]
	if !ok {
		return nil, fmt.Errorf("%w: %s: tensor %q", ErrMissing, f.name, name)
	}
	switch {
	case t.problem != "":
		return nil, fmt.Errorf("%w: %s: tensor %q: %s", ErrType, f.name, name, t.problem)
	case !t.floats():
		return nil, fmt.Errorf("%w: %s: tensor %q is %s, wanted floats", ErrType, f.name, name, t.Type)
	}
	fits := len(shape) == 0 || len(shape) == len(t.Shape)
	for i := 0; fits && i < len(shape); i++ {
		fits = shape[i] == -1 || shape[i] == t.Shape[i]
	}
	if !fits {
		return nil, fmt.Errorf("%w: %s: tensor %q is %v, wanted %v", ErrShape, f.name, name, t.Shape, shape)
	}
	out := make([]float32, t.Elements())
	if t.in == tensorInts {
		return out, f.halves(out, t)
	}
	width, decode := number.Decoder(t.Type)
	buf := make([]byte, min(t.end-t.begin, 1<<20))
	for at := t.begin; at < t.end; at += int64(len(buf)) {
		buf = buf[:min(int64(len(buf)), t.end-at)]
		if err := f.read(buf, at); err != nil {
			return nil, fmt.Errorf("tensor %q: %w", name, err)
		}
		from := int(at-t.begin) / width
		decode(out[from:from+len(buf)/width], buf)
	}
	return out, nil
}

// halves reads numbers of 16 bits that are stored as one varint each.
func (f *File) halves(out []float32, t Tensor) error {
	decode := number.Half
	if t.Type == "BF16" {
		decode = number.Brain
	}
	c := &cursor{file: f, at: t.begin, end: t.end, window: &window{}}
	for i := range out {
		raw, err := c.peek(binary.MaxVarintLen64)
		if err != nil {
			return fmt.Errorf("tensor %q: %w", t.Name, err)
		}
		v, n := protowire.ConsumeVarint(raw)
		if n < 0 || v > math.MaxUint16 {
			return f.malformed("tensor %q: number %d has no 16 bits", t.Name, i)
		}
		c.at += int64(n)
		out[i] = decode(uint16(v))
	}
	if c.at != c.end {
		return f.malformed("tensor %q: more numbers than its shape %v has", t.Name, t.Shape)
	}
	return nil
}
