package onnx

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

var (
	// ErrFormat is returned by [Open] and [Parse] for what is not a well-formed
	// ONNX model, and by readers of a tensor whose numbers are damaged.
	ErrFormat = errors.New("onnx: malformed file")
	// ErrMissing is returned by readers of a tensor that the file does not hold.
	ErrMissing = errors.New("onnx: no such tensor")
	// ErrShape is returned by readers that expected another shape.
	ErrShape = errors.New("onnx: unexpected shape")
	// ErrType is returned by readers of a tensor whose numbers they do not
	// convert: quantised ones, and those kept outside the file.
	ErrType = errors.New("onnx: unsupported type")
)

// Node is one operation of the graph.
type Node struct {
	Op      string   // "MatMul", "Add" and others; not of ONNX's own set if Domain is neither "" nor "ai.onnx"
	Domain  string   // whose operation it is
	Inputs  []string // names of values; "" for one that is left out
	Outputs []string
	// Ints are the attributes that are whole numbers, such as a transpose's "perm".
	Ints map[string][]int64
}

// File is an open file.
type File struct {
	name    string
	data    io.ReaderAt
	size    int64
	close   func() error
	tensors map[string]Tensor
	nodes   []Node
	made    map[string]int   // the node that makes a value
	used    map[string][]int // the nodes that take a value in
}

// Open opens the file at path and reads its graph, not its weights. The caller
// closes it.
func Open(path string) (*File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("onnx: %w", err)
	}
	info, err := file.Stat()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("onnx: %w", err), file.Close())
	}
	f, err := Parse(path, file, info.Size())
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	f.close = file.Close
	return f, nil
}

// Parse reads the graph of size bytes of data, which later calls read from; name
// stands for it in errors.
func Parse(name string, data io.ReaderAt, size int64) (*File, error) {
	f := &File{
		name: name, data: data, size: size, close: func() error { return nil },
		tensors: map[string]Tensor{}, made: map[string]int{}, used: map[string][]int{},
	}
	if err := f.model(); err != nil {
		return nil, err
	}
	return f, nil
}

// Close closes the file that [Open] opened.
func (f *File) Close() error { return f.close() }

// Name is the path or name the file was opened with.
func (f *File) Name() string { return f.name }

// Names lists the stored tensors in order.
func (f *File) Names() []string {
	names := make([]string, 0, len(f.tensors))
	for name := range f.tensors {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Lookup finds a stored tensor's description.
func (f *File) Lookup(name string) (Tensor, bool) {
	t, ok := f.tensors[name]
	return t, ok
}

// Maker is the node that makes a value; ok is false for the graph's inputs, its
// stored tensors and names it does not know.
func (f *File) Maker(value string) (node Node, ok bool) {
	i, ok := f.made[value]
	if !ok {
		return Node{}, false
	}
	return f.nodes[i], true
}

// Users are the nodes that take a value in, in the file's order.
func (f *File) Users(value string) []Node {
	nodes := make([]Node, 0, len(f.used[value]))
	for _, i := range f.used[value] {
		nodes = append(nodes, f.nodes[i])
	}
	return nodes
}

// Nodes are all operations, in the file's order. Do not modify them.
func (f *File) Nodes() []Node { return f.nodes }

func (f *File) read(p []byte, at int64) error {
	if n, err := f.data.ReadAt(p, at); n < len(p) {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return fmt.Errorf("onnx: read %s at %d: %w", f.name, at, err)
	}
	return nil
}

func (f *File) malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s: %s", ErrFormat, f.name, fmt.Sprintf(format, args...))
}
