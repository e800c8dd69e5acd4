package chunk

import (
	"regexp"
	"slices"
	"strings"
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
		if g.also != nil && g.also().NumSubexp() == 0 {
			t.Errorf("%s finds no second name by %s", name, g.also())
		}
		for _, d := range g.declarations {
			if d.behind != nil {
				d.behind() // compiles
			}
			if pattern := d.line(); pattern.NumSubexp() == 0 || left.MatchString(pattern.String()) {
				t.Errorf("%s: a %s is told by %s", name, d.kind, pattern)
			}
		}
	}
}

// TestGrammarsNameNothingElse: what says what is no code would be passed over where it is
// misspelt.
func TestGrammarsNameNothingElse(t *testing.T) {
	kinds := []string{"line", "block", "quotes", "long", "multi"}
	for line := range strings.Lines(grammarsText) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		for option := range strings.FieldsSeq(rest) {
			if key, value, _ := strings.Cut(option, ":"); word == "comments" && (value == "" || !slices.Contains(kinds, key)) {
				t.Errorf("no part of comments is called %s", option)
			}
		}
	}
	whole := []string{"class", "interface", "type", "func", "module", "macro", "const", "var"}
	for name, g := range grammars() {
		for _, d := range g.declarations {
			if !slices.Contains(whole, d.kind) || d.of != "" && !slices.ContainsFunc(g.declarations, func(c declaration) bool { return c.container && c.kind == d.of }) {
				t.Errorf("%s declares a %q of a %q", name, d.kind, d.of)
			}
		}
	}
}
