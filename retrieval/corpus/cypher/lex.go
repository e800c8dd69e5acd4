package cypher

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

type tokenKind int

const (
	endOfFile tokenKind = iota
	word                // identifier or keyword, text as written
	quoted              // identifier in backticks, text without them
	text                // string, text decoded
	number              // text as written
	mark                // one of the punctuation marks
)

type token struct {
	kind tokenKind
	text string
	line int
}

// is says whether the token is this keyword, in any case, or this mark.
func (t token) is(s string) bool {
	return t.kind == mark && t.text == s || t.kind == word && strings.EqualFold(t.text, s)
}

// marks of more than one character come before their beginnings.
var marks = []string{"->", "<-", "+=", "=>", "..", "<>", "<=", ">="}

// lexer cuts a script into tokens.
type lexer struct {
	src   string
	at    int
	line  int
	fresh bool // at the beginning of a statement
}

// next returns the next token. An error says why the rest of the script has no
// meaning any more.
func (l *lexer) next() (token, error) {
	if err := l.skip(); err != nil {
		return token{}, err
	}
	t := token{line: l.line}
	if l.at >= len(l.src) {
		return t, nil
	}
	r, _ := utf8.DecodeRuneInString(l.src[l.at:])
	switch {
	case r == '\'' || r == '"':
		return l.readString(byte(r))
	case r == '`':
		return l.readQuoted()
	case r == '_' || unicode.IsLetter(r):
		t.kind, t.text = word, l.take(func(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) })
	case r >= '0' && r <= '9':
		t.kind, t.text = number, l.readNumber()
	default:
		t.kind, t.text = mark, l.readMark()
	}
	l.fresh = t.is(";")
	return t, nil
}

// skip passes white space and comments, and at the beginning of a statement
// lines that speak to a shell (:begin, :commit).
func (l *lexer) skip() error {
	for l.at < len(l.src) {
		rest := l.src[l.at:]
		r, size := utf8.DecodeRuneInString(rest)
		switch {
		case r == '\n':
			l.line++
			l.at++
		case unicode.IsSpace(r) || r == '\ufeff':
			l.at += size
		case strings.HasPrefix(rest, "//"), r == ':' && l.fresh:
			l.take(func(r rune) bool { return r != '\n' })
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest[2:], "*/")
			if end < 0 {
				return &syntaxError{l.line, "this comment has no end"}
			}
			l.line += strings.Count(rest[:end+4], "\n")
			l.at += end + 4
		default:
			return nil
		}
	}
	return nil
}

func (l *lexer) take(accept func(rune) bool) string {
	start := l.at
	for l.at < len(l.src) {
		r, size := utf8.DecodeRuneInString(l.src[l.at:])
		if !accept(r) {
			break
		}
		l.at += size
	}
	return l.src[start:l.at]
}

func (l *lexer) readMark() string {
	for _, m := range marks {
		if strings.HasPrefix(l.src[l.at:], m) {
			l.at += len(m)
			return m
		}
	}
	_, size := utf8.DecodeRuneInString(l.src[l.at:])
	l.at += size
	return l.src[l.at-size : l.at]
}

// readNumber takes digits, letters and dots between digits, and a sign after
// an exponent: the parser judges whether that is a number.
func (l *lexer) readNumber() string {
	start := l.at
	for before := byte(0); l.at < len(l.src); l.at++ {
		c := l.src[l.at]
		digitNext := l.at+1 < len(l.src) && isDigit(l.src[l.at+1])
		exponent := before|0x20 == 'e' && !strings.HasPrefix(l.src[start:], "0x")
		switch {
		case isDigit(c), c|0x20 >= 'a' && c|0x20 <= 'z':
		case digitNext && (c == '.' || exponent && (c == '+' || c == '-')):
		default:
			return l.src[start:l.at]
		}
		before = c
	}
	return l.src[start:]
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// readQuoted reads a name in backticks; two of them stand for one.
func (l *lexer) readQuoted() (token, error) {
	t := token{kind: quoted, line: l.line}
	var b strings.Builder
	for i := l.at + 1; i < len(l.src); i++ {
		switch {
		case l.src[i] != '`':
			b.WriteByte(l.src[i])
		case strings.HasPrefix(l.src[i:], "``"):
			b.WriteByte('`')
			i++
		default:
			t.text = b.String()
			l.line += strings.Count(l.src[l.at:i], "\n")
			l.at, l.fresh = i+1, false
			return t, nil
		}
	}
	return t, &syntaxError{t.line, "this quoted name has no end"}
}

// readString reads a string in either kind of quotes and decodes its escapes.
func (l *lexer) readString(quote byte) (token, error) {
	t := token{kind: text, line: l.line}
	var b strings.Builder
	for i := l.at + 1; i < len(l.src); i++ {
		switch c := l.src[i]; c {
		case quote:
			t.text = b.String()
			l.line += strings.Count(l.src[l.at:i], "\n")
			l.at, l.fresh = i+1, false
			return t, nil
		case '\\':
			n, err := unescape(&b, l.src[i+1:])
			if err != nil {
				return t, &syntaxError{l.line + strings.Count(l.src[l.at:i], "\n"), err.Error()}
			}
			i += n
		default:
			b.WriteByte(c)
		}
	}
	return t, &syntaxError{t.line, "this string has no end"}
}

// escapes are the escapes of one letter.
var escapes = map[byte]byte{'\\': '\\', '\'': '\'', '"': '"', '`': '`', 'n': '\n', 'r': '\r', 't': '\t', 'b': '\b', 'f': '\f', '0': 0, '/': '/'}

// unescape writes what stands after a backslash and returns how long it was.
func unescape(b *strings.Builder, rest string) (int, error) {
	if rest == "" {
		return 0, fmt.Errorf("this string has no end")
	}
	if c, ok := escapes[rest[0]]; ok {
		b.WriteByte(c)
		return 1, nil
	}
	digits := map[byte]int{'u': 4, 'U': 8}[rest[0]]
	if digits == 0 || len(rest) <= digits {
		return 0, fmt.Errorf("the escape \\%c is unknown", firstRune(rest))
	}
	first, err := strconv.ParseUint(rest[1:1+digits], 16, 32)
	if err != nil {
		return 0, fmt.Errorf("the escape \\%s is no character", rest[:1+digits])
	}
	// Characters beyond 16 bits come as two escapes.
	if pair := rest[1+digits:]; digits == 4 && first >= 0xd800 && first < 0xdc00 && len(pair) >= 6 && pair[:2] == `\u` {
		if second, err := strconv.ParseUint(pair[2:6], 16, 32); err == nil && second >= 0xdc00 && second < 0xe000 {
			b.WriteRune(rune((first-0xd800)<<10|(second-0xdc00)) + 0x10000)
			return 1 + digits + 6, nil
		}
	}
	if first > unicode.MaxRune {
		return 0, fmt.Errorf("the escape \\%s is no character", rest[:1+digits])
	}
	b.WriteRune(rune(first))
	return 1 + digits, nil
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// syntaxError is a place that has no meaning.
type syntaxError struct {
	line   int
	reason string
}

func (e *syntaxError) Error() string { return fmt.Sprintf("line %d: %s", e.line, e.reason) }
