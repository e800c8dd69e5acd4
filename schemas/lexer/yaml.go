package lexer

import "bytes"

// yamlSpecial reads quoted and block scalars; plain scalars are code.
func yamlSpecial(s *scanner) bool {
	from := s.pos
	switch c := s.src[s.pos]; c {
	case '"', '\'':
		if !s.valueStart() {
			break
		}
		if c == '"' {
			s.quoted(from, &quote{mark: `"`, escapes: true, multiline: true})
		} else {
			s.quoted(from, &quote{mark: "'", doubled: true, multiline: true})
		}
		return true
	case '|', '>':
		if s.valueStart() && s.blockScalar() {
			return true
		}
	}
	if c := s.src[s.pos]; blank(c) || bytes.IndexByte([]byte("[]{},:"), c) >= 0 {
		return false
	}
	for s.pos++; s.pos < len(s.src) && !blank(s.src[s.pos]) && bytes.IndexByte([]byte("[]{},:"), s.src[s.pos]) < 0; s.pos++ {
	}
	s.add(Word, from)
	return true
}

// valueStart tells whether a value may begin here rather than go on.
func (s *scanner) valueStart() bool {
	for i := s.pos - 1; i >= 0 && i > s.pos-200; i-- {
		switch c := s.src[i]; c {
		case ' ', '\t':
		case '\n', ':', '[', '{', ',', '-', '?':
			return true
		default:
			// A tag or an anchor may stand before the value.
			for limit := s.pos - 200; i >= max(limit, 0) && s.src[i] > ' '; i-- {
			}
			return i+1 < len(s.src) && (s.src[i+1] == '!' || s.src[i+1] == '&')
		}
	}
	return true
}

// blockScalar reads | or > with the lines below that are indented deeper than
// the key or dash they belong to.
func (s *scanner) blockScalar() bool {
	header := bytes.TrimLeft(s.ahead(1000)[1:], "+-0123456789")
	if header = bytes.TrimSpace(header); len(header) > 0 && header[0] != '#' {
		return false
	}
	end := s.endOfLine()
	from := s.pos
	outer := s.keyColumn()
	s.pos++
	for s.pos < end && s.src[s.pos] != '#' {
		s.pos++
	}
	s.mark(end, Comment)
	for s.pos < len(s.src) {
		next := s.pos + 1
		to := len(s.src)
		if n := bytes.IndexByte(s.src[next:], '\n'); n >= 0 {
			to = next + n
		}
		line := s.src[next:to]
		content := bytes.TrimLeft(line, " ")
		if len(bytes.TrimSpace(line)) > 0 && len(line)-len(content) <= outer {
			break
		}
		s.mark(to, Text)
	}
	s.add(String, from)
	return true
}

// keyColumn is the column of the line's key, behind the dashes of a list;
// content of a block scalar stands to the right of it. A scalar that is itself
// an item of a list stands to the right of the dash.
func (s *scanner) keyColumn() int {
	start := bytes.LastIndexByte(s.src[:s.pos], '\n') + 1
	line := s.src[start:s.pos]
	column, dash := 0, -1
	for column < len(line) && (line[column] == ' ' || line[column] == '-') {
		if line[column] == '-' {
			dash = column
		}
		column++
	}
	switch {
	case column < len(line):
		return column
	case dash >= 0:
		return dash
	default:
		return -1
	}
}
