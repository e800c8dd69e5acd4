package chunk

import (
	"regexp"
	"testing"
)

// TestGrammarsAreWhole: a misspelt word of grammars.txt would become a part of a
// pattern, and a name that no "let" has would stay in it.
func TestGrammarsAreWhole(t *testing.T) {
	left := regexp.MustCompile(`%\w+%|^\w+:\S* |^[a-z]+ `)
	for name, g := range grammars() {
		if len(g.declarations) == 0 {
			t.Errorf("%s declares nothing", name)
		}
		for _, d := range g.declarations {
			if pattern := d.line(); pattern.NumSubexp() == 0 || left.MatchString(pattern.String()) {
				t.Errorf("%s: a %s is told by %s", name, d.kind, pattern)
			}
		}
	}
}
