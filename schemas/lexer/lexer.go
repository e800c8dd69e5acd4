// Package lexer tells code from strings and comments, and cuts code into tokens,
// for the languages that people write most.
//
// Guarantees: every byte is classified; tokens stand in order and inside the
// text, and brackets that belong together know each other (FuzzScan); no input
// makes it panic, and time grows linearly with the input. A string or a comment
// that is never closed runs to its natural end. Where a language cannot be read
// without its grammar the reading is the usual one.
//
// It parses nothing and does not know whether a text is valid. A language that
// it does not know is read by what most languages agree on.
package lexer

import (
	"bytes"
	"unicode/utf8"
)

// Class is what a byte belongs to.
type Class uint8

// The classes of bytes.
const (
	Code      Class = iota
	Text            // the inside of a string
	Delimiter       // quotes, string prefixes, the marks of an interpolation
	Comment
)

// Kind is what a token is.
type Kind uint8

// The kinds of tokens.
const (
	Word   Kind = iota // identifiers and keywords
	Number             // and character literals
	String             // with its prefix and quotes, interpolations included
	Punct
	Newline // the end of a logical line, where the language has such
)

// Token is a token by its place in the content.
type Token struct {
	From, To int32
	Match    int32 // index of the bracket it belongs to, -1 for none
	Parent   int32 // index of the bracket it stands in, -1 for none
	Kind     Kind
}

// Stream is the tokens of one stretch of code: the file, or the inside of an
// interpolation.
type Stream []Token

// maxNesting bounds interpolations in interpolations; what is deeper counts as
// string.
const maxNesting = 32

// scanner classifies the bytes of a file and cuts its code into tokens.
type scanner struct {
	d       *dialect
	src     []byte
	pos     int
	classes []Class
	tokens  Stream   // of the stretch being read
	done    []Stream // finished interpolations
	nesting int
	later   []heredoc // that begin on the next line
}

// Scan reads a whole file; the first stream is the file itself.
func Scan(language string, src []byte) ([]Class, []Stream) {
	s := &scanner{d: dialectOf(language), src: src, classes: make([]Class, len(src)), tokens: make(Stream, 0, len(src)/4)}
	if s.d.prose {
		s.mark(len(src), Comment)
		return s.classes, []Stream{nil}
	}
	s.start()
	for s.pos < len(s.src) {
		s.next()
	}
	s.finish()
	return s.classes, append([]Stream{s.tokens}, s.done...)
}

// start passes over what only the beginning of a file may hold: a byte order
// mark, a #! line.
func (s *scanner) start() {
	if s.has("\ufeff") {
		s.pos += len("\ufeff")
	}
	if s.has("#!") && !s.has("#![") {
		s.mark(s.endOfLine(), Comment)
	}
}

// finish links the tokens of the stretch and drops ends of lines inside
// brackets, which end nothing.
func (s *scanner) finish() {
	s.tokens.link(s.src)
	if !s.d.newlines {
		return
	}
	kept := s.tokens[:0]
	for _, t := range s.tokens {
		if t.Kind != Newline || t.Parent < 0 {
			kept = append(kept, t)
		}
	}
	if len(kept) < len(s.tokens) {
		kept.link(s.src)
	}
	s.tokens = kept
}

// link pairs the brackets and gives every token the bracket it stands in.
// A closing bracket that fits none is left alone.
func (t Stream) link(src []byte) {
	open := make([]int32, 0, 32)
	for i := range t {
		t[i].Match, t[i].Parent = -1, -1
		if len(open) > 0 {
			t[i].Parent = open[len(open)-1]
		}
		if t[i].Kind != Punct {
			continue
		}
		switch c := src[t[i].From]; c {
		case '(', '[', '{':
			if t[i].To-t[i].From == 1 {
				open = append(open, int32(i))
			}
		case ')', ']', '}':
			for n := len(open) - 1; n >= 0 && n >= len(open)-3; n-- {
				if closes(src[t[open[n]].From], c) {
					t[i].Match, t[open[n]].Match = open[n], int32(i)
					t[i].Parent = t[open[n]].Parent
					open = open[:n]
					break
				}
			}
		}
	}
}

