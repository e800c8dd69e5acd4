package skeleton

import (
	"slices"
	"strings"
)

// Test is a test of a file and what it asserts.
type Test struct {
	Name string // as the language writes it, or what its first line says in quotes; "" for neither
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
		if one.Name == "" && t.line > 0 && t.line <= len(lines) {
			one.Name = quoted(lines[t.line-1])
		}
		seen := map[int]bool{}
		for _, a := range slices.SortedStableFunc(slices.Values(t.found), func(a, b assertion) int { return a.line - b.line }) {
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

// quoted is the first text in quotes of a line, "" for none.
func quoted(line string) string {
	begin := strings.IndexAny(line, "\"'`")
	if begin < 0 {
		return ""
	}
	text, _, closed := strings.Cut(line[begin+1:], line[begin:begin+1])
	if !closed {
		return ""
	}
	return text
}
