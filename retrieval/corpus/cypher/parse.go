package cypher

import (
	"fmt"
	"strings"
)

// parser reads the tokens of one statement.
type parser struct {
	tokens []token // the last one is an endOfFile
	pos    int
}

func (p *parser) peek() token { return p.tokens[min(p.pos, len(p.tokens)-1)] }

// accept passes this keyword or mark where it is next.
func (p *parser) accept(s string) bool {
	if p.peek().is(s) {
		p.pos++
		return true
	}
	return false
}

// acceptAll passes these keywords where all of them are next.
func (p *parser) acceptAll(words ...string) bool {
	before := p.pos
	for _, w := range words {
		if !p.accept(w) {
			p.pos = before
			return false
		}
	}
	return true
}

// fail ends the reading of the statement: it panics with a syntaxError, which
// read recovers.
func (p *parser) fail(format string, args ...any) {
	panic(&syntaxError{p.peek().line, fmt.Sprintf(format, args...)})
}

// expect passes this keyword or mark, and fails where something else is next.
func (p *parser) expect(s, format string, args ...any) {
	if !p.accept(s) {
		p.fail(format, args...)
	}
}

// identifier reads a name, written bare or in backticks.
func (p *parser) identifier(missing string) string {
	name := p.name()
	if name == "" {
		p.fail("%s", missing)
	}
	return name
}

// verb says what a clause does with its pattern.
type verb int

const (
	create verb = iota
	merge
	match
)

// clause is CREATE, MERGE or MATCH with its patterns, or SET.
type clause struct {
	verb     verb
	patterns []pattern
	set      []assignment // of a SET; it has no patterns
	line     int
}

// pattern is a chain of nodes: joins[i] lies between nodes i and i+1.
type pattern struct {
	nodes []nodePattern
	joins []joinPattern
}

type nodePattern struct {
	variable   string
	labels     []string
	properties expression // nil for none; a map
	line       int
}

type joinPattern struct {
	variable   string
	kind       string
	properties expression
	backwards  bool
	line       int
}

// assignment is one item of SET.
type assignment struct {
	variable string
	property string     // "" sets all properties
	labels   []string   // SET n:Label
	value    expression // nil with labels
	replace  bool       // n = {…}, not n += {…}
}

// statement is one statement that was understood whole.
type statement struct {
	rows     expression // of UNWIND, nil for none
	variable string     // what a row is called
	perRow   int        // tokens of the clauses
	clauses  []clause
}

func (p *parser) statement() (s statement) {
	if p.accept("UNWIND") {
		s.rows = p.expression(0)
		p.expect("AS", "UNWIND names its row with AS")
		s.variable = p.identifier("UNWIND names its row with AS")
	}
	s.perRow = len(p.tokens) - p.pos
	for p.peek().kind != endOfFile {
		s.clauses = append(s.clauses, p.clause())
	}
	return s
}

func (p *parser) clause() clause {
	c := clause{line: p.peek().line}
	switch {
	case p.accept("CREATE"):
	case p.accept("MERGE"):
		c.verb = merge
	case p.accept("MATCH"), p.acceptAll("OPTIONAL", "MATCH"):
		c.verb = match
	case p.accept("SET"), p.acceptAll("ON", "CREATE", "SET"), p.acceptAll("ON", "MATCH", "SET"):
		c.set = separated(p, p.assignment)
		return c
	default:
		p.fail("%s is not read from a dump", describe(p.peek()))
	}
	c.patterns = separated(p, p.pattern)
	return c
}

func describe(t token) string {
	if t.kind == endOfFile {
		return "nothing"
	}
	return fmt.Sprintf("%q", t.text)
}

// separated reads one thing or more with commas between them.
func separated[T any](p *parser, read func() T) []T {
	out := []T{read()}
	for p.accept(",") {
		out = append(out, read())
	}
	return out
}

func (p *parser) pattern() pattern {
	out := pattern{nodes: []nodePattern{p.node()}}
	for p.peek().is("-") || p.peek().is("<-") {
		out.joins = append(out.joins, p.join())
		out.nodes = append(out.nodes, p.node())
	}
	return out
}

func (p *parser) node() nodePattern {
	n := nodePattern{line: p.peek().line}
	p.expect("(", "a node is missing, found %s", describe(p.peek()))
	n.variable, n.labels = p.name(), p.labels()
	n.properties = p.optionalProperties()
	p.expect(")", "a node ends with ), found %s", describe(p.peek()))
	return n
}

// name reads an optional variable.
func (p *parser) name() string {
	if t := p.peek(); t.kind == word || t.kind == quoted {
		p.pos++
		return t.text
	}
	return ""
}

func (p *parser) labels() (out []string) {
	for p.accept(":") {
		out = append(out, p.identifier("a label is missing"))
	}
	return out
}

// optionalProperties reads a map, or a reference to one.
func (p *parser) optionalProperties() expression {
	switch t := p.peek(); {
	case t.is("{"):
		return p.properties(0)
	case t.kind == word || t.kind == quoted:
		return p.referenceOrCall(0)
	}
	return nil
}

func (p *parser) join() joinPattern {
	j := joinPattern{line: p.peek().line, backwards: p.accept("<-")}
	if !j.backwards {
		p.pos++
	}
	p.expect("[", "a relationship has its type in brackets")
	j.variable = p.name()
	kinds := p.labels()
	if len(kinds) != 1 {
		p.fail("a relationship has one type")
	}
	j.kind, j.properties = kinds[0], p.optionalProperties()
	if !p.accept("]") || !p.accept(map[bool]string{true: "-", false: "->"}[j.backwards]) {
		p.fail("a relationship points one way")
	}
	return j
}

func (p *parser) assignment() assignment {
	a := assignment{variable: p.name()}
	if a.variable == "" {
		p.fail("SET names what it sets, found %s", describe(p.peek()))
	}
	if p.peek().is(":") {
		a.labels = p.labels()
		return a
	}
	if p.accept(".") {
		a.property = p.identifier("a property's name is missing")
	}
	if a.replace = p.accept("="); !a.replace && (a.property != "" || !p.accept("+=")) {
		p.fail("SET goes on with =, found %s", describe(p.peek()))
	}
	a.value = p.expression(0)
	return a
}

// firstWords names a statement in a report.
func firstWords(tokens []token) string {
	var words []string
	for _, t := range tokens {
		if t.kind != word || len(words) == 3 {
			break
		}
		words = append(words, strings.ToUpper(t.text))
	}
	return strings.Join(words, " ")
}