func closes(open, c byte) bool {
	return open == '(' && c == ')' || open == '[' && c == ']' || open == '{' && c == '}'
}

func (s *scanner) rest() []byte { return s.src[s.pos:] }

func (s *scanner) has(prefix string) bool { return bytes.HasPrefix(s.src[s.pos:], []byte(prefix)) }

// peek is the byte at a distance from the position, 0 outside.
func (s *scanner) peek(n int) byte {
	if i := s.pos + n; i >= 0 && i < len(s.src) {
		return s.src[i]
	}
	return 0
}

// mark moves to an offset and classifies what is between.
func (s *scanner) mark(to int, c Class) {
	to = min(max(to, s.pos), len(s.src))
	if c != Code {
		for i := s.pos; i < to; i++ {
			s.classes[i] = c
		}
	}
	s.pos = to
}

func (s *scanner) add(k Kind, from int) {
	s.tokens = append(s.tokens, Token{Kind: k, From: int32(from), To: int32(s.pos)})
}

// endOfLine is the offset of the newline that ends the current line.
func (s *scanner) endOfLine() int {
	if n := bytes.IndexByte(s.rest(), '\n'); n >= 0 {
		return s.pos + n
	}
	return len(s.src)
}

// ahead is what follows on the line, no more than a bounded part of it: where
// each token of a line may ask, the answer must not cost a whole line.
func (s *scanner) ahead(limit int) []byte {
	b := s.src[s.pos:min(s.pos+limit, len(s.src))]
	if n := bytes.IndexByte(b, '\n'); n >= 0 {
		b = b[:n]
	}
	return b
}

// next reads one token, comment or string; it always moves on.
func (s *scanner) next() {
	c := s.src[s.pos]
	switch {
	case c == '\n':
		s.endLine()
		return
	case c == ' ' || c == '\t' || c == '\r' || c == '\f':
		s.pos++
		return
	case c == '\\' && (s.peek(1) == '\n' || s.peek(1) == '\r' && s.peek(2) == '\n'):
		s.pos += 2
		if s.peek(-1) == '\r' {
			s.pos++
		}
		return
	}
	if s.lineComment() || s.blockComment() || s.d.special != nil && s.d.special(s) || s.plainString() || s.word() {
		return
	}
	s.operator()
}

func (s *scanner) endLine() {
	if s.d.newlines {
		from := s.pos
		s.pos++
		s.add(Newline, from)
	} else {
		s.pos++
	}
	if len(s.later) > 0 {
		s.heredocs()
	}
}

func (s *scanner) lineComment() bool {
	for _, m := range s.d.lineComments {
		if !s.has(m) {
			continue
		}
		if s.d.spacedComments && s.pos > 0 && !blank(s.peek(-1)) || s.d.wholeLineComments && !s.firstInLine() {
			continue
		}
		s.mark(s.endOfLine(), Comment)
		return true
	}
	return false
}

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ';' }

func (s *scanner) firstInLine() bool {
	for i := s.pos - 1; i >= 0 && s.src[i] != '\n'; i-- {
		if s.src[i] != ' ' && s.src[i] != '\t' && s.src[i] != '\r' {
			return false
		}
	}
	return true
}

func (s *scanner) blockComment() bool {
	d := s.d
	if d.blockOpen == "" || !s.has(d.blockOpen) {
		return false
	}
	at := s.pos + len(d.blockOpen)
	for depth := 1; depth > 0; {
		if !d.nested {
			if n := bytes.Index(s.src[at:], []byte(d.blockClose)); n >= 0 {
				at += n + len(d.blockClose)
			} else {
				at = len(s.src)
			}
			break
		}
		n := bytes.IndexAny(s.src[at:], "*/")
		if n < 0 {
			at = len(s.src)
			break
		}
		at += n
		switch {
		case bytes.HasPrefix(s.src[at:], []byte(d.blockOpen)):
			depth++
			at += len(d.blockOpen)
		case bytes.HasPrefix(s.src[at:], []byte(d.blockClose)):
			depth--
			at += len(d.blockClose)
		default:
			at++
		}
	}
	s.mark(at, Comment)
	return true
}

