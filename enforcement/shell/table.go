package shell

import (
	"cmp"
	_ "embed" // the table
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// commandsTable says what each program writes; its head explains the notation.
//
//go:embed commands.table
var commandsTable string

// entry is a program of the table.
type entry struct {
	name    string   // the first of its names; its subcommands go by it
	builtin bool     // part of the shell: PATH and preloaded libraries do not matter
	texts   int      // leading operands that are text, not names; -1: all of them
	class   Class    // where what it does is done by another process, "" else
	info    bool     // a sole --version or --help only prints
	reads   []string // of its subcommands
	fork    bool     // what it sets does not reach the shell
	takes   optSpec
	before  bool // options end at "--", and what follows is no operand
	steps   []step
}

// step is done where one of its conditions holds, or it has none.
type step struct {
	when [][]test // any of them; each is all of its tests
	acts []act
	ends bool // nothing behind it counts
}

type (
	test func(*reading) bool
	act  func(*reading)
	pick func(*reading) []arg
)

// registry is the table by names. It is read once.
var registry func() map[string]*entry

func init() { registry = sync.OnceValue(func() map[string]*entry { return readTable(commandsTable) }) }

// readTable reads the notation. The text is part of the program, so a mistake
// in it panics.
func readTable(text string) map[string]*entry {
	t := tableReader{entries: map[string]*entry{}, macros: map[string][]string{}}
	for _, line := range tableLines(text) {
		t.line(line)
	}
	return t.entries
}

// tableLines are the words of the lines of a table; indented lines belong to the
// one before them.
func tableLines(text string) (lines [][]string) {
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		switch {
		case strings.HasPrefix(line, "#"), len(words) == 0:
		case strings.HasPrefix(line, "\t"):
			last := len(lines) - 1
			lines[last] = append(lines[last], words...)
		default:
			lines = append(lines, words)
		}
	}
	return lines
}

type tableReader struct {
	entries map[string]*entry
	macros  map[string][]string
	program string // whose subcommands the next ones are
}

// line reads one entry, or what is let.
func (t *tableReader) line(words []string) {
	if words[0] == "let" {
		t.macros["$"+words[1]] = t.expand(words[2:])
		return
	}
	colon := 1 + slices.Index(words[1:], ":")
	if colon == 0 {
		panic(fmt.Sprintf("shell: no colon in %q", words))
	}
	e := &entry{}
	if !strings.HasPrefix(words[0], "/") && !strings.HasPrefix(words[0], "!") {
		t.program = words[0][:max(0, strings.IndexAny(words[0]+"/", "/!"))]
	}
	for _, name := range words[:colon] {
		switch {
		case name == "+text":
			e.texts = -1
		case strings.HasPrefix(name, "+text"):
			e.texts, _ = strconv.Atoi(name[len("+text"):])
		case name == "+info":
			e.info = true
		case name == "+builtin":
			e.builtin = true
		case name == "+fork":
			e.fork = true
		case name[0] == '+' && slices.Contains(classes, Class(name[1:])):
			e.class = Class(name[1:])
		default:
			if strings.HasPrefix(name, "/") || strings.HasPrefix(name, "!") {
				name = t.program + name
			}
			e.name = cmp.Or(e.name, name)
			if t.entries[name] != nil {
				panic("shell: " + name + " stands twice in the table")
			}
			t.entries[name] = e
		}
	}
	for _, words := range split(t.expand(words[colon+1:]), ";") {
		t.step(e, words)
	}
}

// expand puts what was let in the place of its name.
func (t *tableReader) expand(words []string) []string {
	var out []string
	for _, w := range words {
		bare, ends := strings.CutSuffix(w, ";")
		if text, ok := t.macros[bare]; ok {
			out = append(out, text...)
			if !ends {
				continue
			}
			bare = ""
		}
		if bare != "" {
			out = append(out, bare)
		}
		if ends {
			out = append(out, ";")
		}
	}
	return out
}

// split cuts words at a separator; there are no empty parts.
func split(words []string, at string) (parts [][]string) {
	for len(words) > 0 {
		i := slices.Index(words, at)
		if i < 0 {
			i = len(words)
		}
		if i > 0 {
			parts = append(parts, words[:i])
		}
		words = words[min(i+1, len(words)):]
	}
	return parts
}

func (t *tableReader) step(e *entry, words []string) {
	if words[0] == "takes" {
		e.options(words[1:])
		return
	}
	var s step
	i := slices.IndexFunc(words, func(w string) bool { return w == "->" || w == "=>" })
	if i >= 0 {
		s.ends = words[i] == "=>"
		for _, all := range split(words[:i], "|") {
			var conjunction []test
			for _, one := range split(all, "&") {
				conjunction = append(conjunction, readTest(one))
			}
			s.when = append(s.when, conjunction)
		}
	}
	for _, one := range split(words[i+1:], "+") {
		if one[0] == "subcommands" {
			e.takes.stop, e.reads = true, one[1:]
		}
		s.acts = append(s.acts, readAct(e, one))
	}
	e.steps = append(e.steps, s)
}

// options reads which options take a value.
func (e *entry) options(words []string) {
	for _, w := range words {
		switch {
		case w == "first":
			e.takes.stop = true
		case w == "--":
			e.before = true
		case strings.HasPrefix(w, "--"):
			e.takes.long = append(e.takes.long, w)
		case strings.HasSuffix(w, "!"):
			e.takes.alone += w[1 : len(w)-1]
		case strings.HasSuffix(w, "?"):
			e.takes.maybe += w[1 : len(w)-1]
		default:
			e.takes.short += w[1:]
		}
	}
}

// judge applies the entry to a call. What a program that acts elsewhere does beside
// reading is done there.
func (e *entry) judge(c *call) {
	before := c.sh.a.doubted
	e.read(&reading{call: c})
	if e.class != "" && c.sh.a.doubted > before {
		c.sh.a.actsElsewhere(e.class, c.name)
	}
}

func (e *entry) read(r *reading) {
	if e.fork {
		r.call = &call{sh: r.sh.fork(), name: r.name, args: r.args}
	}
	r.entry = e
	r.parse()
	for _, s := range e.steps {
		if !s.applies(r) {
			continue
		}
		for _, do := range s.acts {
			do(r)
		}
		if s.ends {
			return
		}
	}
}

func (s step) applies(r *reading) bool {
	for _, all := range s.when {
		if !slices.ContainsFunc(all, func(holds test) bool { return !holds(r) }) {
			return true
		}
	}
	return len(s.when) == 0
}
