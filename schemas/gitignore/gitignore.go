// Package gitignore decides what the rules of ignore files leave out, as git
// does: comments, negation, folders alone, rules of a path and of a name, "**",
// classes, escapes, blanks and line ends at the end of a line, and which of
// several files decides.
//
// It is held against git check-ignore with random rules. It reads no files: the
// caller hands in the .gitignore files of a tree, .git/info/exclude and, where
// it counts, the file of core.excludesFile, each as it comes nearer. It does not
// fold letters (core.ignoreCase), does not know which files git tracks, and
// judges a path by itself: what lies below a folder that is left out is left
// out, and the caller does not ask for it.
package gitignore

import (
	"strings"

	"github.com/writbus/writ/schemas/glob"
)

// File is an ignore file: rules about the paths below the folder that holds it.
type File struct {
	Name string // for people
	// Base is the file's folder, relative to the root of all paths, "" for the
	// root itself. Of a file above the root, Lead goes from its folder to the
	// root.
	Base, Lead string
	rules      []Rule
}

// Rule is one line.
type Rule struct {
	Line    int
	Text    string
	Include bool // begins with "!"

	folders  bool // ends with "/": folders alone
	anchored bool // has a slash: matched from the folder on, else by name alone
	pattern  glob.Pattern
}

// Parse reads the rules of a file.
func Parse(text string) *File {
	f := &File{}
	text = strings.TrimPrefix(text, "\ufeff")
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		line, _, _ = strings.Cut(line, "\x00") // where git's line ends
		if rule, ok := parse(line); ok {
			rule.Line = n
			f.rules = append(f.rules, rule)
		}
	}
	return f
}

func parse(line string) (r Rule, ok bool) {
	r.Text = line
	if line == "" || line[0] == '#' {
		return r, false
	}
	line = trimBlanks(line)
	if strings.HasPrefix(line, "!") {
		r.Include, line = true, line[1:]
	}
	if strings.HasSuffix(line, "/") {
		r.folders, line = true, line[:len(line)-1]
	}
	r.anchored = strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	if line == "" {
		return r, false
	}
	// Git takes off what stands before the first wildcard of a path's pattern, so
	// that the stars behind it stand at the beginning.
	plain := 0
	if r.anchored {
		if plain = strings.IndexAny(line, `*?[\`); plain < 0 {
			plain = len(line)
		}
	}
	r.pattern, ok = glob.Wildmatch(line[:plain], line[plain:])
	return r, ok
}

// trimBlanks takes trailing blanks off that no backslash protects.
func trimBlanks(line string) string {
	end := len(line)
	for end > 0 && line[end-1] == ' ' {
		slashes := 0
		for i := end - 2; i >= 0 && line[i] == '\\'; i-- {
			slashes++
		}
		if slashes%2 == 1 {
			break
		}
		end--
	}
	return line[:end]
}

// Match returns the last rule that matches a path, relative to the root.
func (f *File) Match(file string, folder bool) (r *Rule, found bool) {
	switch {
	case f.Lead != "":
		file = f.Lead + "/" + file
	case f.Base != "":
		file = file[len(f.Base)+1:]
	}
	name := file[strings.LastIndexByte(file, '/')+1:]
	for i := len(f.rules) - 1; i >= 0; i-- {
		r := &f.rules[i]
		if r.folders && !folder {
			continue
		}
		subject := name
		if r.anchored {
			subject = file
		}
		if r.pattern.Match(subject) {
			return r, true
		}
	}
	return nil, false
}

// Files are the ignore files that hold for a folder, the nearest last.
type Files []*File

// Match returns what the nearest file with a rule for a path says.
func (all Files) Match(file string, folder bool) (f *File, r *Rule, found bool) {
	for i := len(all) - 1; i >= 0; i-- {
		if r, found := all[i].Match(file, folder); found {
			return all[i], r, true
		}
	}
	return nil, nil, false
}
