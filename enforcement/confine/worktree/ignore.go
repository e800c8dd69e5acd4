package worktree

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// ignoring decides what .gitignore files leave out of a tree.
type ignoring struct {
	tracked map[string]bool // folders below which git knows a file
	base    ruleList        // of .git/info/exclude and the caller
	rules   map[string]ruleList
	closed  bool // rules are those read before; no more are read
}

func newIgnoring(index map[string]indexed, base ruleList) *ignoring {
	g := &ignoring{tracked: map[string]bool{}, base: base, rules: map[string]ruleList{}}
	for p := range index {
		for dir := path.Dir(p); dir != "." && !g.tracked[dir]; dir = path.Dir(dir) {
			g.tracked[dir] = true
		}
	}
	return g
}

// frozen decides by the rules read so far.
func (g *ignoring) frozen() *ignoring {
	f := *g
	f.closed = true
	return &f
}

func readExclude(gitDir string) ruleList {
	raw, _ := os.ReadFile(filepath.Join(gitDir, "info", "exclude"))
	return parseIgnore(string(raw))
}

// enter reads the rules of a folder that is about to be visited.
func (g *ignoring) enter(root, dir string, names []string) {
	if g.closed || !slices.Contains(names, ".gitignore") {
		return
	}
	raw, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(dir), ".gitignore"))
	if err == nil {
		g.rules[dir] = parseIgnore(string(raw))
	}
}

// ignores reports whether a name in a folder is left out. The last rule that
// matches decides, those of deeper folders before those above.
func (g *ignoring) ignores(dir, name string, isDir bool) bool {
	rel := name
	for {
		if ignored, decided := g.rules[dir].match(rel, name, isDir); decided {
			return ignored
		}
		if dir == "" {
			break
		}
		slash := strings.LastIndexByte(dir, '/')
		rel = dir[slash+1:] + "/" + rel
		dir = dir[:max(slash, 0)]
	}
	ignored, _ := g.base.match(rel, name, isDir)
	return ignored
}

// ruleList are the lines of one .gitignore file, in order.
type ruleList []ignoreRule

type ignoreRule struct {
	negated, dirOnly bool
	anchored         bool     // matches the path from the file's folder, not any name below it
	parts            []string // of an anchored pattern
	name             string   // pattern of a name
	suffix           string   // of "*suffix", which is most patterns
	literal          bool
}

// parseIgnore reads the lines of a .gitignore file. Lines that git would not
// understand match nothing.
func parseIgnore(text string) ruleList {
	var rules ruleList
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
			line = line[:len(line)-1]
		}
		if line == "" || line[0] == '#' {
			continue
		}
		var r ignoreRule
		if line[0] == '!' {
			r.negated, line = true, line[1:]
		}
		r.dirOnly = strings.HasSuffix(line, "/")
		line = strings.TrimSuffix(line, "/")
		if line == "" {
			continue
		}
		r.anchored = strings.Contains(line, "/")
		line = strings.TrimPrefix(line, "/")
		if rest, ok := strings.CutPrefix(line, "**/"); ok && !strings.Contains(rest, "/") {
			r.anchored, line = false, rest
		}
		if r.anchored {
			r.parts = strings.Split(line, "/")
		} else {
			r.name = line
			r.literal = !strings.ContainsAny(line, `*?[\`)
			if rest, ok := strings.CutPrefix(line, "*"); ok && !strings.ContainsAny(rest, `*?[\`) {
				r.suffix = rest
			}
		}
		rules = append(rules, r)
	}
	return rules
}

// match finds the last rule for a path, relative to the rules' folder.
func (l ruleList) match(rel, name string, isDir bool) (ignored, decided bool) {
	for i := len(l) - 1; i >= 0; i-- {
		if r := &l[i]; (isDir || !r.dirOnly) && r.matches(rel, name) {
			return !r.negated, true
		}
	}
	return false, false
}

func (r *ignoreRule) matches(rel, name string) bool {
	switch {
	case r.anchored:
		return matchParts(r.parts, strings.Split(rel, "/"))
	case r.literal:
		return r.name == name
	case r.suffix != "":
		return strings.HasSuffix(name, r.suffix)
	}
	ok, _ := path.Match(r.name, name)
	return ok
}

// matchParts matches a path part by part; "**" stands for any number of parts,
// at the end for at least one.
func matchParts(pattern, parts []string) bool {
	for i, p := range pattern {
		if p == "**" {
			if i == len(pattern)-1 {
				return len(parts) > i
			}
			for skip := i; skip < len(parts); skip++ {
				if matchParts(pattern[i+1:], parts[skip:]) {
					return true
				}
			}
			return false
		}
		if i >= len(parts) {
			return false
		}
		if ok, _ := path.Match(p, parts[i]); !ok {
			return false
		}
	}
	return len(parts) == len(pattern)
}
