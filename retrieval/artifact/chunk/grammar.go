package chunk

import (
	"regexp"
	"strings"

	"github.com/writbus/writ/retrieval/artifact"
)

// grammar says what declarations of a language look like, line by line. How
// far a declaration goes is told by indentation, which people and formatters
// keep in every language.
type grammar struct {
	comments comments
	// declarations are tried in their order; the first group is the name.
	declarations []declaration
}

type declaration struct {
	line func() *regexp.Regexp
	kind string
	// container has declarations of its own, such as a class.
	container bool
	// member is found within a container only, top outside alone.
	member, top bool
	// loose looks like a call too: what begins with a word such as return, or
	// names one, is none.
	loose bool
}

// comments says what is no code.
type comments struct {
	line   []string
	block  [][2]string // begin and end, over lines
	quotes string      // delimiters of strings that end with their line
	long   []string    // delimiters of strings over lines
}

// found is a declaration in a text.
type found struct {
	declaration
	name   string
	line   int
	indent int
}

// outline cuts at declarations. Those within a container are its parts.
func (g *grammar) outline(t lines) outline {
	o := outline{least: declarationTokens}
	all := g.find(t)
	if len(all) == 0 {
		return o
	}
	for _, f := range all {
		kind := f.kind
		if f.member && kind == "func" {
			kind = "method"
		}
		o.symbols = append(o.symbols, artifact.Symbol{Name: f.name, Kind: kind, Line: f.line + 1})
	}
	o.sections = g.sections(t, all, 0, t.count(), "")
	return o
}

// sections cuts lines at the declarations in them that are not within another.
func (g *grammar) sections(t lines, all []found, from, to int, heading string) []section {
	head := section{from: from, to: to, heading: heading}
	sections := []section{head}
	for i := 0; i < len(all); {
		f := all[i]
		next := i + 1
		for next < len(all) && all[next].indent > f.indent {
			next++
		}
		start := g.start(t, f.line, sections[len(sections)-1].from)
		sections[len(sections)-1].to = start
		s := section{from: start, to: to, heading: f.name}
		if next < len(all) {
			s.to = g.start(t, all[next].line, f.line+1)
		}
		if next > i+1 {
			s.parts = g.sections(t, all[i+1:next], s.from, s.to, f.name)
		}
		sections = append(sections, s)
		i = next
	}
	sections[len(sections)-1].to = to
	return sections
}

// start is where a declaration begins with the comments and annotations that
// stand above it.
func (g *grammar) start(t lines, line, least int) int {
	for line > least && g.leads(strings.TrimSpace(t.line(line-1))) {
		line--
	}
	return max(line, least)
}

func (g *grammar) leads(line string) bool {
	if line == "" {
		return false
	}
	for _, mark := range []string{"@", "#[", "/*", "*/", "* ", "template", "[["} {
		if strings.HasPrefix(line, mark) {
			return true
		}
	}
	for _, mark := range g.comments.line {
		if strings.HasPrefix(line, mark) {
			return true
		}
	}
	return line == "*" || strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]")
}

// find lists the declarations that are not within a function.
func (g *grammar) find(t lines) (all []found) {
	code := lines{mask(t.text, g.comments), t.starts}
	var open []found // what the line is within
	for i := range code.count() {
		line := code.line(i)
		trimmed := strings.TrimLeft(line, " \t")
		if trimmed == "" {
			continue
		}
		indent := indentOf(line)
		for len(open) > 0 && !aside(trimmed) && indent <= open[len(open)-1].indent {
			open = open[:len(open)-1]
		}
		within := len(open) > 0
		if within && !open[len(open)-1].container {
			continue
		}
		f, is := g.match(trimmed, within)
		if !is {
			continue
		}
		f.line, f.indent = i, indent
		f.member = within && open[len(open)-1].kind != "module"
		if within && open[len(open)-1].kind != "module" {
			f.name = open[len(open)-1].name + "." + f.name
		}
		all = append(all, f)
		open = append(open, f)
	}
	return all
}

func (g *grammar) match(line string, within bool) (found, bool) {
	for _, d := range g.declarations {
		if d.member && !within || d.top && within {
			continue
		}
		m := d.line().FindStringSubmatch(line)
		if m == nil {
			continue
		}
		if d.loose && (controls[m[1]] || controls[wordOf(line)]) {
			continue
		}
		return found{declaration: d, name: m[1]}, true
	}
	return found{}, false
}

func wordOf(line string) string {
	end := strings.IndexFunc(line, func(r rune) bool { return r < 'a' || r > 'z' })
	if end < 0 {
		return line
	}
	return line[:end]
}

// aside says that a line stands where it does whatever it is within: a brace of
// its own, a directive, a label of access.
func aside(line string) bool {
	switch line[0] {
	case '{', ')', '#':
		return true
	}
	return strings.HasSuffix(strings.TrimRight(line, " \t"), ":") && access[wordOf(line)]
}

var access = map[string]bool{"public": true, "private": true, "protected": true, "signals": true, "default": true}

// controls are words that look like a function that is declared.
var controls = map[string]bool{
	"if": true, "else": true, "for": true, "while": true, "switch": true, "case": true, "return": true, "catch": true,
	"new": true, "throw": true, "do": true, "try": true, "sizeof": true, "await": true, "typeof": true, "elif": true,
	"using": true, "lock": true, "when": true, "super": true, "this": true, "yield": true, "assert": true, "defined": true,
	"foreach": true, "synchronized": true, "with": true, "delete": true, "goto": true,
}

// tabWidth is how far a tab counts in comparing indentation.
const tabWidth = 4

func indentOf(line string) (n int) {
	for _, r := range line {
		switch r {
		case ' ':
			n++
		case '\t':
			n += tabWidth
		default:
			return n
		}
	}
	return n
}
