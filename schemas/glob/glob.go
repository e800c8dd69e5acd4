// Package glob matches paths and texts with the patterns of settings and rules,
// and has the engine that the rules of ignore files use.
//
// It guarantees that no pattern takes more time than its length times the square
// of the path's, and that "*" never crosses a slash in a path. It reads no
// folders, knows no cases of letters, and leaves paths as they are: with
// forward slashes and relative.
package glob

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrGlob is returned for a pattern that cannot be understood.
var ErrGlob = errors.New("glob: not a path pattern")

// Glob is a pattern of paths: "*", "?" and "[a-z]" match within a name, "**" any
// number of folders, "{a,b}" either. With a slash at its end a pattern matches
// what is in a folder; without wildcards it matches a file or what is in a
// folder; without another slash it matches in any folder. "\" takes the next
// character as it stands.
type Glob []Pattern

// mostAlternatives bounds what braces may expand to.
const mostAlternatives = 256

// Parse reads a pattern. An error wraps [ErrGlob].
func Parse(pattern string) (Glob, error) {
	if pattern == "" {
		return nil, fmt.Errorf("%w: an empty glob matches nothing; write a path such as src/** or leave it out", ErrGlob)
	}
	alternatives, ok := Braces(strings.TrimPrefix(pattern, "./"))
	if !ok {
		return nil, fmt.Errorf("%w: %q", ErrGlob, pattern)
	}
	var g Glob
	for _, one := range alternatives {
		whole := strings.Trim(one, "/")
		if !strings.Contains(whole, "/") && !strings.HasPrefix(one, "/") {
			whole = "**/" + whole
		}
		var forms []string
		switch folder := strings.HasSuffix(one, "/"); {
		case strings.Trim(one, "/") == "":
			forms = []string{"**"}
		case folder:
			forms = []string{whole + "/**"}
		case strings.ContainsAny(one, "*?["):
			forms = []string{whole}
		default:
			forms = []string{whole, whole + "/**"}
		}
		for _, form := range forms {
			r := reader{special: `*?[\`}
			if !r.read(form) {
				return nil, fmt.Errorf("%w: %q", ErrGlob, pattern)
			}
			g = append(g, Pattern{tokens: r.tokens})
		}
	}
	return g, nil
}

// ParseAll reads patterns.
func ParseAll(patterns []string) ([]Glob, error) {
	all := make([]Glob, 0, len(patterns))
	for _, p := range patterns {
		g, err := Parse(p)
		if err != nil {
			return nil, err
		}
		all = append(all, g)
	}
	return all, nil
}

// Match says whether a path fits the pattern.
func (g Glob) Match(name string) bool {
	for i := range g {
		if g[i].Match(name) {
			return true
		}
	}
	return false
}

// Any says whether a path fits one of the patterns.
func Any(globs []Glob, name string) bool {
	return slices.ContainsFunc(globs, func(g Glob) bool { return g.Match(name) })
}

// Braces expands "{a,b}"; not ok tells of too many alternatives, or of a brace without
// its end.
func Braces(pattern string) (all []string, ok bool) {
	open := strings.IndexByte(pattern, '{')
	if open < 0 {
		return []string{pattern}, true
	}
	depth, from := 0, open+1
	var choices []string
	for at := open; at < len(pattern); at++ {
		switch pattern[at] {
		case '{':
			depth++
		case ',':
			if depth == 1 {
				choices, from = append(choices, pattern[from:at]), at+1
			}
		case '}':
			if depth--; depth > 0 {
				continue
			}
			for _, choice := range append(choices, pattern[from:at]) {
				more, ok := Braces(pattern[:open] + choice + pattern[at+1:])
				if !ok || len(all)+len(more) > mostAlternatives {
					return nil, false
				}
				all = append(all, more...)
			}
			return all, true
		}
	}
	return nil, false
}

// Text says whether a whole text fits a pattern whose only sign is "*", any
// text, slashes among it.
func Text(pattern, value string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == value
	}
	last := parts[len(parts)-1]
	if len(value) < len(parts[0])+len(last) || !strings.HasPrefix(value, parts[0]) || !strings.HasSuffix(value, last) {
		return false
	}
	value = value[len(parts[0]) : len(value)-len(last)]
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(value, part)
		if i < 0 {
			return false
		}
		value = value[i+len(part):]
	}
	return true
}
