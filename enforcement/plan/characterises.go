package plan

import (
	"bytes"

	"github.com/writbus/writ/schemas/lazyregexp"
)

var characterises = lazyregexp.New(`(?i)\bcharacteri[sz](?:e|es|ed|ing|ation|ations)\b`)

// Characterises reports whether a plan says of a file of tests, in the line that
// names it, that it pins down what exists.
func Characterises(content []byte, file string) bool {
	for line := range bytes.Lines(content) {
		if bytes.Contains(line, []byte(file)) && characterises.Regexp().Match(line) {
			return true
		}
	}
	return false
}
