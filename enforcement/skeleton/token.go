package skeleton

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

type kind uint8

const (
	word   kind = iota // identifiers and keywords, with the marks a language allows in them
	number             // and character literals, symbols
	str                // a string without interpolation
	interp             // a string that holds expressions
	punct
	newline // only where the dialect asks for it
)

type lexeme struct {
	kind   kind
	text   string
	line   int
	column int // of its first byte in the line; indentation, for Python
	match  int // distance to the bracket it belongs to, 0 for none
}

// link pairs the brackets. Tokens keep their distances when they are cut into
// slices; a sequence that was put together must be linked again.
func link(t []lexeme) []lexeme {
	var open []int
	for i := range t {
		t[i].match = 0
		if t[i].kind != punct {
			continue
		}
		switch t[i].text {
		case "(", "[", "{":
			open = append(open, i)
		case ")", "]", "}":
			if n := len(open); n > 0 {
				t[i].match, t[open[n-1]].match = open[n-1]-i, i-open[n-1]
				open = open[:n-1]
			}
		}
	}
	return t
}

// dialect says how a language's tokens look.
type dialect struct {
	lineComments     []string
	blockOpen, close string
	nested           bool   // block comments nest
	quotes           string // that begin strings
	raw              string // quotes without escapes
	triple           bool   // """ and ''' strings
	template         bool   // `…${…}…`
	rubyStrings      bool   // %w[…], heredocs <<~X, symbols, =begin
	heredoc          bool   // <<<X of PHP
	rustStrings      bool   // r#"…"#, lifetimes
	csharp           bool   // @"…", $"…", lines of the preprocessor
	regex            bool   // /…/ where an operand may stand
	prefixes         bool   // letters directly before a quote belong to the string
	interpolation    string // marks of an expression in a string, one of them suffices
	newlines         bool
	wordMarks        string // further characters of identifiers
	wordEnd          string // characters that may end one
	docTest          bool   // a doc comment with @test yields a word
}

type lexer struct {
	d      dialect
	src    string
	pos    int
	line   int
	bol    int // offset of the line's begin
	first  int // line and column of the token that is being read
	column int
	tokens []lexeme
	later  []string // ends of heredocs that begin on the next line
}

// lex cuts a source into tokens; comments are gone, unterminated strings and
// comments run to their natural end.
func lex(src []byte, d dialect) []lexeme {
	l := &lexer{d: d, src: string(src), line: 1}
	for l.pos < len(l.src) {
		l.next()
	}
	return link(l.tokens)
}

func (l *lexer) add(k kind, from int) {
	l.tokens = append(l.tokens, lexeme{kind: k, text: l.src[from:l.pos], line: l.first, column: l.column})
}

// advance moves to an offset and counts the lines between.
func (l *lexer) advance(to int) {
	to = min(to, len(l.src))
	for i := l.pos; i < to; i++ {
		if l.src[i] == '\n' {
			l.line++
			l.bol = i + 1
		}
	}
	l.pos = to
}

func (l *lexer) rest() string { return l.src[l.pos:] }

func (l *lexer) next() {
	c := l.src[l.pos]
	l.first, l.column = l.line, l.pos-l.bol
	switch {
	case c == '\n':
		if l.d.newlines {
			l.tokens = append(l.tokens, lexeme{kind: newline, text: "\n", line: l.line, column: l.pos - l.bol})
		}
		l.advance(l.pos + 1)
		l.heredocBodies()
		return
	case c == '\\' && strings.HasPrefix(l.rest(), "\\\n"):
		l.advance(l.pos + 2)
		return
	case c == ' ' || c == '\t' || c == '\r':
		l.pos++
		return
	}
	if l.comment() || l.text() || l.word() {
		return
	}
	l.operator()
}

