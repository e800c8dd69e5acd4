package plan

import (
	"regexp"
	"strings"

	"github.com/writbus/writ/schemas/lazyregexp"
)

var (
	characterises = lazyregexp.New(`(?i)\bcharacteri[sz](?:e|es|ed|ing|ation|ations)\b`)
	denied        = lazyregexp.New(`(?i)\b(?:not|never|no|nothing|none|cannot|without)\b|n['’]t\b`)
)

// Characterises reports whether a plan says of a file of tests, in a line that names
// it and that a reader sees, that it pins down what exists.
func Characterises(content []byte, file string) bool {
	if !bounded(content) || file == "" {
		return false
	}
	const part = `/\\_.\-\pL\p{Nd}` // of a longer path
	named := regexp.MustCompile(`(?:^|[^` + part + `])(?:\./)?` + regexp.QuoteMeta(strings.ToValidUTF8(file, "\ufffd")) + `\.*(?:$|[^` + part + `])`)
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
		if named.MatchString(line) && characterises.MatchString(line) && !denied.MatchString(strings.ReplaceAll(line, file, "")) {
			return true
		}
	}
	return false
}
