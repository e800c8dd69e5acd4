package enforcement

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/excerpt"
)

// DefaultSmallLines is how many lines of code one prompt may change in small mode
// where the project says nothing else.
const DefaultSmallLines = 40

// Edit is what a tool would change of a file of code, as far as small mode asks.
// Of lines that are not the same before and after, the larger of both counts.
type Edit struct {
	Lines int      // that the tool itself changes
	All   int      // in which the file then differs from what it held at the prompt
	Adds  []string // names that others may use from then on, sorted
}

// NewEdit compares the content of a file at the user's prompt with the one after a
// tool; the caller counts the lines.
func NewEdit(file string, before, after []byte, lines, all int) Edit {
	e := Edit{Lines: lines, All: all}
	had := publicNames(file, before)
	for _, name := range publicNames(file, after) {
		if !slices.Contains(had, name) {
			e.Adds = insert(e.Adds, name)
		}
	}
	return e
}

// public finds the names that a file offers to others, by the ending of its name.
// It reads lines, not the language: in doubt a name is found, and the change is
// work. Of a language that is not here no name is known, and the lines bound it.
var public = sync.OnceValue(func() map[string]*regexp.Regexp {
	java := regexp.MustCompile(`(?m)^\s*(?:public|protected)\s[^=;{(]*?(\w+)\s*[=;{(]`)
	script := regexp.MustCompile(`(?m)^\s*(?:export\s+(?:default\s+)?(?:async\s+)?(?:function\*?|class|const|let|var|type|interface|enum|namespace|abstract\s+class)\s+(\w+)|export\s+(\{[^}]*\}|default\b|\*[^\n]*)|module\.exports\s*=\s*(\{[^}]*\}|\w+)|(?:module\.)?exports\.(\w+)\s*=)`)
	all := map[string]*regexp.Regexp{
		".go":    regexp.MustCompile(`(?m)^(?:(?:func(?:\s+\([^)]*\))?|type|var|const)\s+([A-Z]\w*)|\t([A-Z]\w*)\s+[\w*\[=(.])`),
		".py":    regexp.MustCompile(`(?m)^[ \t]*(?:async\s+def|def|class)\s+([A-Za-z]\w*)`),
		".rs":    regexp.MustCompile(`(?m)^\s*pub(?:\([^)]*\))?\s+(?:async\s+|unsafe\s+|const\s+)*(?:fn|struct|enum|trait|type|mod|static|const|use)\s+(\w+)`),
		".rb":    regexp.MustCompile(`(?m)^\s*(?:def\s+(?:self\.)?|class\s+|module\s+)(\w+)`),
		".php":   regexp.MustCompile(`(?m)^\s*(?:(?:abstract\s+|final\s+)*(?:class|interface|trait|enum)|(?:public\s+)(?:static\s+)?function|function)\s+(\w+)`),
		".kt":    regexp.MustCompile(`(?m)^\s*(?:public\s+|open\s+|data\s+|suspend\s+|inline\s+)*(?:fun|class|object|interface|val|var)\s+(?:<[^>]*>\s*)?(\w+)`),
		".scala": regexp.MustCompile(`(?m)^\s*(?:case\s+|implicit\s+|lazy\s+)*(?:def|class|object|trait|val|type)\s+(\w+)`),
		".ex":    regexp.MustCompile(`(?m)^\s*(?:def|defmodule|defmacro)\s+([\w.?!]+)`),
		".swift": regexp.MustCompile(`(?m)^\s*(?:public|open)\s[^={(]*?(\w+)\s*[=:{(<]`),
	}
	for _, ext := range []string{".java", ".cs"} {
		all[ext] = java
	}
	for _, ext := range []string{".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".vue", ".svelte"} {
		all[ext] = script
	}
	for _, ext := range []string{".h", ".hpp", ".hh", ".hxx"} {
		all[ext] = regexp.MustCompile(`(?m)^(?:[\w:*&<>,\s]+?)\b(\w+)\s*\([^;{]*\)\s*(?:const)?\s*[;{]`)
	}
	return all
})

