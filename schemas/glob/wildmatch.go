package glob

import (
	"strings"
	"unicode/utf8"
)

// Pattern matches whole paths with slashes. The zero value matches only "".
type Pattern struct {
	tokens []token
	bytes  bool // a character is a byte, else a rune
}

type token struct {
	kind kind
	text string // of literal
	in   []rune // of class: pairs of first and last
	not  bool   // of class
}

type kind uint8

const (
	literal kind = iota
	anyone       // "?"
	class        // "[a-z]"
	star         // "*"
	folders      // "**/", any number of folders, with the slash
	rest         // "**" at the end, anything
)

// Wildmatch reads a pattern the way git does: "*" and "?" stay within a name,
// "**" between slashes goes over any number of folders, classes may be negated
// and named, and a character is a byte. Text before the pattern is taken as it
// stands. A pattern that matches nothing, such as "[a", is refused.
func Wildmatch(before, pattern string) (p Pattern, ok bool) {
	r := reader{special: `*?[\`, git: true}
	if r.literal(before); !r.read(pattern) {
		return Pattern{}, false
	}
	return Pattern{r.tokens, true}, true
}

// Stars reads a pattern whose only signs are "*", any text within a name, and
// "**", any number of folders; at the end "**" is at least one name.
func Stars(pattern string) Pattern {
	r := reader{special: "*"}
	r.read(pattern)
	return Pattern{tokens: r.tokens}
}

// reader turns a pattern into tokens.
type reader struct {
	special string
	git     bool
	tokens  []token
}

func (r *reader) literal(text string) {
	switch last := len(r.tokens) - 1; {
	case text == "":
	case last >= 0 && r.tokens[last].kind == literal:
		r.tokens[last].text += text
	default:
		r.tokens = append(r.tokens, token{kind: literal, text: text})
	}
}

func (r *reader) read(pattern string) bool {
	for at := 0; at < len(pattern); {
		if c := pattern[at]; strings.IndexByte(r.special, c) < 0 {
			r.literal(pattern[at : at+1])
			at++
			continue
		}
		switch pattern[at] {
		case '?':
			r.tokens = append(r.tokens, token{kind: anyone})
			at++
		case '\\':
			if at+1 == len(pattern) {
				return false
			}
			r.literal(pattern[at+1 : at+2])
			at += 2
		case '[':
			length, t := r.class(pattern[at:])
			if length == 0 {
				return false
			}
			r.tokens = append(r.tokens, t)
			at += length
		case '*':
			at = r.stars(pattern, at)
		}
	}
	return true
}

// stars reads a run of stars, which goes over folders where it is a whole part
// of the path.
func (r *reader) stars(pattern string, at int) int {
	end := at
	for end < len(pattern) && pattern[end] == '*' {
		end++
	}
	begins := at == 0 || pattern[at-1] == '/'
	whole := begins && (end == len(pattern) || pattern[end] == '/')
	switch n := end - at; {
	case n > 1 && begins && r.git && strings.HasPrefix(pattern[end:], `\/`): // one folder at the least
		r.tokens = append(r.tokens, token{kind: star}, token{kind: literal, text: "/"}, token{kind: folders})
		end += 2
	case !whole || n == 1 || n > 2 && !r.git:
		r.tokens = append(r.tokens, token{kind: star})
	case end == len(pattern):
		r.tokens = append(r.tokens, token{kind: rest})
	default:
		r.tokens = append(r.tokens, token{kind: folders})
		end++
	}
	return end
}

// classes are the named classes, as pairs of first and last.
var classes = map[string]string{
	"alnum": "09AZaz", "alpha": "AZaz", "blank": "  \t\t", "cntrl": "\x00\x1f\x7f\x7f", "digit": "09", "graph": "!~",
	"lower": "az", "print": " ~", "punct": "!/:@[`{~", "space": "  \t\n\r\r", "upper": "AZ", "xdigit": "09AFaf",
}

// class reads the class that a pattern begins with; its length is 0 where it
// does not end or is not known.
func (r *reader) class(pattern string) (length int, t token) {
	t, at := token{kind: class}, 1
	if at < len(pattern) && (pattern[at] == '!' || pattern[at] == '^') {
		t.not = true
		at++
	}
	for first := true; at < len(pattern); first = false {
		switch {
		case pattern[at] == ']' && !first:
			return at + 1, t
		case strings.HasPrefix(pattern[at:], "[:"):
			name, _, _ := strings.Cut(pattern[at+2:], "]")
			if name, named := strings.CutSuffix(name, ":"); named { // else "[" is a member
				pairs, known := classes[name]
				if !known {
					return 0, t
				}
				t.in = append(t.in, []rune(pairs)...)
				at += len(name) + len("[::]")
				continue
			}
		}
		low, size := r.member(pattern[at:])
		if size == 0 {
			return 0, t
		}
		at += size
		high := low
		if at+1 < len(pattern) && pattern[at] == '-' && pattern[at+1] != ']' {
			var more int
			if high, more = r.member(pattern[at+1:]); more == 0 {
				return 0, t
			}
			at += 1 + more
		}
		t.in = append(t.in, low, max(low, high))
	}
	return 0, t
}

// member is a character of a class.
func (r *reader) member(pattern string) (c rune, size int) {
	if pattern[0] == '\\' {
		if len(pattern) == 1 {
			return 0, 0
		}
		c, size = character(pattern[1:], r.git)
		return c, size + 1
	}
	return character(pattern, r.git)
}

func character(text string, bytes bool) (rune, int) {
	if bytes {
		return rune(text[0]), 1
	}
	return utf8.DecodeRuneInString(text)
}

func (t *token) holds(c rune) bool {
	if t.kind == anyone {
		return true
	}
	for i := 0; i < len(t.in); i += 2 {
		if t.in[i] <= c && c <= t.in[i+1] {
			return !t.not
		}
	}
	return t.not
}

// Match says whether a path matches. It takes time in proportion to the length
// of the pattern times, at worst, the square of the path's: where a part does
// not fit, only the last "*" and the last "**" are tried with more, since an
// earlier one could reach no further.
func (p Pattern) Match(name string) bool {
	t, n := 0, 0
	within, withinAt := -1, 0 // the token after the last star, and how far the star reaches
	across, acrossAt := -1, 0 // the same of the last "**"
	for {
		if t == len(p.tokens) {
			if n == len(name) {
				return true
			}
		} else {
			switch k := &p.tokens[t]; k.kind {
			case literal:
				if strings.HasPrefix(name[n:], k.text) {
					t, n = t+1, n+len(k.text)
					continue
				}
			case anyone, class:
				if n < len(name) && name[n] != '/' {
					if c, size := character(name[n:], p.bytes); k.holds(c) {
						t, n = t+1, n+size
						continue
					}
				}
			case star:
				t++
				if ends, fits := p.lastStar(t, name[n:]); ends {
					if fits {
						return true
					}
					within = -1
					break
				}
				within, withinAt = t, n
				continue
			case folders:
				t++
				across, acrossAt, within = t, n, -1
				continue
			case rest:
				return true
			}
		}
		if within >= 0 && withinAt < len(name) && name[withinAt] != '/' {
			_, size := character(name[withinAt:], p.bytes)
			withinAt += size
			t, n = within, withinAt
			continue
		}
		slash := -1
		if across >= 0 {
			slash = strings.IndexByte(name[acrossAt:], '/')
		}
		if slash < 0 {
			return false
		}
		acrossAt += slash + 1
		t, n, within = across, acrossAt, -1
	}
}

// lastStar matches what is left of a name where nothing or only text follows a
// star, which is most patterns.
func (p Pattern) lastStar(t int, name string) (ends, fits bool) {
	switch {
	case t == len(p.tokens):
		return true, strings.IndexByte(name, '/') < 0
	case t+1 == len(p.tokens) && p.tokens[t].kind == literal:
		before, ok := strings.CutSuffix(name, p.tokens[t].text)
		return true, ok && strings.IndexByte(before, '/') < 0
	}
	return false, false
}
