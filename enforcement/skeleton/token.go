package skeleton

import (
	"github.com/writbus/writ/schemas/wordset"
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

var operandAfter = names("return typeof case in of delete void throw new else do and or not if unless while until when puts yield match expect")

var operators = []string{
	"===", "!==", "<=>", "**=", "...", "..=", "?->", ">>>", "&&=", "||=", "??=", "==", "!=", "<=", ">=", "&&", "||", "??", "=>", "->", "::", "?.", "=~",
	"+=", "-=", "*=", "/=", "%=", "|=", "&=", "<<", "**", "++", "--", "..", ":=",
}

var names = wordset.Of
