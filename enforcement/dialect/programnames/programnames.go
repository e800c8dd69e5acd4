// Package programnames names the programs that a shell line runs, so that a
// capability can be scoped to some of them.
//
// It reads a part of the shell's language that dash, bash and zsh understand
// alike, and answers "not known" to everything beyond it: here-documents,
// functions, case, arithmetic with variables, names put together at run time.
//
// Guaranteed: a line that is known runs no program but those named, as far as
// the shell itself starts them; FuzzNames compares with a full parser. No input
// panics, time is linear in the line's length but for nested backquotes, whose
// depth is bounded.
//
// It does not know what a program starts in turn: what those run that start what
// their arguments, settings or variables name, shell.Beyond tells.
package programnames

import (
	"path"
	"strings"
)

const (
	maxLine  = 32 << 10 // bytes read
	maxDepth = 20       // nested substitutions and subshells
)

// Names returns the base names of all programs, builtins included, in the order
// they stand in the line. ok is false where one may be missing, and where there
// is none.
func Names(line string) (names []string, ok bool) {
	if len(line) > maxLine || strings.ContainsFunc(line, isControl) {
		return nil, false
	}
	r := &reader{src: line}
	r.list(0)
	if r.failed || len(r.names) == 0 {
		return nil, false
	}
	return r.names, true
}

// isControl reports characters that shells drop or that end lines for some.
func isControl(c rune) bool { return c < ' ' && c != '\t' && c != '\n' || c == 0x7f }

// reader goes over one line, or over the text between two backquotes.
type reader struct {
	src    string
	at     int
	depth  int
	names  []string
	failed bool
}

// place says what a word means where it stands.
type place uint8

const (
	atCommand place = iota // a reserved word or a command's name
	atName                 // a command's name: an assignment or a redirection came before
	inArguments
	atEnd // a compound command ended: no word may follow
)

func (r *reader) fail() { r.failed, r.at = true, len(r.src) }

func (r *reader) peek(ahead int) byte {
	if r.at+ahead < len(r.src) {
		return r.src[r.at+ahead]
	}
	return 0
}

func (r *reader) has(prefix string) bool { return strings.HasPrefix(r.src[r.at:], prefix) }

// list reads commands up to the end, or up to a closing bracket.
func (r *reader) list(end byte) {
	if r.depth++; r.depth > maxDepth {
		r.fail()
	}
	defer func() { r.depth-- }()
	at := atCommand
	for r.at < len(r.src) {
		c := r.src[r.at]
		switch {
		case c == ' ' || c == '\t':
			r.at++
		case r.has("\\\n"):
			r.at += 2
		case c == '#':
			r.comment()
		case c == '\n' || c == ';' || c == '&' || c == '|':
			r.operator()
			at = atCommand
		case c == ')':
			if end != ')' {
				r.fail()
			}
			return
		case c == '(':
			r.subshell(at)
			at = atEnd
		case c == '<' || c == '>':
			at = r.redirect(at)
		default:
			at = r.command(at)
		}
	}
	if end != 0 {
		r.fail()
	}
}

func (r *reader) comment() {
	if i := strings.IndexByte(r.src[r.at:], '\n'); i >= 0 {
		r.at += i
	} else {
		r.at = len(r.src)
	}
}

// operator passes what separates commands.
func (r *reader) operator() {
	switch {
	case r.has(";;"), r.has(";&"), r.has(";|"), r.has("&>"), r.has("&!"), r.has("&|"):
		r.fail()
	case r.has("&&"), r.has("||"), r.has("|&"):
		r.at += 2
	default:
		r.at++
	}
}

// bracket reads a subshell or a substitution from its opening bracket on.
func (r *reader) bracket() {
	r.at++
	r.list(')')
	r.at++
}

// subshell reads a command in brackets. One without a command is a function
// without a name to zsh.
func (r *reader) subshell(at place) {
	if rest := strings.TrimLeft(r.src[r.at+1:], " \t\n"); at != atCommand || r.peek(1) == '(' || strings.HasPrefix(rest, ")") {
		r.fail()
	}
	r.bracket()
}

func (r *reader) redirect(at place) place {
	if r.peek(1) == '(' {
		// A substitution is a word, or a part of one: of a command's name, maybe.
		if before := r.src[max(r.at-1, 0)]; at != inArguments || before != ' ' && before != '\t' {
			r.fail()
			return at
		}
		r.at++
		r.bracket()
		return at
	}
	switch {
	case r.has("<<"), r.has(">>|"), r.has(">!"), r.has(">>!"):
		r.fail()
		return at
	case r.has(">>"), r.has(">|"), r.has(">&"), r.has("<&"), r.has("<>"):
		r.at += 2
	default:
		r.at++
	}
	for r.peek(0) == ' ' || r.peek(0) == '\t' {
		r.at++
	}
	start := r.at
	if r.word(); r.at == start {
		r.fail()
	}
	return max(at, atName)
}

// command takes one word and says what the next one is.
func (r *reader) command(at place) place {
	w := r.word()
	if next := r.peek(0); (next == '<' || next == '>') && !w.quoted && w.known && w.text != "" && strings.Trim(w.text, "0123456789") == "" {
		return at
	}
	if r.peek(0) == '(' || at == atEnd {
		r.fail()
	}
	if at == inArguments {
		return at
	}
	if !w.quoted && w.known {
		if next, reserved := r.reserved(w.text); reserved {
			if at == atName {
				r.fail()
			}
			return next
		}
	}
	if w.assigns {
		return atName
	}
	if !w.known || w.text == "" || strings.HasSuffix(w.text, "/") || strings.HasPrefix(w.text, "=") {
		r.fail()
		return at
	}
	r.names = append(r.names, path.Base(w.text))
	if w.text == "time" && !w.quoted {
		return at
	}
	return inArguments
}

// reserved passes a reserved word and says what the next word is.
func (r *reader) reserved(word string) (next place, ok bool) {
	switch word {
	case "!", "{", "if", "then", "elif", "else", "while", "until", "do":
		return atCommand, true
	case "}", "fi", "done":
		return atEnd, true
	case "for":
		r.loop()
		return inArguments, true
	case "case", "esac", "select", "function", "coproc", "[[", "]]", "in", "repeat", "foreach", "nocorrect", "noglob", "-":
		r.fail()
		return atEnd, true
	default:
		return atCommand, false
	}
}

// loop reads "NAME in" after for. Without "in", "do" may follow on the same line.
func (r *reader) loop() {
	for _, want := range []string{"", "in"} {
		for r.peek(0) == ' ' || r.peek(0) == '\t' {
			r.at++
		}
		w := r.word()
		if w.quoted || !w.known || w.text == "" || want != "" && w.text != want || r.peek(0) == '(' {
			r.fail()
		}
	}
}
