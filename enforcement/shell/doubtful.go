package shell

import (
	"strings"

	"github.com/writbus/writ/schemas/lazyregexp"
)

// hereDocument is the operator with its delimiter.
var hereDocument = lazyregexp.New(`<<-?[ \t]*([^\s<>|&;()]+)`)

// plainDelimiter is a delimiter of letters, in quotes or not.
var plainDelimiter = lazyregexp.New(`^(?:(\w+)|'(\w+)'|"(\w+)")$`)

// Doubtful reports a command line with a form of which it is known that a shell
// reads it otherwise than the parser: control characters, and here-documents of
// which it is not plain where they end. The list is of what was found, not of all
// there is; see Plain for what is sure. A line that cannot be named is run by no
// hold, and is doubtful, too.
func Doubtful(command string) bool {
	_, named := Named(command)
	if !named || strings.ContainsFunc(command, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7f }) {
		return true
	}
	text := strings.ReplaceAll(command, "<<<", "   ")
	for _, m := range hereDocument.Regexp().FindAllStringSubmatch(text, -1) {
		d := plainDelimiter.FindStringSubmatch(m[1])
		if d == nil {
			return true
		}
		word, open := d[1]+d[2]+d[3], d[1] != ""
		if open && (strings.Contains(text, "\\\n") || strings.Contains(text, "${")) {
			return true
		}
		for line := range strings.Lines(text) {
			line = strings.TrimLeft(strings.TrimRight(line, "\n"), "\t")
			if strings.HasPrefix(line, word) && line != word && !strings.Contains(line, "<<") {
				return true
			}
		}
	}
	return false
}