func (l *lexer) comment() bool {
	r := l.rest()
	if l.d.rubyStrings && l.pos == l.bol && strings.HasPrefix(r, "=begin") {
		l.skipPast("\n=end")
		return true
	}
	if l.d.csharp && r[0] == '#' && strings.TrimSpace(l.src[l.bol:l.pos]) == "" {
		l.skipLine()
		return true
	}
	for _, m := range l.d.lineComments {
		if strings.HasPrefix(r, m) && !(m == "#" && strings.HasPrefix(r, "#[")) {
			l.skipLine()
			return true
		}
	}
	if l.d.blockOpen == "" || !strings.HasPrefix(r, l.d.blockOpen) {
		return false
	}
	from := l.pos
	l.pos += len(l.d.blockOpen)
	for depth := 1; depth > 0; {
		r := l.rest()
		end := strings.Index(r, l.d.close)
		if end < 0 {
			l.advance(len(l.src))
			break
		}
		if open := strings.Index(r[:end], l.d.blockOpen); l.d.nested && open >= 0 {
			depth++
			l.advance(l.pos + open + len(l.d.blockOpen))
			continue
		}
		depth--
		l.advance(l.pos + end + len(l.d.close))
	}
	if l.d.docTest && strings.Contains(l.src[from:l.pos], "@test") {
		l.tokens = append(l.tokens, lexeme{kind: word, text: "@test", line: l.line})
	}
	return true
}

func (l *lexer) skipLine() {
	if i := strings.IndexByte(l.rest(), '\n'); i >= 0 {
		l.pos += i
		return
	}
	l.pos = len(l.src)
}

func (l *lexer) skipPast(end string) {
	if i := strings.Index(l.rest(), end); i >= 0 {
		l.advance(l.pos + i + len(end))
		return
	}
	l.advance(len(l.src))
}

// operand tells whether an expression may begin here, which decides what a
// slash or a percent sign means.
func (l *lexer) operand() bool {
	if len(l.tokens) == 0 {
		return true
	}
	t := l.tokens[len(l.tokens)-1]
	switch t.kind {
	case newline:
	case number, str, interp:
		return false
	case word:
		return operandAfter[t.text] || l.d.rubyStrings && l.pos > 0 && l.src[l.pos-1] == ' ' && l.pos+1 < len(l.src) && l.src[l.pos+1] != ' '
	case punct:
		return t.text != ")" && t.text != "]" && t.text != "}"
	}
	return true
}

var operandAfter = names("return typeof case in of delete void throw new else do and or not if unless while until when puts yield match expect")

func isLetter(r rune) bool { return r == '_' || unicode.IsLetter(r) }

func (l *lexer) wordRune(r rune) bool {
	return isLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(l.d.wordMarks, r)
}

func (l *lexer) word() bool {
	r, size := utf8.DecodeRuneInString(l.rest())
	from := l.pos
	switch {
	case unicode.IsDigit(r):
		for l.pos < len(l.src) {
			c := l.src[l.pos]
			digit := c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
			dot := c == '.' && l.pos+1 < len(l.src) && l.src[l.pos+1] >= '0' && l.src[l.pos+1] <= '9'
			if !digit && !dot {
				break
			}
			l.pos++
		}
		if l.pos == from {
			l.pos += size
		}
		l.add(number, from)
		return true
	case !l.wordRune(r):
		return false
	}
	for l.pos < len(l.src) {
		r, size := utf8.DecodeRuneInString(l.rest())
		if !l.wordRune(r) {
			break
		}
		l.pos += size
	}
	if l.pos < len(l.src) && strings.IndexByte(l.d.wordEnd, l.src[l.pos]) >= 0 && !strings.HasPrefix(l.src[l.pos+1:], "=") {
		l.pos++
	}
	if l.pos < len(l.src) && l.d.prefixes && l.pos-from <= 3 && strings.IndexByte(l.d.quotes, l.src[l.pos]) >= 0 {
		l.quoted(from, l.src[from:l.pos])
		return true
	}
	l.add(word, from)
	return true
}

var operators = []string{
	"===", "!==", "<=>", "**=", "...", "..=", "?->", ">>>", "&&=", "||=", "??=", "==", "!=", "<=", ">=", "&&", "||", "??", "=>", "->", "::", "?.", "=~",
	"+=", "-=", "*=", "/=", "%=", "|=", "&=", "<<", "**", "++", "--", "..", ":=",
}

func (l *lexer) operator() {
	from := l.pos
	for _, op := range operators {
		if strings.HasPrefix(l.rest(), op) {
			l.pos += len(op)
			l.add(punct, from)
			return
		}
	}
	_, size := utf8.DecodeRuneInString(l.rest())
	l.pos += size
	l.add(punct, from)
}

func names(s string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(s) {
		m[w] = true
	}
	return m
}
