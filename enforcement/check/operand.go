package check

import (
	"bytes"

	"github.com/writbus/writ/schemas/lexer"
)

// rest matches any number of tokens. Before a closing bracket it takes all
// that is in the brackets, else as little as it can of one statement.
func (m *tokenMatch) rest(p []element, i int, lines bool) int {
	if len(p) == 1 {
		return m.bind(p[0].hole, p, i, i, lines)
	}
	if closer(&p[1]) {
		end := m.closing(i)
		if end < 0 {
			return -1
		}
		return m.bind(p[0].hole, p, i, end, lines)
	}
	// A list that begins with "$..., x" may begin with x.
	if len(p) > 2 && p[1].hole == nil && string(p[1].text) == "," && i > 0 && m.tokens[i-1].Match > int32(i-1) {
		saved := len(m.bound)
		if got := m.bind(p[0].hole, p[1:], i, i, lines); got >= 0 {
			return got
		}
		m.bound = m.bound[:saved]
	}
	for end := i; ; {
		saved := len(m.bound)
		if got := m.bind(p[0].hole, p, i, end, lines); got >= 0 {
			return got
		}
		m.bound = m.bound[:saved]
		if end = m.skip(end); end < 0 || m.left < 0 {
			return -1
		}
	}
}

// closer tells whether an element is a closing bracket.
func closer(e *element) bool {
	return e.hole == nil && e.kind == lexer.Punct && len(e.text) == 1 && bytes.IndexByte([]byte(")]}"), e.text[0]) >= 0
}

// closing is the index of the bracket that closes the one a position is in.
func (m *tokenMatch) closing(i int) int {
	if i == 0 || i > len(m.tokens) {
		return -1
	}
	open := int32(i - 1)
	if t := m.tokens[open]; t.Match <= open {
		open = t.Parent
	}
	if open < 0 {
		return -1
	}
	return int(m.tokens[open].Match)
}

// skip passes over one token or one pair of brackets; -1 at the end of the
// statement.
func (m *tokenMatch) skip(i int) int {
	if i >= len(m.tokens) {
		return -1
	}
	t := m.tokens[i]
	switch {
	case t.Kind == lexer.Newline:
		return -1
	case t.Kind != lexer.Punct:
		return i + 1
	}
	switch c := m.src.content[t.From]; c {
	case ';', ')', ']', '}':
		return -1
	case '(', '[', '{':
		if t.To-t.From == 1 {
			if t.Match < 0 {
				return -1
			}
			return int(t.Match) + 1
		}
	}
	return i + 1
}

var operandPrefix = words("new await ! - & * ~ not typeof mut")

// operand matches one expression, as short as the rest of the pattern allows:
// a name, literal or bracket with what is selected, called or indexed on it.
func (m *tokenMatch) operand(p []element, i int, lines bool) int {
	end := i
	for end < len(m.tokens) && operandPrefix[string(m.text(end))] {
		end++
	}
	if end >= len(m.tokens) {
		return -1
	}
	switch t := m.tokens[end]; {
	case t.Kind == lexer.Newline:
		return -1
	case t.Kind == lexer.Punct:
		if t.Match <= int32(end) {
			return -1
		}
		end = int(t.Match) + 1
	default:
		end++
	}
	for {
		saved := len(m.bound)
		if got := m.bind(p[0].hole, p, i, end, lines); got >= 0 {
			return got
		}
		m.bound = m.bound[:saved]
		switch {
		case m.left < 0 || end >= len(m.tokens):
			return -1
		case (m.is(end, ".") || m.is(end, "?.") || m.is(end, "::") || m.is(end, "->")) && end+1 < len(m.tokens):
			end += 2
			if t := m.tokens[end-1]; t.Kind == lexer.Punct && t.Match > int32(end-1) {
				end = int(t.Match) + 1
			}
		case (m.is(end, "(") || m.is(end, "[")) && m.tokens[end].Match > int32(end):
			end = int(m.tokens[end].Match) + 1
		case m.is(end, "?") || m.is(end, "!"):
			end++
		default:
			return -1
		}
	}
}
