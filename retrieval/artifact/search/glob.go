package search

import (
	"fmt"
	"path"
	"strings"
)

// Glob is a pattern of paths: "*", "?" and "[a-z]" match within a name, "**" any
// number of folders, "{a,b}" either. A pattern without wildcards also matches
// everything below the folder that it names; one without a slash matches names
// in any folder.
type Glob struct{ patterns [][]string }

// mostAlternatives bounds what braces may expand to.
const mostAlternatives = 256

// ParseGlob reads a pattern. An error wraps [ErrGlob].
func ParseGlob(pattern string) (Glob, error) {
	var g Glob
	alternatives, err := braces(strings.TrimPrefix(pattern, "./"))
	if err != nil || pattern == "" {
		return g, fmt.Errorf("%w: %q", ErrGlob, pattern)
	}
	for _, one := range alternatives {
		parts := strings.Split(strings.Trim(one, "/"), "/")
		for _, part := range parts {
			if _, err := path.Match(part, ""); err != nil {
				return g, fmt.Errorf("%w: %q: %w", ErrGlob, pattern, err)
			}
		}
		if len(parts) == 1 && !strings.HasPrefix(one, "/") {
			parts = append([]string{"**"}, parts...)
		}
		g.patterns = append(g.patterns, parts)
		if !strings.ContainsAny(one, "*?[") {
			g.patterns = append(g.patterns, append(append([]string(nil), parts...), "**"))
		}
	}
	return g, nil
}

// braces expands "{a,b}".
func braces(pattern string) ([]string, error) {
	open := strings.IndexByte(pattern, '{')
	if open < 0 {
		return []string{pattern}, nil
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
			var out []string
			for _, choice := range append(choices, pattern[from:at]) {
				rest, err := braces(pattern[:open] + choice + pattern[at+1:])
				if err != nil || len(out)+len(rest) > mostAlternatives {
					return nil, ErrGlob
				}
				out = append(out, rest...)
			}
			return out, nil
		}
	}
	return nil, ErrGlob
}

// Match tells whether a path, with slashes and relative, fits the pattern.
func (g Glob) Match(name string) bool {
	parts := strings.Split(name, "/")
	for _, pattern := range g.patterns {
		if matchParts(pattern, parts) {
			return true
		}
	}
	return false
}

// matchPart is [path.Match] of a pattern that was checked. Most are "*" with an
// ending, against every name of a project.
func matchPart(pattern, name string) bool {
	if ending, starred := strings.CutPrefix(pattern, "*"); starred && !strings.ContainsAny(ending, `*?[\`) {
		return strings.HasSuffix(name, ending)
	}
	fits, _ := path.Match(pattern, name)
	return fits
}

// matchParts goes on from the last "**" when a part does not fit: an earlier one
// could match no more than that.
func matchParts(pattern, parts []string) bool {
	p, n := 0, 0
	star, again := -1, 0
	for n < len(parts) {
		if p < len(pattern) && pattern[p] == "**" {
			star, again = p, n
			p++
			continue
		}
		if p < len(pattern) {
			if matchPart(pattern[p], parts[n]) {
				p++
				n++
				continue
			}
		}
		if star < 0 {
			return false
		}
		again++
		p, n = star+1, again
	}
	for p < len(pattern) && pattern[p] == "**" {
		p++
	}
	return p == len(pattern)
}
