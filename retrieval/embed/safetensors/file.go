package safetensors

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/writbus/writ/retrieval/embed/number"
)

var (
	// ErrFormat is returned by [Open] and [Parse] for what is not a well-formed
	// safetensors file.
	ErrFormat = errors.New("safetensors: malformed file")
	// ErrMissing is returned by readers of a tensor that the file does not hold.
	ErrMissing = errors.New("safetensors: no such tensor")
	// ErrShape is returned by readers that expected another shape.
	ErrShape = errors.New("safetensors: unexpected shape")
	// ErrType is returned by readers of a tensor whose type they do not convert.
	ErrType = errors.New("safetensors: unsupported type")
)

// maxHeader is the longest header, in bytes, that the format allows.
const maxHeader = 100_000_000

// Tensor describes one tensor.
type Tensor struct {
	Name  string
	Type  string // "F32", "F16", "BF16", "I8" and others, as the file says
	Shape []int  // outermost first; empty for a scalar

	begin, end int64 // of its data, in the file
}

// Elements is how many values the tensor has.
func (t Tensor) Elements() int {
	n := 1
	for _, d := range t.Shape {
		n *= d
	}
	return n
}

// File is an open file.
type File struct {
	name    string
	data    io.ReaderAt
	close   func() error
	tensors map[string]Tensor
	meta    map[string]string
}

// Open opens the file at path and reads its header. The caller closes it.
func Open(path string) (*File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("safetensors: %w", err)
	}
	info, err := file.Stat()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("safetensors: %w", err), file.Close())
	}
	f, err := Parse(path, file, info.Size())
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	f.close = file.Close
	return f, nil
}

// Parse reads the header of size bytes of data, which later calls read from;
// name stands for it in errors.
func Parse(name string, data io.ReaderAt, size int64) (*File, error) {
	f := &File{name: name, data: data, close: func() error { return nil }}
	var length [8]byte
	if size < int64(len(length)) {
		return nil, f.malformed("%d bytes are too few for a header's length", size)
	}
	if err := f.read(length[:], 0); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint64(length[:])
	switch {
	case n > maxHeader:
		return nil, f.malformed("a header of %d bytes, the format allows %d", n, maxHeader)
	case int64(n) > size-8:
		return nil, f.malformed("a header of %d bytes in a file of %d", n, size)
	}
	header := make([]byte, n)
	if err := f.read(header, 8); err != nil {
		return nil, err
	}
	return f, f.header(header, 8+int64(n), size)
}

// Close closes the file that [Open] opened.
func (f *File) Close() error { return f.close() }

// Name is the path or name the file was opened with.
func (f *File) Name() string { return f.name }

// Metadata is the header's free-form text, nil if it has none. Do not modify it.
func (f *File) Metadata() map[string]string { return f.meta }

// Names lists the tensors in order.
func (f *File) Names() []string {
	return slices.Sorted(maps.Keys(f.tensors))
}

// Lookup finds a tensor's description.
func (f *File) Lookup(name string) (Tensor, bool) {
	t, ok := f.tensors[name]
	return t, ok
}

// Floats reads a tensor of type F64, F32, F16, BF16, I8 or U8 as float32, row by
// row; integers keep their value, whatever scale the model gives them. If a
// shape is given the tensor must have it; −1 stands for any length.
func (f *File) Floats(name string, shape ...int) ([]float32, error) {
	t, err := f.find(name, shape)
	if err != nil {
		return nil, err
	}
	width, decode := number.Decoder(t.Type)
	if decode == nil {
		return nil, fmt.Errorf("%w: %s: tensor %q is %s, wanted floats or bytes", ErrType, f.name, name, t.Type)
	}
	out := make([]float32, t.Elements())
	return out, f.chunks(t, width, func(at int, raw []byte) { decode(out[at:at+len(raw)/width], raw) })
}

// Ints reads a tensor of type I64 or I32, with the shape rule of [File.Floats].
func (f *File) Ints(name string, shape ...int) ([]int64, error) {
	t, err := f.find(name, shape)
	if err != nil {
		return nil, err
	}
	width, decode := intDecoder(t.Type)
	if decode == nil {
		return nil, fmt.Errorf("%w: %s: tensor %q is %s, wanted I64 or I32", ErrType, f.name, name, t.Type)
	}
	out := make([]int64, t.Elements())
	return out, f.chunks(t, width, func(at int, raw []byte) { decode(out[at:at+len(raw)/width], raw) })
}

func (f *File) find(name string, shape []int) (Tensor, error) {
	t, ok := f.tensors[name]
	if !ok {
		return t, fmt.Errorf("%w: %s: tensor %q", ErrMissing, f.name, name)
	}
	fits := len(shape) == 0 || len(shape) == len(t.Shape)
	for i := range shape {
		fits = fits && (shape[i] == -1 || shape[i] == t.Shape[i])
	}
	if !fits {
		return t, fmt.Errorf("%w: %s: tensor %q is %v, wanted %v", ErrShape, f.name, name, t.Shape, shape)
	}
	return t, nil
}

// chunks hands a tensor's bytes to take, a part at a time, with the number of
// the part's first value: whole files need not fit into memory twice.
func (f *File) chunks(t Tensor, width int, take func(at int, raw []byte)) error {
	buf := make([]byte, min(t.end-t.begin, 1<<20))
	for at := t.begin; at < t.end; at += int64(len(buf)) {
		buf = buf[:min(int64(len(buf)), t.end-at)]
		if err := f.read(buf, at); err != nil {
			return fmt.Errorf("tensor %q: %w", t.Name, err)
		}
		take(int(at-t.begin)/width, buf)
	}
	return nil
}

func (f *File) read(p []byte, at int64) error {
	if n, err := f.data.ReadAt(p, at); n < len(p) {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return fmt.Errorf("safetensors: read %s at %d: %w", f.name, at, err)
	}
	return nil
}

func (f *File) malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s: %s", ErrFormat, f.name, fmt.Sprintf(format, args...))
}

func intDecoder(kind string) (width int, decode func(out []int64, raw []byte)) {
	switch kind {
	case "I64":
		return 8, func(out []int64, raw []byte) {
			for i := range out {
				out[i] = int64(binary.LittleEndian.Uint64(raw[8*i:]))
			}
		}
	case "I32":
		return 4, func(out []int64, raw []byte) {
			for i := range out {
				out[i] = int64(int32(binary.LittleEndian.Uint32(raw[4*i:])))
			}
		}
	}
	return 0, nil
}
