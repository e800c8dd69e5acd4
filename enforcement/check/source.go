package check

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/writbus/writ/schemas/lexer"
)

// view is a set of classes that a pattern sees: bits of code, text, comment.
type view uint8

const (
	viewCode view = 1 << iota
	viewText
	viewComment
	viewAll = viewCode | viewText | viewComment
)

func viewOf(contexts []string) (view, error) {
	if len(contexts) == 0 {
		return viewCode, nil
	}
	var v view
	for _, c := range contexts {
		switch c {
		case "code":
			v |= viewCode
		case "string":
			v |= viewText
		case "comment":
			v |= viewComment
		default:
			return 0, fmt.Errorf("%q is no context; write code, string or comment", c)
		}
	}
	return v, nil
}

func (v view) sees(c lexer.Class) bool {
	switch c {
	case lexer.Code:
		return v&viewCode != 0
	case lexer.Text:
		return v&viewText != 0
	case lexer.Delimiter:
		return v&(viewCode|viewText) != 0
	default:
		return v&viewComment != 0
	}
}

// hidden stands for a byte of a string or of code that a view does not show.
// Comments become blanks, which is what they are to a compiler.
const hidden = 0

// source is one file with what the checks need to know of it, computed when
// first asked for.
type source struct {
	name     string
	language string
	content  []byte
	starts   []int // offset of each line
	scanned  bool
	classes  []lexer.Class
	streams  []lexer.Stream // the file's tokens, and those of each interpolation
	lower    []byte
	views    map[view][]byte
	parsed   bool
	fset     *token.FileSet
	file     *ast.File
	index    *treeIndex
}

func newSource(name, language string, content []byte) *source {
	s := &source{name: name, language: language, content: content, starts: make([]int, 1, 1+bytes.Count(content, []byte("\n")))}
	for i := 0; ; {
		n := bytes.IndexByte(content[i:], '\n')
		if n < 0 {
			return s
		}
		i += n + 1
		s.starts = append(s.starts, i)
	}
}

func (s *source) scan() {
	if !s.scanned {
		s.scanned = true
		s.classes, s.streams = lexer.Scan(s.language, s.content)
	}
}

// seen is the content as a view shows it, of equal length.
func (s *source) seen(v view) []byte {
	if v == viewAll {
		return s.content
	}
	if out, done := s.views[v]; done {
		return out
	}
	s.scan()
	out := bytes.Clone(s.content)
	for i, c := range s.classes {
		switch {
		case v.sees(c) || out[i] == '\n' || out[i] == '\r':
		case c == lexer.Comment:
			out[i] = ' '
		default:
			out[i] = hidden
		}
	}
	if s.views == nil {
		s.views = map[view][]byte{}
	}
	s.views[v] = out
	return out
}

// lowered is the content with ASCII capitals made small, of equal length.
func (s *source) lowered() []byte {
	if s.lower == nil {
		s.lower = lowerASCII(s.content)
	}
	return s.lower
}

func lowerASCII(b []byte) []byte {
	out := bytes.Clone(b)
	for i, c := range out {
		if c >= 'A' && c <= 'Z' {
			out[i] = c + 'a' - 'A'
		}
	}
	return out
}

// lines is the number of lines; a text that ends with a newline has an empty
// last one.
func (s *source) lines() int { return len(s.starts) }

// lineAt is the number of the line with an offset, from 1.
func (s *source) lineAt(offset int) int {
	i, exact := slices.BinarySearch(s.starts, offset)
	if exact {
		return i + 1
	}
	return i
}

// span is where line n begins and ends, without its newline.
func (s *source) span(n int) (from, to int) {
	from, to = s.starts[n-1], len(s.content)
	if n < len(s.starts) {
		to = s.starts[n] - 1
	}
	if to > from && s.content[to-1] == '\r' {
		to--
	}
	return from, to
}

func (s *source) line(n int) []byte {
	from, to := s.span(n)
	return s.content[from:to]
}

// commentOnly tells whether a line holds a comment and nothing else.
func (s *source) commentOnly(n int) bool {
	s.scan()
	from, to := s.span(n)
	found := false
	for i := from; i < to; i++ {
		switch c := s.content[i]; {
		case s.classes[i] == lexer.Comment:
			found = true
		case c != ' ' && c != '\t':
			return false
		}
	}
	return found
}

func (s *source) finding(from, to int) Finding {
	first, last := s.lineAt(from), s.lineAt(to)
	return Finding{
		Path: s.name, Line: first, Column: from - s.starts[first-1] + 1,
		EndLine: last, EndColumn: to - s.starts[last-1] + 1,
		Excerpt: excerpt(s.line(first)),
	}
}

// excerpt makes a line fit to be shown.
func excerpt(b []byte) string {
	t := strings.TrimSpace(strings.ToValidUTF8(string(b[:min(len(b), 4*maxExcerpt)]), "�"))
	if len(t) <= maxExcerpt {
		return t
	}
	cut := maxExcerpt - len("…")
	for !utf8.RuneStart(t[cut]) {
		cut--
	}
	return t[:cut] + "…"
}
