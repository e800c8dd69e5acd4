package plan

import (
	"strings"
	"unicode"

	"github.com/writbus/writ/schemas/lazyregexp"
)

var (
	characterises = lazyregexp.New(`(?i)\bcharacteri[sz](?:e|es|ed|ing|ation|ations)\b`)
	denied        = lazyregexp.New(`(?i)\b(?:not|never|no|nothing|none|cannot|without)\b|n['’]t\b`)
)

// Characterises reports whether a plan says of a file of tests, in a line that names
// it and that a reader sees, that it pins down what exists.
func Characterises(content []byte, file string) bool {
	if !bounded(content) {
		return false
	}
	lines := map[int]string{} // the cells of a table's row are on one
	doc := outline(content)
	for _, s := range doc.all {
		for _, b := range s.blocks {
			for i, text := range strings.Split(b.text(), "\n") {
				lines[b.line+i] += " " + text + " "
			}
		}
	}
	for _, line := range lines {
		if names(line, file) && characterises.MatchString(line) && !denied.MatchString(strings.ReplaceAll(line, file, "")) {
			return true
		}
	}
	return false
}

// names reports whether a line names a path, and not a longer one.
func names(line, file string) bool {
	part := func(r rune) bool {
		return strings.ContainsRune(`/\_-.`, r) || unicode.IsLetter(r) || unicode.IsDigit(r)
	}
	for at := 0; file != ""; {
		i := strings.Index(line[at:], file)
		if i < 0 {
			return false
		}
		before := strings.TrimSuffix(line[:at+i], "./")
		after := strings.TrimLeft(line[at+i+len(file):], ".") // the end of a sentence
		if strings.TrimRightFunc(before, part) == before && strings.TrimLeftFunc(after, part) == after {
			return true
		}
		at += i + len(file)
	}
	return false
}
