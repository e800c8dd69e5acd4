package artifacts

import (
	"fmt"
	"path"
	"strings"
)

// ignoreFile is a .gitignore or .writignore: rules about the paths below the
// folder that holds it.
type ignoreFile struct {
	name string // for people: its path from the project
	// base is the folder, relative to the project, "" for the project itself.
	// Of a file above the project, above leads from its folder to the project.
	base, above string
	rules       []ignoreRule
}

// ignoreRule is one line.
type ignoreRule struct {
	line     int
	text     string
	include  bool // begins with "!"
	folders  bool // ends with "/": folders alone
	anchored bool // has a slash: matched from the folder on, else by name alone
	// Of the rules that most files consist of, only one of these is set.
	literal string // the whole name or path
	suffix  string // behind a "*"
	pattern string
	// prefix is what stands before the first wildcard of a path's pattern. Git
	// takes it off first, so that the stars behind it stand at the beginning.
	prefix string
}

// parseIgnore reads the rules of a file, in git's syntax.
func parseIgnore(name, base, above, text string) *ignoreFile {
	f := &ignoreFile{name: name, base: base, above: above}
	text = strings.TrimPrefix(text, "\ufeff")
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		if rule, ok := parseIgnoreRule(line); ok {
			rule.line = n
			f.rules = append(f.rules, rule)
		}
	}
	return f
}

func parseIgnoreRule(line string) (r ignoreRule, ok bool) {
	r.text = line
	if line == "" || line[0] == '#' {
		return r, false
	}
	line = trimBlanks(line)
	if strings.HasPrefix(line, "!") {
		r.include, line = true, line[1:]
	}
	if strings.HasSuffix(line, "/") {
		r.folders, line = true, line[:len(line)-1]
	}
	r.anchored = strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	if line == "" {
		return r, false
	}
	special := func(s string) bool { return strings.ContainsAny(s, `*?[\`) }
	switch {
	case !special(line):
		r.literal = line
	case !r.anchored && line[0] == '*' && !special(line[1:]):
		r.suffix = line[1:]
		if r.suffix == "" {
			r.pattern = line
		}
	default:
		if r.anchored {
			at := strings.IndexAny(line, `*?[\`)
			r.prefix, line = line[:at], line[at:]
		}
		r.pattern = plainStars(line)
	}
	return r, true
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

// match returns the last rule that matches a path, relative to the project.
func (f *ignoreFile) match(file string, folder bool) (ignoreRule, bool) {
	switch {
	case f.above != "":
		file = f.above + "/" + file
	case f.base != "":
		file = file[len(f.base)+1:]
	}
	name := path.Base(file)
	for i := len(f.rules) - 1; i >= 0; i-- {
		r := &f.rules[i]
		if r.folders && !folder {
			continue
		}
		subject := name
		if r.anchored {
			subject = file
		}
		if r.matches(subject) {
			return *r, true
		}
	}
	return ignoreRule{}, false
}

func (r *ignoreRule) matches(subject string) bool {
	switch {
	case r.literal != "":
		return subject == r.literal
	case r.suffix != "":
		return strings.HasSuffix(subject, r.suffix)
	}
	rest, found := strings.CutPrefix(subject, r.prefix)
	return found && wildmatch(r.pattern, rest)
}

// ignoring are the ignore files that hold for a folder, the nearest last.
type ignoring []*ignoreFile

// match returns what the nearest file with a rule for a path says.
func (all ignoring) match(file string, folder bool) (f *ignoreFile, r ignoreRule, found bool) {
	for i := len(all) - 1; i >= 0; i-- {
		if r, found := all[i].match(file, folder); found {
			return all[i], r, true
		}
	}
	return nil, ignoreRule{}, false
}

// where names a rule for people.
func where(f *ignoreFile, r ignoreRule) string {
	return fmt.Sprintf("%s:%d: %s", f.name, r.line, strings.TrimSpace(r.text))
}
