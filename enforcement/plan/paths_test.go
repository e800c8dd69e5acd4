package plan

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/writbus/writ/test/integration"
)

func filesOf(t *testing.T, line string) []string {
	t.Helper()
	p, _ := validate("## Files\n\n" + line + "\n\n" + goodAnalysis + goodRules + goodBoxes)
	return p.Files
}

// TestPathsWithoutBackticks: the person approves the files that stand there.
func TestPathsWithoutBackticks(t *testing.T) {
	for line, want := range map[string][]string{
		"- test_cart.py":                          {"test_cart.py"},
		"- src/discount_test.go: its tests":       {"src/discount_test.go"},
		"- pkg/a_test.go, pkg/b_test.go":          {"pkg/a_test.go", "pkg/b_test.go"},
		"- __init__.py":                           {"__init__.py"},
		"- pkg/__init__.py and pkg/__main__.py":   {"pkg/__init__.py", "pkg/__main__.py"},
		"- __tests__/cart.test.ts":                {"__tests__/cart.test.ts"},
		"- _config.yml – the site":                {"_config.yml"},
		"- _src/cart.py_":                         {"src/cart.py"},
		"- __src/cart.py__ is new":                {"src/cart.py"},
		"- **src/cart.py** and *src/shop.py*":     {"src/cart.py", "src/shop.py"},
		"- app/[id]/page.tsx":                     {"app/[id]/page.tsx"},
		"- app/(shop)/[[...slug]]/route.ts":       {"app/(shop)/[[...slug]]/route.ts"},
		"- a_b_c_d.py → a_b.py":                   {"a_b_c_d.py", "a_b.py"},
		"- delete snake_case/old_name.rb":         {"snake_case/old_name.rb"},
		"- lib/a__b/_c_.ex":                       {"lib/a__b/_c_.ex"},
		"| file |\n|---|\n| test_cart.py |":       {"test_cart.py"},
		"The file src/test_cart.py gets a case.":  {"src/test_cart.py"},
		"- src/cart.py\\_old.py":                  {"src/cart.py_old.py"},
		"- [the tests](tests/test_cart.py) come.": {"tests/test_cart.py"},
	} {
		if got := filesOf(t, line); !cmp.Equal(got, want) {
			t.Errorf("%s names %q, want %q", line, got, want)
		}
	}
}

// TestAPathReadsAlikeWithAndWithoutBackticks tries names of all that file names
// are made of.
func TestAPathReadsAlikeWithAndWithoutBackticks(t *testing.T) {
	random := rand.New(rand.NewPCG(19, 2026))
	pieces := strings.Fields("a b7 _ - . cart test src [id] @ + # 日本 é a_b a__b _private")
	for range integration.Rounds(300, 1500) {
		var parts []string
		for range 1 + random.IntN(3) {
			var part strings.Builder
			for range 1 + random.IntN(4) {
				part.WriteString(pieces[random.IntN(len(pieces))])
			}
			parts = append(parts, part.String())
		}
		path := strings.Join(parts, "/") + []string{".go", ".py", ".test.ts"}[random.IntN(3)]
		if !pathLike(path, false) || strings.HasPrefix(path, "~") || strings.HasPrefix(path, "+") || strings.HasPrefix(path, "#") {
			continue // no path in running text, or the mark of a list, a heading or a fence
		}
		bare, quoted := filesOf(t, "- see "+path+" for it"), filesOf(t, "- see `"+path+"` for it")
		if !cmp.Equal(bare, quoted) {
			t.Fatalf("%q is read as %q, and in backticks as %q", path, bare, quoted)
		}
	}
}