func publicNames(file string, content []byte) (names []string) {
	found := public()[path.Ext(file)]
	if found == nil {
		return nil
	}
	for _, m := range found.FindAllSubmatch(content, -1) {
		for _, name := range m[1:] {
			if len(name) > 0 {
				names = insert(names, string(name))
			}
		}
	}
	return names
}

// manifests are further files that say what a project depends on, beside those of
// [lockFiles].
var manifests = setOf("requirements.txt", "setup.py", "setup.cfg", "pom.xml", "build.gradle", "build.gradle.kts", "libs.versions.toml", "Directory.Packages.props", "packages.config", "environment.yml", "conanfile.txt", "vcpkg.json", "Dockerfile", "build.sbt", "docker-compose.yml", "compose.yaml", "shard.yml", "rebar.config")

// dependencies tells a file that says what a project depends on.
func dependencies(file string) bool {
	base := path.Base(file)
	if lockFiles[base] != nil || manifests[base] || strings.HasSuffix(path.Ext(base), "proj") || path.Ext(base) == ".txt" && (strings.HasPrefix(base, "requirements") || path.Base(path.Dir(file)) == "requirements") {
		return true
	}
	for _, locks := range lockFiles {
		if slices.Contains(locks, base) {
			return true
		}
	}
	return false
}

// small judges a write in small mode: tests are free, and of code the user sees
// each edit and says yes to it, as long as the change is small.
func (st stance) small(t schemas.Target) ruling {
	if t.Class != ClassCode {
		return allowed
	}
	e, known := st.edits[t.Rel]
	total := st.Small.with(st.edits).lines()
	why := ""
	switch {
	case !known || t.Rel == "":
		why = "small mode shows each change of code to the user, and what a command, a sub-agent or a move of files leaves is not shown."
	case dependencies(t.Rel):
		why = "it says what the project depends on."
	case len(e.Adds) > 0:
		why = "it adds a name that others may use: " + excerpt.Runes(strings.Join(e.Adds, ", "), 100) + "."
	case total > st.most:
		why = fmt.Sprintf("with this edit the change has %d lines of code, of %d that one prompt may change.", total, st.most)
	default:
		return ruling{verdict: Ask, rule: RuleSmall, gate: ModeSmall, text: wording{
			fmt.Sprintf("small mode shows each change of code: %s here, %d of %d since the prompt.", lineCount(e.Lines), total, st.most),
			"A yes is for this edit. Without it, ask what should be different.",
		}}
	}
	next := "That has outgrown small mode: `writ mode set work` goes on with a plan and tests, or the user types another mode."
	if !known {
		next = "Make the change with the tool that edits files. What has outgrown small mode goes on with `writ mode set work`."
	}
	return ruling{rule: RuleSmall, gate: ModeSmall, text: wording{why, next}}
}

// Small are the lines in which files of code differ from what they held at the last
// prompt in small mode, by file.
type Small map[string]int

func (s Small) lines() (n int) {
	for lines := range maps.Values(s) {
		n += lines
	}
	return n
}

// grown counts the lines that a tool changed, where it could be told what it leaves.
func (s Small) grown(w PendingWrite) Small {
	for _, t := range w.Targets {
		if (t.Result != "" || t.Lines > 0) && s[t.Path] != t.Lines {
			s = cloned(s)
			s.set(t.Path, t.Lines)
		}
	}
	return s
}

// with counts the lines as they were after edits that are asked for.
func (s Small) with(edits map[string]Edit) Small {
	s = cloned(s)
	for file, e := range edits {
		s.set(file, e.All)
	}
	return s
}

func (s Small) set(file string, lines int) {
	if s[file] = lines; lines == 0 {
		delete(s, file)
	}
}

func lineCount(n int) string {
	if n == 1 {
		return "1 line"
	}
	return fmt.Sprintf("%d lines", n)
}

func (s Small) guidance() string {
	text := "Mode: small. Tests may be written; each edit of code is shown to the user, who says yes to it. No command writes code; no new dependency, no new public name. What outgrows it goes on with `writ mode set work`."
	if n := s.lines(); n > 0 {
		text += fmt.Sprintf(" Changed since the prompt: %s.", lineCount(n))
	}
	return text
}
