package lexer

import (
	"bytes"
	"regexp"
)

var (
	rubyHere   = regexp.MustCompile(`^<<[~-]?(["'` + "`" + `]?)([A-Z_][A-Za-z0-9_]*)["'` + "`" + `]?`)
	rubyList   = regexp.MustCompile(`^%[qQwWiIrsx]?([\[({<|!/])`)
	rubySymbol = regexp.MustCompile(`^:(?:[A-Za-z_]\w*[?!=]?|"[^"\n]*"|'[^'\n]*')`)
)

// rubySpecial reads here-documents, lists such as %w[a b], symbols, regular
// expressions and comments from =begin to =end.
func rubySpecial(s *scanner) bool {
	switch c := s.src[s.pos]; {
	case c == '=' && s.has("=begin") && (s.pos == 0 || s.peek(-1) == '\n'):
		end := len(s.src)
		if n := bytes.Index(s.rest(), []byte("\n=end")); n >= 0 {
			end = s.pos + n + len("\n=end")
		}
		s.mark(end, Comment)
		return true
	case c == '/':
		return s.rubyOperand() && s.regex()
	case c == '<':
		m := rubyHere.FindSubmatch(s.ahead(100))
		if m == nil || !s.rubyOperand() {
			return false
		}
		s.wholeString(s.pos + len(m[0]))
		s.later = append(s.later, heredoc{end: string(m[2]), indented: true})
		return true
	case c == '%':
		m := rubyList.FindSubmatch(s.ahead(4))
		if m == nil || !s.rubyOperand() {
			return false
		}
		s.wholeString(s.closing(s.pos+len(m[0]), m[1][0]))
		return true
	case c == ':' && s.peek(-1) != ':':
		if m := rubySymbol.Find(s.ahead(200)); m != nil {
			s.wholeString(s.pos + len(m))
			return true
		}
	}
	return false
}

// wholeString takes everything up to an offset for a string.
func (s *scanner) wholeString(to int) {
	from := s.pos
	s.mark(to, Text)
	s.add(String, from)
}

// closing is the offset behind the mark that closes a list, whose kind may nest.
func (s *scanner) closing(at int, open byte) int {
	end := open
	if i := bytes.IndexByte([]byte("[({<"), open); i >= 0 {
		end = "])}>"[i]
	}
	for depth := 1; at < len(s.src); at++ {
		switch c := s.src[at]; {
		case c == '\\':
			at++
		case c == end:
			if depth--; depth == 0 {
				return at + 1
			}
		case c == open:
			depth++
		}
	}
	return len(s.src)
}

var rubyOperandAfter = words("return case in do else and or not if unless while until when puts yield match expect throw new")

// rubyOperand tells whether an expression may begin here. A word may be a call
// without brackets, which a blank before and none behind the mark tells.
func (s *scanner) rubyOperand() bool {
	if len(s.tokens) == 0 {
		return true
	}
	last := s.tokens[len(s.tokens)-1]
	t := string(s.src[last.From:last.To])
	switch {
	case last.Kind == Newline:
		return true
	case last.Kind == Punct && (t != "?" && t != "!" || last.From == 0 || !Letter(s.src[last.From-1])):
		return t != ")" && t != "]" && t != "}"
	case last.Kind == Number || last.Kind == String:
		return false
	}
	return rubyOperandAfter[t] || s.peek(-1) == ' ' && s.peek(1) != ' ' && s.peek(1) != 0
}

var phpHere = regexp.MustCompile(`^<<<[ \t]*["']?([A-Za-z_]\w*)["']?\r?$`)

// phpSpecial reads here-documents, and # comments, which are not attributes
// #[…].
func phpSpecial(s *scanner) bool {
	switch c := s.src[s.pos]; {
	case c == '#' && s.peek(1) != '[':
		s.mark(s.endOfLine(), Comment)
		return true
	case c == '<' && s.has("<<<"):
		if m := phpHere.FindSubmatch(s.ahead(200)); m != nil {
			s.phpHeredoc(m[1])
			return true
		}
	}
	return false
}

func (s *scanner) phpHeredoc(end []byte) {
	from := s.pos
	s.mark(s.endOfLine(), Delimiter)
	for s.pos < len(s.src) {
		s.mark(s.pos+1, Text)
		line := s.src[s.pos:s.endOfLine()]
		content := bytes.TrimLeft(line, " \t")
		if after, ok := bytes.CutPrefix(content, end); ok && (len(after) == 0 || !Letter(after[0]) && !Digit(after[0])) {
			s.mark(s.pos+len(line)-len(after), Delimiter)
			break
		}
		s.mark(s.endOfLine(), Text)
	}
	s.add(String, from)
}
