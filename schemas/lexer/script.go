package lexer

import (
	"bytes"

	"github.com/writbus/writ/schemas/wordset"
)

// interpolation reads code in a string up to the bracket that closes it, or to
// the end of the line where the string ends there too. The closing bracket is
// left to the caller. Its tokens become a Stream of their own.
func (s *scanner) interpolation(closing byte, oneLine bool) {
	outer := s.tokens
	s.tokens = nil
	s.nesting++
	cases := 0 // of a shell, whose patterns end with a bracket that opened nowhere
	for depth := 0; s.pos < len(s.src); {
		c := s.src[s.pos]
		if oneLine && c == '\n' || c == closing && depth == 0 && cases == 0 {
			break
		}
		switch c {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth = max(depth-1, 0)
		case ':':
			if oneLine && depth == 0 && closing == '}' && s.peek(1) != '=' {
				s.formatSpec()
				continue
			}
		}
		before := s.pos
		s.next()
		if closing == ')' {
			switch string(s.src[before:s.pos]) {
			case "case":
				cases++
			case "esac":
				cases = max(cases-1, 0)
			}
		}
	}
	s.finish()
	s.done = append(s.done, s.tokens)
	s.tokens = outer
	s.nesting--
}

// formatSpec reads what follows the colon in an interpolation of Python.
func (s *scanner) formatSpec() {
	at, depth := s.pos, 0
	for ; at < len(s.src) && s.src[at] != '\n'; at++ {
		switch s.src[at] {
		case '{':
			depth++
		case '}':
			depth--
		}
		if depth < 0 {
			break
		}
	}
	s.mark(at, Text)
}

// scriptSpecial reads the templates and regular expressions of JavaScript.
func scriptSpecial(s *scanner) bool {
	switch s.src[s.pos] {
	case '`':
		s.template()
		return true
	case '/':
		return s.operand() && s.regex()
	}
	return false
}

func (s *scanner) template() {
	from := s.pos
	s.mark(s.pos+1, Delimiter)
	at := s.pos
	for at < len(s.src) {
		switch c := s.src[at]; {
		case c == '\\':
			at += 2
		case c == '`':
			s.mark(at, Text)
			s.mark(at+1, Delimiter)
			s.add(String, from)
			return
		case c == '$' && at+1 < len(s.src) && s.src[at+1] == '{' && s.nesting < maxNesting:
			s.mark(at, Text)
			s.mark(at+2, Delimiter)
			s.interpolation('}', false)
			s.mark(s.pos+1, Delimiter)
			at = s.pos
		default:
			at++
		}
	}
	s.mark(len(s.src), Text)
	s.add(String, from)
}

// operandAfter are the words that an expression may follow.
var operandAfter = words("return typeof case in of delete void throw new else do instanceof yield await")

// operand tells whether an expression may begin here, which decides what a
// slash means.
func (s *scanner) operand() bool {
	if len(s.tokens) == 0 {
		return true
	}
	last := s.tokens[len(s.tokens)-1]
	t := string(s.src[last.From:last.To])
	switch last.Kind {
	case Word:
		return operandAfter[t]
	case Punct:
		switch t {
		case "]", "++", "--":
			return false
		case ")":
			return s.afterCondition()
		}
		return true
	default:
		return false
	}
}

// afterCondition tells whether the bracket just closed belongs to an if, while,
// for or with. It looks back over a bounded number of tokens.
func (s *scanner) afterCondition() bool {
	depth := 0
	for i := len(s.tokens) - 1; i > 0 && i > len(s.tokens)-200; i-- {
		switch s.src[s.tokens[i].From] {
		case ')':
			depth++
		case '(':
			if depth--; depth == 0 {
				before := s.tokens[i-1]
				switch string(s.src[before.From:before.To]) {
				case "if", "while", "for", "with":
					return true
				}
				return false
			}
		}
	}
	return false
}

func (s *scanner) regex() bool {
	from, inSet := s.pos, false
	line := s.ahead(2000)
	for i := 1; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\\':
			i++
		case c == '[':
			inSet = true
		case c == ']':
			inSet = false
		case c == '/' && !inSet:
			s.mark(s.pos+1, Delimiter)
			s.mark(from+i, Text)
			s.mark(s.pos+1, Delimiter)
			for Letter(s.peek(0)) {
				s.mark(s.pos+1, Delimiter)
			}
			s.add(String, from)
			return true
		}
	}
	return false
}

// pythonSpecial reads strings with a prefix.
func pythonSpecial(s *scanner) bool {
	n, formatted := 0, false
	for ; n < 3; n++ {
		c := s.peek(n) | 0x20
		if bytes.IndexByte([]byte("rbuft"), c) < 0 {
			break
		}
		formatted = formatted || c == 'f' || c == 't'
	}
	if c := s.peek(n); n == 0 || c != '"' && c != '\'' {
		return false
	}
	from := s.pos
	for s.pos += n; ; {
		for i := range s.d.quotes {
			if q := &s.d.quotes[i]; s.has(q.mark) {
				if formatted {
					s.formatString(from, q)
				} else {
					s.quoted(from, q)
				}
				return true
			}
		}
	}
}

func (s *scanner) formatString(from int, q *quote) {
	for i := from; i < s.pos; i++ {
		s.classes[i] = Delimiter
	}
	s.mark(s.pos+len(q.mark), Delimiter)
	at := s.pos
	for at < len(s.src) {
		switch c := s.src[at]; {
		case c == '\n' && !q.multiline:
			s.mark(at, Text)
			s.add(String, from)
			return
		case c == '\\', c == '{' && at+1 < len(s.src) && s.src[at+1] == '{':
			at += 2
		case c == '{' && s.nesting < maxNesting:
			s.mark(at, Text)
			s.mark(at+1, Delimiter)
			s.interpolation('}', true)
			if s.peek(0) == '}' {
				s.mark(s.pos+1, Delimiter)
			}
			at = s.pos
			if q.multiline && s.peek(0) == '\n' {
				at++
			}
		case c == q.mark[0] && bytes.HasPrefix(s.src[at:], []byte(q.mark)):
			s.mark(at, Text)
			s.mark(at+len(q.mark), Delimiter)
			s.add(String, from)
			return
		default:
			at++
		}
	}
	s.mark(len(s.src), Text)
	s.add(String, from)
}

var words = wordset.Of
