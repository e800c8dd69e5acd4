package check

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/writbus/writ/schemas/lexer"
)

// queryable are the languages with queries over tokens.
var queryable = map[string]bool{
	langPython: true, langJavaScript: true, langTypeScript: true, langJava: true, langRust: true,
	"kotlin": true, "scala": true, "csharp": true, "swift": true, "dart": true, "php": true, "c": true, "cpp": true,
}

// tokenEngine matches a query against the tokens of a file, by the nesting of
// their brackets.
type tokenEngine struct {
	main    tokenPattern
	clauses []tokenClause
}

type tokenClause struct {
	place   place
	negate  bool
	pattern tokenPattern
}

// element is a part of a token pattern: a token, or a hole.
type element struct {
	text []byte // of a string: without its quotes
	kind lexer.Kind
	hole *hole
}

type tokenPattern struct {
	elements []element
	lines    bool // ends of lines are tokens
	call     bool // it begins like a call of a function by its name
	block    bool // a { behind a call's brackets makes it a declaration
}

func newTokenEngine(language, main string, clauses []clause, h holes) (engine, error) {
	e := &tokenEngine{}
	var err error
	if e.main, err = newTokenPattern(language, main, h); err != nil {
		return nil, err
	}
	named := false
	for _, el := range e.main.elements {
		named = named || el.hole == nil && el.kind != lexer.Punct || el.hole != nil && el.hole.re != nil
	}
	if !named {
		return nil, errors.New("the pattern has no word of its own; name some code in it")
	}
	for _, c := range clauses {
		p, err := newTokenPattern(language, c.text, h)
		if err != nil {
			return nil, err
		}
		p.call = false // a condition may name a declaration
		e.clauses = append(e.clauses, tokenClause{place: c.place, negate: c.negate, pattern: p})
	}
	return e, nil
}

func newTokenPattern(language, from string, h holes) (tokenPattern, error) {
	_, streams := lexer.Scan(language, []byte(from))
	p := tokenPattern{
		lines: lexer.Lines(language),
		block: language == langJava || language == langJavaScript || language == langTypeScript || language == "csharp",
	}
	for _, t := range streams[0] {
		if t.Kind == lexer.Newline {
			continue
		}
		if t.Kind == lexer.Punct && t.Match < 0 && bytes.IndexByte([]byte("()[]"), from[t.From]) >= 0 {
			return p, fmt.Errorf("the bracket %q in the pattern has no partner", from[t.From:t.To])
		}
		e := element{kind: t.Kind, text: []byte(from[t.From:t.To])}
		if t.Kind == lexer.Word {
			e.hole = h[from[t.From:t.To]]
		}
		if t.Kind == lexer.String {
			e.text = unquoted(e.text)
		}
		p.elements = append(p.elements, e)
	}
	if len(p.elements) == 0 {
		return p, errors.New("the pattern is empty")
	}
	p.call = len(p.elements) > 1 && p.elements[0].kind == lexer.Word && p.elements[0].hole == nil && string(p.elements[1].text) == "("
	return p, nil
}

// unquoted takes prefix and quotes off a string.
func unquoted(b []byte) []byte {
	i := bytes.IndexAny(b, "\"'`")
	if i < 0 {
		return b
	}
	b = b[i:]
	n := 1
	for n < 3 && n < len(b) && b[n] == b[0] {
		n++
	}
	if n == 2 || len(b) < 2*n {
		n = 1
	}
	return b[min(n, len(b)):max(len(b)-n, min(n, len(b)))]
}

func (e *tokenEngine) find(src *source, report func(from, to int)) {
	src.scan()
	for _, t := range src.streams {
		m := tokenMatch{src: src, tokens: t, left: 50*len(t) + 10_000}
		for i := range t {
			m.bound = m.bound[:0]
			end := m.at(&e.main, i)
			if end <= i || !e.holds(&m, i, end) {
				continue
			}
			report(int(t[i].From), int(t[end-1].To))
		}
	}
}

// tokenMatch is the search of one pattern in one stream.
type tokenMatch struct {
	src    *source
	tokens lexer.Stream
	bound  []bound
	left   int // steps, so that time stays linear in the file
}

type bound struct {
	name     string
	from, to int // tokens
}

func (m *tokenMatch) text(i int) []byte {
	return m.src.content[m.tokens[i].From:m.tokens[i].To]
}

func (m *tokenMatch) is(i int, text string) bool {
	return i >= 0 && i < len(m.tokens) && string(m.text(i)) == text
}

