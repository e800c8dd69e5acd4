package onnx

import "google.golang.org/protobuf/encoding/protowire"

// Numbers of the fields read here, from onnx.proto of the ONNX project
// (https://github.com/onnx/onnx/blob/main/onnx/onnx.proto).
const (
	modelVersion = 1 // ModelProto.ir_version
	modelGraph   = 7

	graphNode   = 1
	graphTensor = 5 // initializer

	nodeInput     = 1
	nodeOutput    = 2
	nodeOp        = 4
	nodeAttribute = 5
	nodeDomain    = 7

	attributeName   = 1
	attributeInt    = 3
	attributeTensor = 5
	attributeInts   = 8
)

// model reads the whole file, a ModelProto. What makes it one is the graph: any
// other message is refused.
func (f *File) model() error {
	c := &cursor{file: f, end: f.size, window: &window{}}
	version, graph := false, false
	for {
		field, ok, err := c.next()
		switch {
		case err != nil:
			return err
		case !ok && !version, !ok && !graph:
			return f.malformed("it holds no ONNX model")
		case !ok:
			return nil
		}
		switch {
		case field.number == modelVersion && field.kind == protowire.VarintType:
			version = true
		case field.number == modelGraph && field.kind == protowire.BytesType:
			if graph {
				return f.malformed("it holds two graphs")
			}
			graph = true
			if err := f.graph(c.part(field)); err != nil {
				return err
			}
		}
	}
}

func (f *File) graph(c *cursor) error {
	for {
		field, ok, err := c.next()
		if err != nil || !ok {
			return err
		}
		if field.kind != protowire.BytesType {
			continue
		}
		switch field.number {
		case graphNode:
			err = f.node(c.part(field))
		case graphTensor:
			err = f.addTensor("", c.part(field))
		}
		if err != nil {
			return err
		}
	}
}

// node reads a NodeProto. A Constant is a stored tensor under its output's name.
func (f *File) node(c *cursor) error {
	var n Node
	var constant *cursor
	for {
		field, ok, err := c.next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		switch field.number {
		case nodeInput, nodeOutput, nodeOp, nodeDomain:
			text, err := c.text(field)
			if err != nil {
				return err
			}
			switch field.number {
			case nodeInput:
				n.Inputs = append(n.Inputs, text)
			case nodeOutput:
				n.Outputs = append(n.Outputs, text)
			case nodeOp:
				n.Op = text
			default:
				n.Domain = text
			}
		case nodeAttribute:
			if field.kind != protowire.BytesType {
				continue
			}
			tensor, err := n.attribute(c.part(field))
			if err != nil {
				return err
			}
			if tensor != nil {
				constant = tensor
			}
		}
	}
	if n.Op == "Constant" && constant != nil && len(n.Outputs) == 1 {
		return f.addTensor(n.Outputs[0], constant)
	}
	return f.addNode(n)
}

// attribute reads an AttributeProto; tensor is where the tensor is that it holds.
func (n *Node) attribute(c *cursor) (tensor *cursor, err error) {
	name := ""
	var ints []int64
	for {
		field, ok, err := c.next()
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		switch field.number {
		case attributeName:
			if name, err = c.text(field); err != nil {
				return nil, err
			}
		case attributeInt, attributeInts:
			if ints, err = c.numbers(ints, field); err != nil {
				return nil, err
			}
		case attributeTensor:
			if field.kind == protowire.BytesType {
				tensor = c.part(field)
			}
		}
	}
	if ints != nil {
		if n.Ints == nil {
			n.Ints = map[string][]int64{}
		}
		n.Ints[name] = ints
	}
	return tensor, nil
}

func (f *File) addNode(n Node) error {
	at := len(f.nodes)
	for _, value := range n.Outputs {
		if value == "" {
			continue
		}
		if _, twice := f.made[value]; twice {
			return f.malformed("two nodes make %q", value)
		}
		f.made[value] = at
	}
	for i, value := range n.Inputs {
		if value != "" && !contains(n.Inputs[:i], value) {
			f.used[value] = append(f.used[value], at)
		}
	}
	f.nodes = append(f.nodes, n)
	return nil
}

func contains(values []string, value string) bool {
	for _, v := range values {
		if v == value {
			return true
		}
	}
	return false
}

func (f *File) addTensor(name string, c *cursor) error {
	t, err := readTensor(c)
	if err != nil {
		return err
	}
	if name != "" {
		t.Name = name
	}
	if _, twice := f.tensors[t.Name]; twice {
		return f.malformed("it stores tensor %q twice", t.Name)
	}
	f.tensors[t.Name] = t
	return nil
}
