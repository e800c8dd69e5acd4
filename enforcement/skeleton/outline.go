package skeleton

import "strings"

// Test is a test of a file and what it asserts.
type Test struct {
	Name string // as the language writes it, "" where the file's language is not read
	Line int    // 1-based
	// Asserts are the lines of its assertions, also of those in helpers that it
	// calls, in order; the ones that can fail where it has any.
	Asserts []string
}

// Outline lists the tests of a file with what they assert, in order. What no
// runner would take has none.
func Outline(path string, content []byte) []Test {
	if !IsTestPath(path) {
		return nil
	}
	if len(content) > MaxBytes {
		content = content[:MaxBytes]
	}
	lines := strings.Split(string(content), "\n")
	var out []Test
	for _, t := range languageOf(path)(content) {
		best := unconditional
		for _, a := range t.found {
			best = max(best, a.strength)
		}
		one := Test{Name: t.name, Line: t.line}
		seen := map[int]bool{}
		for _, a := range t.found {
			if a.strength < best || seen[a.line] || a.line < 1 || a.line > len(lines) {
				continue
			}
			seen[a.line] = true
			one.Asserts = append(one.Asserts, strings.Join(strings.Fields(lines[a.line-1]), " "))
		}
		out = append(out, one)
	}
	return out
}
