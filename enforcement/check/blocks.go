package check

import "github.com/writbus/writ/schemas/lexer"

// header is the head of a block: the tokens before its { or its colon.
type header struct{ from, to int }

// holds tells whether all conditions are true of a match.
func (e *tokenEngine) holds(m *tokenMatch, from, to int) bool {
	for i := range e.clauses {
		c := &e.clauses[i]
		saved := len(m.bound)
		met := c.met(m, from, to)
		m.bound = m.bound[:saved]
		if met == c.negate {
			return false
		}
	}
	return true
}

func (c *tokenClause) met(m *tokenMatch, from, to int) bool {
	switch c.place {
	case before:
		return to < len(m.tokens) && m.elements(c.pattern.elements, to, c.pattern.lines) > to
	case inside, within:
		for at := from; ; {
			h, outer, found := m.enclosing(at, c.pattern.lines)
			if !found {
				return false
			}
			if m.contains(&c.pattern, h.from, h.to+1) { // with its { or colon
				return true
			}
			if c.place == inside && m.function(h) {
				return false
			}
			at = outer
		}
	case having:
		begin, end := m.body(from, c.pattern.lines)
		return m.contains(&c.pattern, begin, end)
	default:
		return m.contains(&c.pattern, 0, len(m.tokens))
	}
}

// contains tells whether a pattern matches from one of the tokens on. What the
// holes bind on the way is forgotten.
func (m *tokenMatch) contains(p *tokenPattern, from, to int) bool {
	saved := len(m.bound)
	for i := from; i < to && m.left >= 0; i++ {
		m.left--
		end := m.at(p, i)
		m.bound = m.bound[:saved]
		if end > 0 && end <= to {
			return true
		}
	}
	return false
}

// enclosing finds the block around a token, and from which token to look for
// the next one.
func (m *tokenMatch) enclosing(at int, lines bool) (h header, outer int, found bool) {
	if lines {
		return m.enclosingLine(at)
	}
	for at >= 0 {
		if m.left--; m.left < 0 {
			return header{}, 0, false
		}
		// An arrow without braces makes a function of the expression behind it.
		start := m.statementStart(at)
		for i := start; i < at; i++ {
			if m.is(i, "=>") {
				return header{start, i + 1}, start - 1, true
			}
			if t := m.tokens[i]; t.Match > int32(i) {
				i = int(t.Match)
			}
		}
		up := int(m.tokens[at].Parent)
		if up < 0 {
			return header{}, 0, false
		}
		if m.is(up, "{") {
			begin := m.statementStart(up)
			return header{begin, up}, begin, true
		}
		at = up
	}
	return header{}, 0, false
}

// statementStart goes back from a token to the first of its statement or
// argument.
func (m *tokenMatch) statementStart(at int) int {
	i := at
	for i > 0 && m.left >= 0 {
		m.left--
		t := m.tokens[i-1]
		if t.Kind == lexer.Punct {
			switch m.src.content[t.From] {
			case ';', '{', '(', '[':
				return i
			case ',':
				return i
			case '}':
				return i
			case ')', ']':
				if t.Match >= 0 {
					i = int(t.Match)
					continue
				}
			}
		}
		i--
	}
	return i
}

// enclosingLine finds the line with a colon at its end that a token of Python
// is indented under.
func (m *tokenMatch) enclosingLine(at int) (h header, outer int, found bool) {
	start := m.lineStart(at)
	column := m.column(start)
	for i := start - 1; i > 0 && m.left >= 0; {
		if m.tokens[i].Kind != lexer.Newline || m.tokens[i-1].Kind == lexer.Newline {
			m.left--
			i--
			continue
		}
		begin := m.lineStart(i - 1)
		if c := m.column(begin); c < column {
			if m.is(i-1, ":") {
				return header{begin, i - 1}, begin, true
			}
			column = c
		}
		i = begin - 1
	}
	return header{}, 0, false
}

// lineStart is the first token of the logical line that a token is on.
func (m *tokenMatch) lineStart(at int) int {
	i := max(at, 0)
	for i > 0 && m.tokens[i-1].Kind != lexer.Newline {
		m.left--
		if t := m.tokens[i-1]; t.Match >= 0 && int(t.Match) < i-1 {
			i = int(t.Match)
			continue
		}
		i--
	}
	return i
}

// column is how far a token is indented, in bytes.
func (m *tokenMatch) column(i int) int {
	if i >= len(m.tokens) {
		return 0
	}
	from := int(m.tokens[i].From)
	return from - m.src.starts[m.src.lineAt(from)-1]
}

var functionWords = words("def fn func function fun lambda =>")

var controlWords = words("if for while switch catch do else try synchronized with return match loop unsafe using lock foreach when elif except finally class")

// function tells whether a block is the body of a function, by its head.
func (m *tokenMatch) function(h header) bool {
	called, control := false, false
	for i := h.from; i < h.to; i++ {
		t := string(m.text(i))
		switch {
		case functionWords[t]:
			return true
		case controlWords[t] || t == "=":
			control = true
		case t == "(":
			called = called || i > h.from && m.tokens[i-1].Kind == lexer.Word
		}
		if to := m.tokens[i].Match; to > int32(i) {
			i = int(to)
		}
	}
	return called && !control
}

// body is the tokens of the innermost function around a token, its head
// included; all where there is none.
func (m *tokenMatch) body(at int, lines bool) (from, to int) {
	for {
		h, outer, found := m.enclosing(at, lines)
		if !found {
			return 0, len(m.tokens)
		}
		if !m.function(h) {
			at = outer
			continue
		}
		if lines {
			return h.from, m.blockEnd(h)
		}
		if h.to < len(m.tokens) && m.is(h.to, "{") && m.tokens[h.to].Match >= 0 {
			return h.from, int(m.tokens[h.to].Match)
		}
		end := h.to
		for next := end; next >= 0; next = m.skip(end) {
			end = next
		}
		return h.from, end
	}
}

// blockEnd is where the lines under a head of Python end.
func (m *tokenMatch) blockEnd(h header) int {
	column := m.column(h.from)
	for i := h.to; i < len(m.tokens); i++ {
		m.left--
		if m.tokens[i].Kind == lexer.Newline && i+1 < len(m.tokens) && m.tokens[i+1].Kind != lexer.Newline && m.column(i+1) <= column {
			return i
		}
	}
	return len(m.tokens)
}
