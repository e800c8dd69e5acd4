package language

import (
	_ "embed" // subjects.txt
	"path"
	"slices"
	"strings"
	"sync"
)

// Subject is a technology that rules are about and that a project has or has not:
// a database, a queue, a platform, a kind of model. What such a rule says is noise
// where nobody uses it.
type Subject struct {
	// Words are what texts call it and the things that are its alone, of one word
	// or several. A word counts in the plural, too.
	Words []string
	// Libraries are texts in a manifest that name a library for it.
	Libraries []string
	// Files are patterns of names, of files or folders, that are there where it is used.
	Files []string
}

//go:embed subjects.txt
var subjectsText string

// subjectTable is what subjects.txt says.
type subjectTable struct {
	byName map[string]Subject
	called map[string]string // the name of each, by it and by its other names
	words  map[string]bool   // names and words
	files  Marks
}

var subjects = sync.OnceValue(func() subjectTable {
	t := subjectTable{byName: map[string]Subject{}, called: map[string]string{}, words: map[string]bool{}}
	files := map[string][]string{}
	text := strings.ReplaceAll(strings.ReplaceAll(subjectsText, "\r", ""), "\n  ", " ")
	for _, paragraph := range strings.Split(text, "\n\n")[1:] {
		first, rest, _ := strings.Cut(paragraph, "\n")
		lists := map[string][]string{}
		for line := range strings.Lines(rest) {
			key, list, _ := strings.Cut(strings.TrimSpace(line), ": ")
			lists[key] = strings.Split(list, ", ")
		}
		names := strings.Split(first, ", ")
		for _, name := range names {
			t.called[name] = names[0]
		}
		for _, word := range append(lists["words"], names[0]) {
			t.words[word] = true
		}
		t.byName[names[0]], files[names[0]] = Subject{lists["words"], lists["libraries"], lists["files"]}, lists["files"]
	}
	t.files = NewMarks(files)
	return t
})

// SubjectOf is the subject of a rule, by its first tag or its domain; "" is none
// that a project has or has not.
func SubjectOf(domain string, tags []string) string {
	names := []string{domain}
	if len(tags) > 0 {
		names = []string{tags[0], domain}
	}
	for _, name := range names {
		if subject := subjects().called[strings.ToLower(name)]; subject != "" {
			return subject
		}
	}
	return ""
}

// NamesSubject says whether a text names a subject. Its words are those of the
// text in lower case, and text is them with one space between.
func NamesSubject(subject string, words map[string]bool, text string) bool {
	return slices.ContainsFunc(subjects().byName[subject].Words, func(name string) bool {
		if strings.Contains(name, " ") {
			return strings.Contains(text, name)
		}
		return words[name] || words[name+"s"]
	})
}

// everywhere are technologies that rules take for granted, so that they are no subject.
const everywhere = " postgres postgresql sqlite rabbitmq nats nginx "

// Technology tells whether a word, in lower case, is what a language, a framework or
// a subject is called.
func Technology(word string) bool {
	return subjects().words[word] || Specific(word) || called[word] != "" || strings.Contains(everywhere, " "+word+" ")
}

// Technologies are the words of a text, in lower case and with one space between,
// that a technology is called, in the plural, too.
func Technologies(text string) string {
	return strings.Join(slices.DeleteFunc(strings.Fields(text), func(word string) bool {
		return !Technology(word) && !Technology(strings.TrimSuffix(word, "s"))
	}), " ")
}

// SubjectsOfFile are those that a file or folder of such a name, without its
// path, tells.
func SubjectsOfFile(name string) []string { return subjects().files.Of(name) }

// Marks are names of files that tell something, found without trying each.
type Marks struct {
	exact    map[string][]string // by a name, or by "*" and an ending
	patterns map[string][]string // what else is a pattern of package path
}

// NewMarks indexes, by what they tell, names of files and patterns of them.
func NewMarks(told map[string][]string) Marks {
	m := Marks{map[string][]string{}, map[string][]string{}}
	for what, files := range told {
		for _, file := range files {
			into := m.exact
			if rest := strings.TrimPrefix(file, "*"); strings.Contains(rest, "*") || rest != file && path.Ext(rest) != rest {
				into = m.patterns
			}
			into[file] = append(into[file], what)
		}
	}
	return m
}

// Of is what a file of such a name, without its path, tells, sorted.
func (m Marks) Of(name string) []string {
	found := slices.Concat(m.exact[name], m.exact["*"+path.Ext(name)])
	for pattern, what := range m.patterns {
		if matches, err := path.Match(pattern, name); err == nil && matches {
			found = append(found, what...)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// SubjectsInManifest are those whose libraries a manifest, in lower case, names.
func SubjectsInManifest(content string) []string {
	var found []string
	for name, s := range subjects().byName {
		if slices.ContainsFunc(s.Libraries, func(library string) bool { return strings.Contains(content, library) }) {
			found = append(found, name)
		}
	}
	slices.Sort(found)
	return found
}
