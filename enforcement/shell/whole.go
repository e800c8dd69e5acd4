package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Whole is a command as its parser has it, written out again: whatever it
// holds, it is whole statements, and cannot end what is put around it. ok is
// false for what does not parse to its end, or holds no statement.
func Whole(command string) (text string, ok bool) {
	parsed, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(command), "")
	if err != nil || len(parsed.Stmts) == 0 {
		return "", false
	}
	var b strings.Builder
	if syntax.NewPrinter().Print(&b, parsed) != nil {
		return "", false
	}
	return strings.TrimRight(b.String(), "\n"), true
}
