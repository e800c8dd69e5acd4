package check

import (
	"fmt"
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/pattern"
)

// glob is a pattern of paths: * and ? stay inside a component, ** crosses
// them, {a,b} are alternatives. Without a slash it is one of file names at any
// depth, as in .gitignore; with a slash at its end it is a folder with all
// that is in it.
type glob struct{ re *regexp.Regexp }

func globs(from []string) ([]glob, error) {
	var out []glob
	for _, p := range from {
		whole := strings.TrimPrefix(p, "./")
		if strings.HasSuffix(whole, "/") {
			whole += "**"
		}
		if whole == "" {
			return nil, fmt.Errorf("an empty glob matches nothing; write a path such as src/** or leave it out")
		}
		if !strings.Contains(whole, "/") {
			whole = "**/" + whole
		}
		for _, one := range alternatives(strings.TrimPrefix(whole, "/")) {
			expr, err := pattern.Regexp(one, pattern.Filenames|pattern.EntireString|pattern.GlobLeadingDot)
			if err != nil {
				return nil, fmt.Errorf("glob %q: %w", p, err)
			}
			re, err := regexp.Compile(expr)
			if err != nil {
				return nil, fmt.Errorf("glob %q: %w", p, err)
			}
			out = append(out, glob{re})
		}
	}
	return out, nil
}

func anyGlob(g []glob, name string) bool {
	for _, one := range g {
		if one.re.MatchString(name) {
			return true
		}
	}
	return false
}

// maxAlternatives bounds what braces in one glob may stand for.
const maxAlternatives = 64

// alternatives writes out {a,b}, from the innermost braces on. Braces without
// a comma stand for themselves.
func alternatives(p string) []string {
	out := []string{p}
	for i := 0; i < len(out) && len(out) < maxAlternatives; {
		before, choices, after, found := innerBraces(out[i])
		if !found {
			i++
			continue
		}
		var all []string
		for _, c := range choices {
			all = append(all, before+c+after)
		}
		out = append(append(out[:i:i], all...), out[i+1:]...)
	}
	return out
}

func innerBraces(p string) (before string, choices []string, after string, found bool) {
	open := -1
	for i := range len(p) {
		switch {
		case p[i] == '{':
			open = i
		case p[i] == '}' && open >= 0:
			if inside := p[open+1 : i]; strings.Contains(inside, ",") {
				return p[:open], strings.Split(inside, ","), p[i+1:], true
			}
			open = -1
		}
	}
	return "", nil, "", false
}
