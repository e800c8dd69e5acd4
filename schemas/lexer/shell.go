package lexer

import "bytes"

// heredoc is a here-document whose body begins on the next line.
type heredoc struct {
	end      string
	tabs     bool // leading tabs of its last line do not count
	indented bool // nor do blanks; its beginning is a token, its body is none
}

// shellSpecial reads the quoting of a shell. What a double-quoted string
// expands is string; what it runs, $(…) and `…`, is code.
func shellSpecial(s *scanner) bool {
	from := s.pos
	switch c := s.src[s.pos]; c {
	case '\\':
		s.pos = min(s.pos+2, len(s.src))
		s.add(Word, from)
	case '\'':
		s.quoted(from, &quote{mark: "'", multiline: true})
	case '"':
		s.doubleQuoted()
		s.add(String, from)
	case '$':
		if s.peek(1) == '\'' {
			s.pos++
			s.quoted(from, &quote{mark: "'", escapes: true, multiline: true})
			return true
		}
		return false
	case '<':
		if s.has("<<<") {
			s.pos += 3
			s.add(Punct, from)
			return true
		}
		if !s.has("<<") || s.arithmetic() {
			return false
		}
		s.pos += 2
		s.add(Punct, from)
		s.heredocStart()
	default:
		if bytes.IndexByte([]byte(" \t\r\n;|&()<>`{}[]=!\"'\\$"), c) >= 0 {
			return false
		}
		for s.pos < len(s.src) && bytes.IndexByte([]byte(" \t\r\n;|&()<>`{}[]=\"'\\$"), s.src[s.pos]) < 0 {
			s.pos++
		}
		s.add(Word, from)
	}
	return true
}

// arithmetic tells whether the line is in ((…)) here, where << shifts.
func (s *scanner) arithmetic() bool {
	start := bytes.LastIndexByte(s.src[:s.pos], '\n') + 1
	line := s.src[max(start, s.pos-1000):s.pos]
	return bytes.LastIndex(line, []byte("((")) > bytes.LastIndex(line, []byte("))"))
}

func (s *scanner) heredocStart() {
	var h heredoc
	if s.peek(0) == '-' {
		h.tabs = true
		s.pos++
	}
	for s.peek(0) == ' ' || s.peek(0) == '\t' {
		s.pos++
	}
	var end []byte
	for q := byte(0); s.pos < len(s.src); s.pos++ {
		c := s.src[s.pos]
		switch {
		case c == '\n', q == 0 && bytes.IndexByte([]byte(" \t\r;|&()<>"), c) >= 0:
			h.end = string(end)
		case q != 0 && c == q:
			q = 0
			continue
		case q == 0 && (c == '\'' || c == '"'):
			q = c
			continue
		case q == 0 && c == '\\':
			continue
		default:
			end = append(end, c)
			continue
		}
		break
	}
	if h.end = string(end); h.end != "" {
		s.later = append(s.later, h)
	}
}

// heredocs reads the bodies that begin at the position.
func (s *scanner) heredocs() {
	for _, h := range s.later {
		from := s.pos
		for s.pos < len(s.src) {
			end := s.endOfLine()
			line := bytes.TrimSuffix(s.src[s.pos:end], []byte("\r"))
			if h.tabs {
				line = bytes.TrimLeft(line, "\t")
			}
			if h.indented && string(bytes.TrimSpace(line)) == h.end {
				s.mark(min(end+1, len(s.src)), Delimiter)
				break
			}
			if string(line) == h.end && !h.indented {
				s.add(String, from)
				s.mark(end, Delimiter)
				if s.pos < len(s.src) {
					s.pos++
				}
				break
			}
			s.mark(min(end+1, len(s.src)), Text)
		}
	}
	s.later = nil
}

func (s *scanner) doubleQuoted() {
	s.mark(s.pos+1, Delimiter)
	for s.pos < len(s.src) {
		switch c := s.src[s.pos]; {
		case c == '\\':
			s.mark(s.pos+2, Text)
		case c == '"':
			s.mark(s.pos+1, Delimiter)
			return
		case !s.expansion():
			s.mark(s.pos+1, Text)
		}
	}
}

// expansion reads $(…), `…` or ${…} in a double-quoted string.
func (s *scanner) expansion() bool {
	if s.nesting >= maxNesting {
		return false
	}
	switch {
	case s.has("$("):
		s.mark(s.pos+2, Delimiter)
		s.interpolation(')', false)
		s.mark(s.pos+1, Delimiter)
	case s.has("`"):
		s.mark(s.pos+1, Delimiter)
		s.interpolation('`', false)
		s.mark(s.pos+1, Delimiter)
	case s.has("${"):
		s.parameter()
	default:
		return false
	}
	return true
}

// parameter reads ${…} in a double-quoted string, where quotes nest.
func (s *scanner) parameter() {
	s.mark(s.pos+2, Text)
	s.nesting++
	defer func() { s.nesting-- }()
	for s.pos < len(s.src) {
		switch c := s.src[s.pos]; {
		case c == '\\':
			s.mark(s.pos+2, Text)
		case c == '}':
			s.mark(s.pos+1, Text)
			return
		case c == '"' && s.nesting < maxNesting:
			s.doubleQuoted()
		case !s.expansion():
			s.mark(s.pos+1, Text)
		}
	}
}
