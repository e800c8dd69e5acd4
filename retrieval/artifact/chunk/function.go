package chunk

import (
	"go/token"
	"strings"

	"github.com/writbus/writ/retrieval/artifact"
)

// function is a declaration that no parser has to see: its body is passed over,
// and what stands before it is plain.
type function struct {
	from, to      int // of the source: from its keyword to behind its last brace
	name, nameEnd int
	receiver      string // the name of its type, "" for none
}

// symbol is what the function declares, in a text of its own.
func (f function) symbol(text string, line int) artifact.Symbol {
	name := text[f.name:f.nameEnd]
	if f.receiver == "" {
		return artifact.Symbol{Name: strings.Clone(name), Kind: "func", Line: line}
	}
	return artifact.Symbol{Name: f.receiver + "." + name, Kind: "method", Line: line}
}

// functionAt reads the head of a function that is declared at a place, up to the
// blank before its body. It knows heads as gofmt writes them, without type
// parameters and with a result that is a name at most behind stars and brackets;
// others are for the parser.
func functionAt(text string, at int) (f function, ok bool) {
	f.from = at
	at += len("func ")
	if at < len(text) && text[at] == '(' {
		if at, f.receiver = receiver(text, at); f.receiver == "" {
			return f, false
		}
	}
	f.name, f.nameEnd = at, identifier(text, at)
	if f.nameEnd == at {
		return f, false
	}
	if at = parameters(text, f.nameEnd); at == 0 {
		return f, false
	}
	if at < len(text) && text[at] == ' ' && !strings.HasPrefix(text[at:], " {") {
		at = result(text, at+1)
	}
	return f, strings.HasPrefix(text[at:], " {")
}

// receiver is the type of the receiver at a place, and where the method's name
// begins; "" for one that is not plain.
func receiver(text string, at int) (end int, name string) {
	at++
	if end := identifier(text, at); end < len(text) && end > at && text[end] == ' ' {
		at = end + 1
	}
	if at < len(text) && text[at] == '*' {
		at++
	}
	end = identifier(text, at)
	if !strings.HasPrefix(text[end:], ") ") {
		return at, ""
	}
	return end + len(") "), text[at:end]
}

// result is where the results at a place end, or somewhere else where they are
// not plain.
func result(text string, at int) (end int) {
	if end := parameters(text, at); end > 0 {
		return end
	}
	for at < len(text) && (text[at] == '*' || strings.HasPrefix(text[at:], "[]")) {
		if at++; text[at-1] == '[' {
			at++
		}
	}
	end = identifier(text, at)
	if end > at && end < len(text) && text[end] == '.' {
		at = end + 1
		end = identifier(text, at)
	}
	if end == at {
		return len(text)
	}
	return end
}

// inName says of a byte whether it is an ASCII letter, a digit or an underscore.
var inName = func() (is [256]bool) {
	for b := range is {
		c := byte(b)
		is[b] = c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
	}
	return is
}()

// identifier is where the name ends that begins at a place: there, if none of
// ASCII does, or a keyword.
func identifier(text string, at int) (end int) {
	for end = at; end < len(text) && (inName[text[end]] && (end > at || text[end] > '9')); end++ {
	}
	if token.IsKeyword(text[at:end]) {
		return at
	}
	return end
}
