package skeleton

import (
	"bytes"
	"strings"

	"github.com/writbus/writ/schemas/lexer"
)

// dialect says what the assertions of a language want of its tokens beyond what
// the lexer knows.
type dialect struct {
	name          string // by which the lexer knows it
	interpolation string // the mark of an expression in a string
	newlines      bool   // ends of lines are tokens
	wordMarks     string // further characters of identifiers
	wordEnd       string // characters that may end one
	docTest       bool   // a doc comment with @test yields a word
}

// read cuts a source into tokens; comments are gone, unterminated strings and
// comments run to their natural end.
func (d *dialect) read(src []byte) []lexeme {
	classes, streams := lexer.Scan(d.name, src)
	r := &tokenReader{dialect: d, src: src, classes: classes, line: 1}
	if bytes.HasPrefix(src, []byte("\ufeff")) {
		r.at, r.bol = len("\ufeff"), len("\ufeff")
	}
	tokens := streams[0]
	for i := 0; i < len(tokens); {
		from := int(tokens[i].From)
		if from < r.at || tokens[i].Kind == lexer.Newline {
			i++
			continue
		}
		r.skip(from)
		to := r.run(tokens, i)
		for ; i < len(tokens) && int(tokens[i].To) <= to; i++ {
		}
		if i < len(tokens) && int(tokens[i].From) < to {
			tokens[i].From = int32(to)
		}
	}
	r.skip(len(src))
	return link(r.out)
}

// tokenReader turns the tokens of the lexer into those of tests.
type tokenReader struct {
	*dialect
	src     []byte
	classes []lexer.Class
	at      int // everything before is read
	line    int
	bol     int // offset of the line's begin
	end     int // of the last token
	out     []lexeme
}

// skip passes over what is no token: blanks, ends of lines and comments.
func (r *tokenReader) skip(to int) {
	gap := r.src[r.at:to]
	for i, c := range gap {
		if c != '\n' {
			continue
		}
		at := r.at + i
		if r.newlines && r.classes[at] == lexer.Code && (at == 0 || r.src[at-1] != '\\' || r.classes[at-1] != lexer.Code) {
			r.out = append(r.out, lexeme{kind: newline, text: "\n", line: r.line, column: at - r.bol})
		}
		r.line, r.bol = r.line+1, at+1
	}
	r.at = to
	if r.docTest && bytes.Contains(gap, []byte("@test")) && bytes.Contains(gap, []byte("/*")) {
		r.out = append(r.out, lexeme{kind: word, text: "@test", line: r.line})
	}
}

// add makes a token of what stands between the position and an offset.
func (r *tokenReader) add(k kind, to int) {
	text := string(r.src[r.at:to])
	r.out = append(r.out, lexeme{kind: k, text: text, line: r.line, column: r.at - r.bol})
	if n := strings.Count(text, "\n"); n > 0 {
		r.line += n
		r.bol = r.at + strings.LastIndexByte(text, '\n') + 1
	}
	r.at, r.end = to, to
}

// run makes tokens of those that stand together from i on, and returns where it
// ended.
func (r *tokenReader) run(tokens lexer.Stream, i int) int {
	t := tokens[i]
	text := r.src[t.From:t.To]
	switch {
	case r.name == "csharp" && text[0] == '#' && r.end <= r.bol: // for the preprocessor
		end := len(r.src)
		if n := bytes.IndexByte(r.src[t.From:], '\n'); n >= 0 {
			end = int(t.From) + n
		}
		r.at = end
	case t.Kind == lexer.String:
		r.add(r.stringKind(text), int(t.To))
	case r.name == "rust" && text[0] == '\'' && t.Kind == lexer.Word:
		r.at = int(t.To) // a lifetime
	case t.Kind == lexer.Number && r.name != "rust" && (text[0] == '\'' || text[0] == '"'):
		r.add(str, int(t.To))
	case t.Kind == lexer.Number:
		r.add(number, int(t.To))
	case t.Kind == lexer.Word || r.marks(text):
		r.word(tokens, i)
	default:
		end := int(t.To)
		for i++; i < len(tokens) && int(tokens[i].From) == end && tokens[i].Kind == lexer.Punct && !r.marks(r.src[tokens[i].From:tokens[i].To]); i++ {
			end = int(tokens[i].To)
		}
		for r.at < end {
			r.add(punct, r.at+operatorAt(r.src[r.at:end]))
		}
	}
	return r.at
}

func (r *tokenReader) marks(text []byte) bool {
	return len(text) > 0 && len(bytes.Trim(text, r.wordMarks)) == 0
}

// word reads an identifier with the marks that the language allows in it.
func (r *tokenReader) word(tokens lexer.Stream, i int) {
	end := int(tokens[i].To)
	for i++; i < len(tokens) && int(tokens[i].From) == end; i++ {
		if k := tokens[i].Kind; k != lexer.Word && k != lexer.Number && !r.marks(r.src[tokens[i].From:tokens[i].To]) {
			break
		}
		end = int(tokens[i].To)
	}
	if end < len(r.src) && strings.IndexByte(r.wordEnd, r.src[end]) >= 0 && !bytes.HasPrefix(r.src[end+1:], []byte("=")) {
		end++
	}
	r.add(word, end)
}

// stringKind tells whether a string holds expressions.
func (r *tokenReader) stringKind(text []byte) kind {
	quote := bytes.IndexAny(text, "\"'`<%:")
	if r.interpolation == "" || quote < 0 || !bytes.Contains(text, []byte(r.interpolation)) {
		return str
	}
	prefix := string(text[:quote])
	switch {
	case r.name == "python" && !strings.ContainsAny(prefix, "fF"), r.name == "csharp" && !strings.Contains(prefix, "$"),
		r.name == "typescript" && text[0] != '`', text[0] == '\'', text[0] == ':', bytes.HasPrefix(text, []byte("<<<'")):
		return str
	}
	return interp
}

// operatorAt is the length of the operator that a text begins with.
func operatorAt(b []byte) int {
	for _, op := range operators {
		if bytes.HasPrefix(b, []byte(op)) {
			return len(op)
		}
	}
	return 1
}

var (
	goDialect     = &dialect{name: "go", newlines: true}
	javaDialect   = &dialect{name: "kotlin", wordMarks: "$"} // Java has no strings of its own
	csharpDialect = &dialect{name: "csharp", interpolation: "{"}
	jsDialect     = &dialect{name: "typescript", interpolation: "${"}
	phpDialect    = &dialect{name: "php", interpolation: "$", wordMarks: "$\\", docTest: true}
	pythonDialect = &dialect{name: "python", interpolation: "{", newlines: true}
	rubyDialect   = &dialect{name: "ruby", interpolation: "#{", newlines: true, wordMarks: "@$", wordEnd: "?!"}
	rustDialect   = &dialect{name: "rust"}
	otherDialect  = &dialect{name: "any"}
)
