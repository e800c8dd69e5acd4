package onnx

import (
	"errors"
	"fmt"
	"io"

	"google.golang.org/protobuf/encoding/protowire"
)

// windowSize is how many bytes a cursor reads at once.
const windowSize = 1 << 16

// longestText is the longest name, type or list of numbers in a graph, bytes: a
// graph that has longer ones was not made by an exporter.
const longestText = windowSize

// cursor walks the fields of one message, which is a part of the file, without
// holding more of it than a window.
type cursor struct {
	file *File
	at   int64 // of the next byte
	end  int64 // of the message

	window *window // shared with the cursors over parts
}

// window holds some bytes of the file.
type window struct {
	buf  []byte
	from int64 // where buf begins
}

// field is one field of a message: a number, or the place of its bytes.
type field struct {
	number int
	kind   protowire.Type
	value  uint64 // of varints and fixed numbers
	begin  int64  // of bytes
	end    int64
}

// part is a cursor over the bytes of a field, which shares the window.
func (c *cursor) part(f field) *cursor {
	return &cursor{file: c.file, at: f.begin, end: f.end, window: c.window}
}

// peek returns up to n ≤ windowSize of the next bytes, fewer at the end of the
// message. They are good until the next call.
func (c *cursor) peek(n int64) ([]byte, error) {
	n = min(n, c.end-c.at)
	w := c.window
	if c.at < w.from || c.at+n > w.from+int64(len(w.buf)) {
		if w.buf == nil {
			w.buf = make([]byte, windowSize)
		}
		w.buf = w.buf[:min(windowSize, c.file.size-c.at)]
		if err := c.file.read(w.buf, c.at); err != nil {
			return nil, err
		}
		w.from = c.at
	}
	return w.buf[c.at-w.from:][:n], nil
}

// longestHead is more than a tag and a number, or a tag and a length, take.
const longestHead = 20

// next reads a field; ok is false at the end of the message. The bytes of a
// field with a length are skipped, not read.
func (c *cursor) next() (f field, ok bool, err error) {
	if c.at == c.end {
		return f, false, nil
	}
	head, err := c.peek(longestHead)
	if err != nil {
		return f, false, err
	}
	number, kind, n := protowire.ConsumeTag(head)
	if n < 0 {
		return f, false, c.malformed(protowire.ParseError(n))
	}
	f.number, f.kind = int(number), kind
	size := 0
	switch kind {
	case protowire.VarintType:
		f.value, size = protowire.ConsumeVarint(head[n:])
	case protowire.Fixed32Type:
		var v uint32
		v, size = protowire.ConsumeFixed32(head[n:])
		f.value = uint64(v)
	case protowire.Fixed64Type:
		f.value, size = protowire.ConsumeFixed64(head[n:])
	case protowire.BytesType:
		f.value, size = protowire.ConsumeVarint(head[n:])
	default:
		return f, false, c.malformed(fmt.Errorf("field %d is of a kind that no ONNX file has", number))
	}
	if size < 0 {
		return f, false, c.malformed(protowire.ParseError(size))
	}
	if kind == protowire.BytesType {
		f.begin = c.at + int64(n+size)
		if f.value > uint64(c.end-f.begin) {
			return f, false, c.malformed(fmt.Errorf("field %d has %d bytes, %d are left", number, f.value, c.end-f.begin))
		}
		f.end = f.begin + int64(f.value)
		c.at = f.end
		return f, true, nil
	}
	c.at += int64(n + size)
	return f, true, nil
}

// text reads a field of a name or a type.
func (c *cursor) text(f field) (string, error) {
	if f.kind != protowire.BytesType || f.end-f.begin > longestText {
		return "", c.malformed(fmt.Errorf("field %d is no name", f.number))
	}
	raw, err := c.part(f).peek(f.end - f.begin)
	return string(raw), err
}

// numbers appends a field of whole numbers, one or packed.
func (c *cursor) numbers(to []int64, f field) ([]int64, error) {
	switch f.kind {
	case protowire.VarintType:
		return append(to, int64(f.value)), nil
	case protowire.BytesType:
	default:
		return nil, c.malformed(fmt.Errorf("field %d is no whole number", f.number))
	}
	if f.end-f.begin > longestText {
		return nil, c.malformed(fmt.Errorf("field %d holds too many numbers", f.number))
	}
	raw, err := c.part(f).peek(f.end - f.begin)
	if err != nil {
		return nil, err
	}
	for len(raw) > 0 {
		v, n := protowire.ConsumeVarint(raw)
		if n < 0 {
			return nil, c.malformed(protowire.ParseError(n))
		}
		to, raw = append(to, int64(v)), raw[n:]
	}
	return to, nil
}

func (c *cursor) malformed(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("it is cut off")
	}
	return c.file.malformed("at %d: %v", c.at, err)
}
