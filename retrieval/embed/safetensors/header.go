package safetensors

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
)

// widths are the bytes per value of the format's types.
var widths = map[string]int64{
	"BOOL": 1, "U8": 1, "I8": 1, "F8_E5M2": 1, "F8_E4M3": 1,
	"I16": 2, "U16": 2, "F16": 2, "BF16": 2,
	"I32": 4, "U32": 4, "F32": 4,
	"I64": 8, "U64": 8, "F64": 8,
}

// entry is a tensor as the header describes it.
type entry struct {
	Type    string  `json:"dtype"`
	Shape   []int64 `json:"shape"`
	Offsets []int64 `json:"data_offsets"`
}

// header parses raw; data starts at base in a file of size bytes.
func (f *File) header(raw []byte, base, size int64) error {
	if len(raw) == 0 || raw[0] != '{' {
		return f.malformed("the header is no JSON object")
	}
	entries, err := members(raw)
	if err != nil {
		return f.malformed("the header: %v", err)
	}
	f.tensors = make(map[string]Tensor, len(entries))
	for name, value := range entries {
		if name == "__metadata__" {
			if err := json.Unmarshal(value, &f.meta); err != nil {
				return f.malformed("the metadata: %v", err)
			}
			continue
		}
		var e entry
		if err := json.Unmarshal(value, &e); err != nil {
			return f.malformed("tensor %q: %v", name, err)
		}
		t, problem := e.tensor(name, base, size)
		if problem != "" {
			return f.malformed("tensor %q: %s", name, problem)
		}
		f.tensors[name] = t
	}
	return f.gapless(base, size)
}

// members splits a JSON object, refusing a repeated key: encoding/json would
// let the last one win, where another reader may see the first.
func members(raw []byte) (map[string]json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	out := map[string]json.RawMessage{}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, err
		}
		name := key.(string) // More guards the end of the object: only a key can follow
		if _, twice := out[name]; twice {
			return nil, fmt.Errorf("%q is there twice", name)
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
		out[name] = value
	}
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("something follows the object")
	}
	return out, nil
}

// tensor checks an entry; a problem is for people.
func (e entry) tensor(name string, base, size int64) (t Tensor, problem string) {
	width, known := widths[e.Type]
	if !known {
		return t, fmt.Sprintf("its type is %q", e.Type)
	}
	if len(e.Offsets) != 2 {
		return t, fmt.Sprintf("it has %d offsets", len(e.Offsets))
	}
	begin, end := e.Offsets[0], e.Offsets[1]
	if begin < 0 || end < begin || end > size-base {
		return t, fmt.Sprintf("its data is at %d to %d, the file holds %d", begin, end, size-base)
	}
	bytes := width
	shape := make([]int, len(e.Shape))
	for i, d := range e.Shape {
		if d < 0 || d > math.MaxInt32 {
			return t, fmt.Sprintf("its shape is %v", e.Shape)
		}
		if d > 0 && bytes > math.MaxInt64/d {
			return t, fmt.Sprintf("its shape %v overflows", e.Shape)
		}
		bytes *= d
		shape[i] = int(d)
	}
	if bytes != end-begin {
		return t, fmt.Sprintf("%s of shape %v are %d bytes, its data has %d", e.Type, e.Shape, bytes, end-begin)
	}
	return Tensor{Name: name, Type: e.Type, Shape: shape, begin: base + begin, end: base + end}, ""
}

// gapless checks that the tensors cover the data exactly, as the format asks:
// nothing hides between them or behind, and none is cut off.
func (f *File) gapless(base, size int64) error {
	all := slices.SortedFunc(maps.Values(f.tensors), func(a, b Tensor) int {
		return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(a.end, b.end), cmp.Compare(a.Name, b.Name))
	})
	at := base
	for _, t := range all {
		if t.begin != at {
			return f.malformed("tensor %q starts at %d, the one before ends at %d", t.Name, t.begin-base, at-base)
		}
		at = t.end
	}
	if at != size {
		return f.malformed("the tensors end at %d of %d bytes of data", at-base, size-base)
	}
	return nil
}
