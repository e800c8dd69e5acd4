package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/writbus/writ/schemas/lazyregexp"
)

// ErrSyntax is returned for settings that are not JSON; the error names line
// and column.
var ErrSyntax = errors.New("settings: not JSON")

// ErrShape is returned for settings whose hooks are not what their host
// reads.
var ErrShape = errors.New("settings: an unexpected shape")

// document is JSON text with the places of its values. An edit yields a new
// document; the old one stays.
type document struct {
	text  []byte
	plain []byte // the text with spaces in place of comments
	root  *node
}

// node is a value, text[start:end].
type node struct {
	start, end int
	kind       byte     // '{', '[', or 0 for anything else
	keys       []string // of an object's children
	at         []int    // where each child begins, for an object's at its key
	children   []*node
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// parse reads settings, with comments or without. Nothing at all counts as an empty
// object.
func parse(text []byte) (document, error) {
	body := bytes.TrimPrefix(text, byteOrderMark)
	if len(bytes.TrimSpace(body)) == 0 {
		return document{text: []byte("{}"), plain: []byte("{}"), root: &node{start: 0, end: 2, kind: '{'}}, nil
	}
	d := document{text: text, plain: Plain(text)}
	if err := checkSyntax(text, d.plain[len(text)-len(body):]); err != nil {
		return document{}, err
	}
	s := scanner{text: d.plain, pos: len(text) - len(body)}
	d.root = s.value()
	if d.root.kind != '{' {
		return document{}, fmt.Errorf("%w: they are not an object", ErrShape)
	}
	return d, nil
}

func checkSyntax(text, body []byte) error {
	var any json.RawMessage
	err := json.Unmarshal(body, &any)
	if err == nil {
		return nil
	}
	offset := len(text)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		// The offset counts the byte that cannot be there.
		offset = len(text) - len(body) + int(max(syntax.Offset-1, 0))
	}
	all := comment.Regexp().FindAllIndex(text, -1)
	if last := len(all) - 1; last >= 0 && all[last][1] == len(text) && endless(text[all[last][0]:]) {
		line, column := position(text, all[last][0])
		return fmt.Errorf("%w: line %d, column %d begins a comment that does not end", ErrSyntax, line, column)
	}
	line, column := position(text, offset)
	return fmt.Errorf("%w: line %d, column %d: %w", ErrSyntax, line, column, err)
}

func endless(comment []byte) bool {
	inner, block := bytes.CutPrefix(comment, []byte("/*"))
	return block && !bytes.HasSuffix(inner, []byte("*/"))
}

// comment is a string, which may hold what looks like a comment, or a comment, which
// may have no end.
var comment = lazyregexp.New(`"(?:[^"\\]|\\.)*"|//[^\n]*|/\*(?s:.*?)(?:\*/|\z)`)

// Plain is a text of the same length with spaces in place of comments.
func Plain(text []byte) []byte {
	return comment.Regexp().ReplaceAllFunc(text, func(found []byte) []byte {
		if found[0] == '"' {
			return found
		}
		return bytes.Repeat([]byte(" "), len(found))
	})
}

// commented is where the first comment begins, -1 without one.
func (d document) commented() int {
	for i := range d.text {
		if d.text[i] != d.plain[i] {
			return i
		}
	}
	return -1
}

// remarks is the part of a text that has no values, without its comma: "" unless there
// is a comment in it.
func (d document) remarks(from, to int) string {
	if bytes.Equal(d.text[from:to], d.plain[from:to]) {
		return ""
	}
	if comma := bytes.IndexByte(d.plain[from:to], ','); comma >= 0 {
		return string(d.text[from:from+comma]) + string(d.text[from+comma+1:to])
	}
	return string(d.text[from:to])
}

// position is the line and column, in bytes, of an offset; both from 1.
func position(text []byte, offset int) (line, column int) {
	before := text[:min(offset, len(text))]
	return bytes.Count(before, []byte("\n")) + 1, len(before) - bytes.LastIndexByte(before, '\n')
}

// scanner walks text that is known to be valid JSON.
type scanner struct {
	text []byte
	pos  int
}

func (s *scanner) skip(set string) {
	for s.pos < len(s.text) && bytes.IndexByte([]byte(set), s.text[s.pos]) >= 0 {
		s.pos++
	}
}

const (
	whitespace = " \t\r\n"
	separators = whitespace + ","
)

func (s *scanner) value() *node {
	s.skip(whitespace)
	n := &node{start: s.pos}
	switch s.text[s.pos] {
	case '{', '[':
		s.container(n)
	case '"':
		s.string()
	default:
		for s.pos < len(s.text) && bytes.IndexByte([]byte(separators+"]}"), s.text[s.pos]) < 0 {
			s.pos++
		}
	}
	n.end = s.pos
	return n
}

func (s *scanner) container(n *node) {
	n.kind = s.text[s.pos]
	s.pos++
	for {
		s.skip(separators)
		if c := s.text[s.pos]; c == '}' || c == ']' {
			s.pos++
			return
		}
		n.at = append(n.at, s.pos)
		if n.kind == '{' {
			n.keys = append(n.keys, s.key())
		}
		n.children = append(n.children, s.value())
	}
}

func (s *scanner) key() string {
	start := s.pos
	s.string()
	var key string
	_ = json.Unmarshal(s.text[start:s.pos], &key)
	s.skip(whitespace + ":")
	return key
}

func (s *scanner) string() {
	for s.pos++; s.text[s.pos] != '"'; s.pos++ {
		if s.text[s.pos] == '\\' {
			s.pos++
		}
	}
	s.pos++
}

// index is the place of a key among an object's children, -1 without it. Of
// several, JSON's readers take the last.
func (n *node) index(key string) int {
	if n == nil || n.kind != '{' {
		return -1
	}
	for i := len(n.keys) - 1; i >= 0; i-- {
		if n.keys[i] == key {
			return i
		}
	}
	return -1
}

func (n *node) member(key string) *node {
	if i := n.index(key); i >= 0 {
		return n.children[i]
	}
	return nil
}

func (d document) bytes(n *node) []byte { return d.plain[n.start:n.end] }
