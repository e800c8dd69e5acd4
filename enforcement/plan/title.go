package plan

import (
	"strings"

	"github.com/writbus/writ/schemas/excerpt"
)

// maxTitle bounds a title, in characters.
const maxTitle = 160

// Title is what a plan's first heading of the first level says, in a line; "" where
// it has none, or no more than the word plan.
func Title(src []byte) string {
	for line := range strings.Lines(string(src)) {
		title, found := strings.CutPrefix(strings.TrimSpace(line), "# ")
		if !found {
			continue
		}
		if _, rest, found := strings.Cut(title, ":"); found && strings.HasPrefix(strings.ToLower(title), "plan") {
			title = rest
		}
		if title = strings.TrimSpace(title); strings.EqualFold(title, "plan") {
			return ""
		}
		return excerpt.Runes(excerpt.Line(title), maxTitle)
	}
	return ""
}
