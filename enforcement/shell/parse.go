package shell

import (
	"errors"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/writbus/writ/schemas/lazyregexp"
)

// source judges a whole command line. Where it does not parse, the statements
// before the error count, because a shell runs complete lines before it meets
// an error on a later one.
func (a *analysis) source(src string) {
	sh := newShell(a)
	stmts, err := a.parse(src, syntax.LangBash)
	sh.list(stmts)
	if err == nil && !zshDiffers(src) {
		return
	}
	zstmts, zerr := a.parse(src, syntax.LangZsh)
	if zerr == nil || len(zstmts) > len(stmts) {
		newShell(a).list(zstmts)
	}
	a.unparsed = a.unparsed || err != nil
	if err != nil && len(a.paths) == 0 {
		// Without a write before it, the error may be one of the parser only.
		a.unsure(src, "the command line does not parse: "+err.Error())
	}
}

// zshDiffers reports the operators that bash parses as something else.
func zshDiffers(src string) bool {
	return slices.ContainsFunc([]string{">!", ">>!", ">>|", "&>!", "&|", "&!"}, func(op string) bool { return strings.Contains(src, op) })
}

// script judges a command line found inside another one, in the shell sh.
func (sh *shell) script(src string) {
	if !sh.a.enter() {
		return
	}
	defer sh.a.leave()
	before := len(sh.a.paths)
	stmts, err := sh.a.parse(src, syntax.LangBash)
	sh.list(stmts)
	sh.a.unparsed = sh.a.unparsed || err != nil
	if err != nil && len(sh.a.paths) == before {
		sh.a.unsure(src, "a nested command line does not parse: "+err.Error())
	}
}

var errTooLarge = errors.New("shell: too large to follow")

// parse returns the statements before the first syntax error, and that error.
func (a *analysis) parse(src string, lang syntax.LangVariant) ([]*syntax.Stmt, error) {
	a.parsed += len(src)
	if plain := code(src); len(src) > maxSource || a.parsed > maxParsed || len(plain) > maxPlain || nesting(plain) > maxNesting {
		a.unsure(src, "the command line is too large to follow")
		return nil, errTooLarge
	}
	stmts, err := statements(src, lang)
	for range 4 {
		delim, open := openHeredoc(err)
		if !open {
			break
		}
		// A shell takes the end of input as the end of a here-document.
		src += "\n" + delim + "\n"
		stmts, err = statements(src, lang)
	}
	return stmts, err
}

func statements(src string, lang syntax.LangVariant) (stmts []*syntax.Stmt, err error) {
	defer func() {
		if recover() != nil {
			err = errTooLarge
		}
	}()
	parser := syntax.NewParser(syntax.Variant(lang))
	for stmt, err := range parser.StmtsSeq(strings.NewReader(src)) {
		if err != nil {
			return stmts, err
		}
		stmts = append(stmts, stmt)
	}
	return stmts, nil
}

// openHeredoc returns the delimiter of a here-document that reaches the end of
// the source.
func openHeredoc(err error) (string, bool) {
	var perr syntax.ParseError
	if !errors.As(err, &perr) {
		return "", false
	}
	const start = "unclosed here-document "
	_, rest, ok := strings.Cut(perr.Text, start)
	if !ok {
		return "", false
	}
	return strings.Trim(rest, "`'\""), true
}

// code is the source without the bodies of its here-documents, which cost the
// parser next to nothing. It takes for a here-document what looks like one; a
// source made to look wrong costs time, and is judged all the same.
func code(src string) string {
	var kept strings.Builder
	var ends []string
	for line := range strings.Lines(src) {
		if len(ends) > 0 {
			if strings.TrimLeft(strings.TrimRight(line, "\r\n"), "\t") == ends[0] {
				ends = ends[1:]
			}
			continue
		}
		kept.WriteString(line)
		for rest := line; len(ends) < 8; {
			var found bool
			if _, rest, found = strings.Cut(rest, "<<"); !found {
				break
			}
			if m := heredocEnd.FindStringSubmatch(rest); m != nil {
				ends = append(ends, m[1])
			}
		}
	}
	return kept.String()
}

var heredocEnd = lazyregexp.New(`^-?[ \t]*[\\'"]?([A-Za-z_][\w.-]*)`)

// nesting returns the largest number of brackets and compound commands open at
// once, quotes ignored: an upper bound of what the parser recurses into.
func nesting(src string) int {
	most, open, start := 0, 0, 0
	for i := 0; i <= len(src); i++ {
		c := byte(' ')
		if i < len(src) {
			c = src[i]
		}
		switch c {
		case '(', '{':
			open++
		case ')', '}':
			open = max(0, open-1)
		}
		if c >= 'a' && c <= 'z' {
			continue
		}
		switch src[start:i] {
		case "if", "while", "until", "for", "case", "select":
			open++
		case "fi", "done", "esac":
			open = max(0, open-1)
		}
		start = i + 1
		most = max(most, open)
	}
	return most
}
