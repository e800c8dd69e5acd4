package programnames

import "strings"

// word is a word of the line.
type word struct {
	text    string
	known   bool // text is what the shell makes of it, home folder apart
	quoted  bool // a part of it is quoted, so that it is no reserved word
	assigns bool // NAME=… without quotes in the name
}

// word reads up to the next character that ends one.
func (r *reader) word() word {
	w := word{known: true}
	var text strings.Builder
	for r.at < len(r.src) {
		c := r.src[r.at]
		switch c {
		case ' ', '\t', '\n', ';', '&', '|', '<', '>', '(', ')':
			w.text = text.String()
			return w
		case '\\':
			if !r.has("\\\n") {
				w.quoted = true
				text.WriteByte(r.peek(1))
			}
			if r.peek(1) == 0 {
				r.fail()
			}
			r.at += 2
		case '\'':
			w.quoted = true
			text.WriteString(r.single())
		case '"':
			w.quoted = true
			w.known = r.double(&text) && w.known
		case '$', '`':
			w.known = r.expansion(&text, false) && w.known
		case '*', '?', '[', '{', '}', '^':
			lone := (c == '{' || c == '}') && text.Len() == 0 && ends(r.peek(1)) || c == '[' && text.Len() == 0 && (ends(r.peek(1)) || r.has("[[") && ends(r.peek(2)))
			w.known = w.known && (lone || text.String() == "[" && c == '[')
			text.WriteByte(c)
			r.at++
		case '=':
			w.assigns = w.assigns || !w.quoted && w.known && isName(strings.TrimSuffix(text.String(), "+"))
			if w.assigns && r.peek(1) == '(' {
				r.fail()
			}
			text.WriteByte(c)
			r.at++
		default:
			text.WriteByte(c)
			r.at++
		}
	}
	w.text = text.String()
	return w
}

func ends(c byte) bool { return c == 0 || strings.IndexByte(" \t\n;&|<>()", c) >= 0 }

func isName(s string) bool {
	for i := range len(s) {
		if c := s[i]; c != '_' && (c|0x20 < 'a' || c|0x20 > 'z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

func (r *reader) single() string {
	n := strings.IndexByte(r.src[r.at+1:], '\'')
	if n < 0 {
		r.fail()
		return ""
	}
	text := r.src[r.at+1 : r.at+1+n]
	r.at += n + 2
	return text
}

// double reads between double quotes and says whether the text is known.
func (r *reader) double(text *strings.Builder) bool {
	known := true
	for r.at++; r.at < len(r.src); {
		switch c := r.src[r.at]; c {
		case '"':
			r.at++
			return known
		case '\\':
			next := r.peek(1)
			if strings.IndexByte("$`\"\\\n", next) < 0 {
				text.WriteByte(c)
			}
			if next != '\n' {
				text.WriteByte(next)
			}
			r.at += 2
		case '$', '`':
			known = r.expansion(text, true) && known
		default:
			text.WriteByte(c)
			r.at++
		}
	}
	r.fail()
	return false
}

// expansion reads from a dollar sign or a backquote on and says whether the
// text is known, which it is for a lone dollar sign only.
func (r *reader) expansion(text *strings.Builder, quoted bool) bool {
	if r.src[r.at] == '`' {
		r.backquotes(quoted)
		return false
	}
	next := r.peek(1)
	switch {
	case r.has("$(("), r.has("$["), r.has("$'") && !quoted, r.has("$\"") && !quoted, r.has("$\\\n"):
		r.fail()
	case next == '(':
		r.at++
		r.bracket()
	case next == '{':
		r.parameter()
	case isName(string(next)):
		for r.at++; r.at < len(r.src) && isName("_"+r.src[r.at:r.at+1]); {
			r.at++
		}
		if r.peek(0) == '[' {
			r.fail() // zsh takes it for an index, which it computes
		}
	case next != 0 && strings.IndexByte("@*#?-$!0123456789", next) >= 0:
		r.at += 2
	default:
		text.WriteByte('$')
		r.at++
		return true
	}
	return false
}

// parameter reads ${NAME} and ${NAME…} where what follows the name is computed
// by no one and quotes nothing.
func (r *reader) parameter() {
	n := strings.IndexByte(r.src[r.at:], '}')
	if n < 0 {
		r.fail()
		return
	}
	inner := r.src[r.at+2 : r.at+n]
	end := 0
	for end < len(inner) && isName("_"+inner[end:end+1]) {
		end++
	}
	rest := inner[end:]
	plain := end > 0 && !strings.ContainsAny(rest, "$`'\"\\{\n")
	switch {
	case !plain:
		r.fail()
	case rest == "", strings.IndexByte("-+=?%#/", rest[0]) >= 0:
		r.at += n + 1
	case len(rest) > 1 && rest[0] == ':' && strings.IndexByte("-+=?", rest[1]) >= 0:
		r.at += n + 1
	default:
		r.fail()
	}
}

// backquotes reads a command between them, in which a backslash hides another
// backslash, a dollar sign and a backquote.
func (r *reader) backquotes(quoted bool) {
	var inner strings.Builder
	for r.at++; r.at < len(r.src); r.at++ {
		c := r.src[r.at]
		if c == '`' {
			r.at++
			sub := reader{src: inner.String(), depth: r.depth}
			sub.list(0)
			r.names = append(r.names, sub.names...)
			if sub.failed {
				r.fail()
			}
			return
		}
		if next := r.peek(1); c == '\\' && (next == '`' || next == '\\' || next == '$' || quoted && next == '"') {
			r.at++
			c = next
		}
		inner.WriteByte(c)
	}
	r.fail()
}
