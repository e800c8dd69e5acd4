package chunk

import (
	"regexp"
	"slices"
	"strings"

	"github.com/writbus/writ/retrieval/artifact"
)

// grammar says what declarations of a language look like, line by line. How
// far a declaration goes is told by indentation, which people and formatters
// keep in every language.
type grammar struct {
	comments comments
	// declarations are tried in their order; the first group that is not empty is
	// the name.
	declarations []declaration
	// hints are what lines in the body of a function hold that may declare
	// something: others are passed over. None passes over all bodies.
	hints []string
	// also finds a second name in a line that declares one; nil finds none.
	also func() *regexp.Regexp
	// clauses says that a function may be declared in parts, one after another,
	// that are one declaration.
	clauses bool
}

type declaration struct {
	line func() *regexp.Regexp
	kind string
	// needs are parts of which a line that declares has one: who has none is not
	// held against the pattern, which takes its time. Nil needs nothing.
	needs []string
	// container has declarations of its own, such as a class.
	container bool
	// member is found within a container only, top outside alone; inner also in
	// the body of a function.
	member, top, inner bool
	// of is the kind of the container that a member is found in alone; "" is any.
	of string
	// starts says that the pattern ends with rest.
	starts bool
	// own is a member with its container's name: a constructor.
	own bool
	// behind is what the line before has to look like, nil for anything: a result
	// on a line of its own.
	behind func() *regexp.Regexp
	// mark is a name alone: what it stands in is cut as if it were not there.
	mark bool
	// loose looks like a call too: what begins with a word such as return, or
	// names one, is none, nor is what stands further to the right than the
	// members of its container.
	loose bool
}

// comments says what is no code.
type comments struct {
	line   []string
	block  [][2]string // begin and end, over lines
	quotes string      // delimiters of strings that end with their line
	long   []string    // delimiters of strings over lines
	multi  string      // delimiters of strings that may have lines, with escapes
}

// passedOn says whether a line gives a name what has this name already, as
// exports.parse = parse and exports.parse = text.parse do: it is declared there.
func passedOn(line, name string) bool {
	value, same := strings.CutSuffix(strings.TrimRight(line, "; "), name)
	if !same || !strings.Contains(value, "=") {
		return false
	}
	value = strings.TrimRight(value, " ")
	return strings.HasSuffix(value, "=") || strings.HasSuffix(value, ".")
}

// found is a declaration in a text.
type found struct {
	declaration
	name   string
	line   int
	indent int
	second bool // another name in a line that declares one
	inside int  // the indentation of the first line in it; 0 before that
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
	if all = slices.DeleteFunc(all, func(f found) bool { return f.mark || f.second }); len(all) > 0 {
		o.sections = g.sections(t, all, 0, t.count(), "")
	}
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

// mostMarks bounds the names of a file that are marks and no functions: a header
// with thousands of constants is a table, whose words are found as those of any
// text. Functions that are stated without a body are what such a file is for.
const mostMarks = 100

// find lists the declarations.
func (g *grammar) find(t lines) (all []found) {
	code := lines{mask(t.text, g.comments), t.starts}
	var open []found // what the line is within
	before, marked := "", 0
	for i := range code.count() {
		line := code.line(i)
		trimmed := strings.Trim(line, " \t\f")
		if trimmed == "" {
			continue
		}
		if raw := t.line(i); strings.HasPrefix(strings.TrimLeft(raw, " \t"), "/*") {
			line = raw // a comment may stand before a declaration
		}
		indent, apart := indentOf(line), aside(trimmed)
		for len(open) > 0 && !apart && indent <= open[len(open)-1].indent {
			open = open[:len(open)-1]
		}
		if n := len(open); n > 0 && open[n-1].inside == 0 && !apart {
			open[n-1].inside = indent
		}
		f, is := g.match(trimmed, before, indent, open)
		before = trimmed
		if !is {
			continue
		}
		f.line, f.indent = i, indent
		if f.mark && f.kind != "func" {
			if marked++; marked > mostMarks {
				continue
			}
		}
		if trimmed[0] == '#' { // a directive stands in nothing, and nothing in it
			all = append(all, f)
			continue
		}
		if n := len(open); n > 0 && open[n-1].kind != "module" && open[n-1].container {
			f.member = true // what stands in a function is known by its own name
			f.name = open[n-1].name + "." + f.name
		}
		if n := len(all); !g.clauses || n == 0 || all[n-1].name != f.name || all[n-1].indent != indent {
			all = append(all, f)
		}
		open = append(open, f)
		if g.also == nil {
			continue
		}
		if m := g.also().FindStringSubmatch(trimmed); m != nil && m[1] != f.name[strings.LastIndexByte(f.name, '.')+1:] {
			second := f
			second.name, second.second = m[1], true
			all = append(all, second)
		}
	}
	return all
}

// match says what a line declares that is within others, the innermost last.
func (g *grammar) match(line, before string, indent int, open []found) (found, bool) {
	var in found
	within := len(open) > 0
	if within {
		in = open[len(open)-1]
	}
	body := within && !in.container
	if body && !containsAny(line, g.hints) {
		return found{}, false
	}
	mayStart := strings.IndexByte(line, '(') >= 0 && (line[len(line)-1] != ';' || strings.IndexByte(line, '{') >= 0)
	for _, d := range g.declarations {
		if body && !d.inner || d.member && (!within || !in.container) || d.top && within || d.of != "" && d.of != in.kind {
			continue
		}
		if d.loose && within && !body && indent > in.inside {
			continue
		}
		if d.needs != nil && !containsAny(line, d.needs) || d.starts && !mayStart || d.behind != nil && (before == "" || before[len(before)-1] == ';' || before[len(before)-1] == '}') {
			continue
		}
		m := d.line().FindStringSubmatch(line)
		if m == nil || d.behind != nil && !d.behind().MatchString(before) {
			continue
		}
		name := m[slices.IndexFunc(m[1:], func(part string) bool { return part != "" })+1]
		if d.loose && (controls[name] || controls[wordOf(line)]) || d.kind == "const" && passedOn(line, name) {
			continue
		}
		if d.own && strings.TrimPrefix(name, "~") != in.name[strings.LastIndexAny(in.name, ".:")+1:] {
			continue
		}
		return found{declaration: d, name: name}, true
	}
	return found{}, false
}

func containsAny(line string, parts []string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(line, part) })
}

func wordOf(line string) string {
	end := strings.IndexFunc(line, func(r rune) bool {
		return (r < 'a' || r > 'z') && r != '_' && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	})
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
	"foreach": true, "synchronized": true, "with": true, "delete": true, "goto": true, "function": true, "elsif": true, "unless": true,
	"until": true, "fixed": true, "checked": true, "and": true, "or": true, "not": true, "is": true, "in": true,
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