// plainString reads the strings that a dialect lists by their quotes.
func (s *scanner) plainString() bool {
	q := s.src[s.pos]
	for i := range s.d.quotes {
		if r := &s.d.quotes[i]; r.mark[0] == q && s.has(r.mark) {
			s.quoted(s.pos, r)
			return true
		}
	}
	return false
}

// quote is a kind of string: the mark that begins and ends it.
type quote struct {
	mark      string
	escapes   bool // by backslash
	doubled   bool // the mark written twice stands for itself
	multiline bool
	character bool // a value of one character rather than a string
}

// quoted reads a string whose opening quote is at the position; from is where
// its prefix begins. A string of one line ends with the line at the latest.
func (s *scanner) quoted(from int, q *quote) {
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
		case c == '\\' && q.escapes:
			at += 2
			if at <= len(s.src) && s.src[at-1] == '\r' && at < len(s.src) {
				at++
			}
		case c == q.mark[0] && bytes.HasPrefix(s.src[at:], []byte(q.mark)):
			if q.doubled && bytes.HasPrefix(s.src[at+len(q.mark):], []byte(q.mark)) {
				at += 2 * len(q.mark)
				continue
			}
			s.mark(at, Text)
			s.mark(at+len(q.mark), Delimiter)
			k := String
			if q.character {
				k = Number
			}
			s.add(k, from)
			return
		default:
			at++
		}
	}
	s.mark(len(s.src), Text)
	s.add(String, from)
}

// Letter reports a byte of an identifier that is no digit; bytes beyond ASCII
// count as letters.
func Letter(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf
}

// Digit reports a decimal digit.
func Digit(c byte) bool { return c >= '0' && c <= '9' }

func (s *scanner) wordByte(c byte) bool { return Letter(c) || c == '$' && s.d.dollar }

func (s *scanner) word() bool {
	c, from := s.src[s.pos], s.pos
	switch {
	case Digit(c):
		for s.pos < len(s.src) && (Letter(s.src[s.pos]) || Digit(s.src[s.pos]) || s.src[s.pos] == '.' && Digit(s.peek(1))) {
			s.pos++
		}
		s.add(Number, from)
		return true
	case !s.wordByte(c):
		return false
	}
	for s.pos < len(s.src) && (s.wordByte(s.src[s.pos]) || Digit(s.src[s.pos])) {
		s.pos++
	}
	s.add(Word, from)
	return true
}

// operators are the tokens of several characters, the longest first.
var operators = []string{
	">>>=", "===", "!==", "**=", "...", "..=", ">>>", "<<=", ">>=", "&&=", "||=", "??=", "//=", "<=>",
	"==", "!=", "<=", ">=", "&&", "||", "??", "=>", "->", "::", "?.", "+=", "-=", "*=", "/=", "%=", "|=", "&=", "^=", "<<", "**", "++", "--", "..", ":=", "//", "|>",
}

func (s *scanner) operator() {
	from := s.pos
	if n := operatorAt(s.rest()); n > 0 {
		s.pos += n
	} else {
		s.pos++
	}
	s.add(Punct, from)
}

func operatorAt(b []byte) int {
	if len(b) < 2 || !operatorByte[b[1]] {
		return 0
	}
	for _, op := range operators {
		if b[0] == op[0] && bytes.HasPrefix(b, []byte(op)) {
			return len(op)
		}
	}
	return 0
}

// operatorByte holds what may stand second in an operator.
var operatorByte = func() (set [256]bool) {
	for _, op := range operators {
		set[op[1]] = true
	}
	return set
}()