// expressionAfter are the words that a call may follow; after another word
// stands a declaration.
var expressionAfter = words("return await new throw else in of typeof yield case not and or if elif while assert raise is delete void do unsafe move print match lambda default with del except until loop go defer")

// at matches the pattern from a token on and returns the index behind its last
// token, -1 when it does not match. A call by name is no method of something
// and no declaration; an operand does not begin in the middle of one.
func (m *tokenMatch) at(p *tokenPattern, i int) int {
	first := &p.elements[0]
	if m.tokens[i].Kind == lexer.Newline {
		return -1
	}
	if first.hole == nil {
		if !m.same(first, i) {
			return -1
		}
		if first.kind == lexer.Word && (m.is(i-1, ".") || m.is(i-1, "?.") || m.is(i-1, "->")) {
			return -1
		}
		if p.call && i > 0 && m.tokens[i-1].Kind == lexer.Word && !expressionAfter[string(m.text(i-1))] {
			return -1
		}
	} else if !first.hole.rest && m.midOperand(i) {
		return -1
	}
	end := m.elements(p.elements, i, p.lines)
	if end > 0 && p.call && p.block && m.is(end, "{") && m.is(end-1, ")") {
		return -1
	}
	return end
}

// midOperand tells whether a token goes on with an expression: selected from
// something, or the brackets of a call or an index.
func (m *tokenMatch) midOperand(i int) bool {
	if i == 0 {
		return false
	}
	switch string(m.text(i - 1)) {
	case ".", "?.", "->", "::":
		return true
	}
	if !m.is(i, "(") && !m.is(i, "[") {
		return false
	}
	switch before := m.tokens[i-1]; before.Kind {
	case lexer.Word:
		return !expressionAfter[string(m.text(i-1))] || m.is(i-2, ".")
	case lexer.Punct:
		return m.is(i-1, ")") || m.is(i-1, "]")
	default:
		return before.Kind == lexer.String
	}
}

// same compares one token with one of the pattern.
func (m *tokenMatch) same(e *element, i int) bool {
	t := m.tokens[i]
	switch {
	case e.kind == lexer.String:
		return t.Kind == lexer.String && bytes.Equal(unquoted(m.text(i)), e.text)
	case t.Kind == lexer.Newline:
		return string(e.text) == ";"
	default:
		return t.Kind != lexer.String && bytes.Equal(m.text(i), e.text)
	}
}

func (m *tokenMatch) elements(p []element, i int, lines bool) int {
	if len(p) == 0 {
		return i
	}
	if m.left--; m.left < 0 {
		return -1
	}
	e := &p[0]
	if e.hole != nil && e.hole.rest {
		return m.rest(p, i, lines)
	}
	for lines && i > 0 && i < len(m.tokens) && m.tokens[i].Kind == lexer.Newline && m.is(i-1, ":") {
		i++
	}
	if i >= len(m.tokens) {
		if len(p) == 1 && lines && string(e.text) == ";" {
			return i
		}
		return -1
	}
	switch {
	case e.hole == nil:
		if m.same(e, i) {
			return m.elements(p[1:], i+1, lines)
		}
		// A list that "…, $...)" goes on with may end before the comma.
		if len(p) > 2 && p[1].hole != nil && p[1].hole.rest && string(e.text) == "," && closer(&p[2]) && m.same(&p[2], i) {
			return m.bind(p[1].hole, p[1:], i, i, lines)
		}
		return -1
	case e.hole.re != nil:
		if m.tokens[i].Kind == lexer.Newline || !e.hole.re.Match(m.text(i)) {
			return -1
		}
		return m.bind(e.hole, p, i, i+1, lines)
	default:
		return m.operand(p, i, lines)
	}
}

// bind gives the hole at the head of the pattern its tokens and goes on behind
// them.
func (m *tokenMatch) bind(h *hole, p []element, from, to int, lines bool) int {
	if h.name != "" && h.name != "_" {
		for _, b := range m.bound {
			if b.name == h.name {
				if !m.equal(b.from, b.to, from, to) {
					return -1
				}
				return m.elements(p[1:], to, lines)
			}
		}
		m.bound = append(m.bound, bound{h.name, from, to})
	}
	return m.elements(p[1:], to, lines)
}

func (m *tokenMatch) equal(aFrom, aTo, bFrom, bTo int) bool {
	if aTo-aFrom != bTo-bFrom {
		return false
	}
	for i := range aTo - aFrom {
		if m.left--; !bytes.Equal(m.text(aFrom+i), m.text(bFrom+i)) {
			return false
		}
	}
	return true
}
