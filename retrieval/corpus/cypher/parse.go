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

func (p *parser) fail(format string, args ...any) error {
	return &syntaxError{p.peek().line, fmt.Sprintf(format, args...)}
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

func (p *parser) statement() (statement, error) {
	var s statement
	if p.accept("UNWIND") {
		rows, err := p.expression(0)
		if err != nil {
			return s, err
		}
		name := p.peekAt(1)
		if !p.accept("AS") || name.kind != word && name.kind != quoted {
			return s, p.fail("UNWIND names its row with AS")
		}
		p.pos++
		s.rows, s.variable = rows, name.text
	}
	s.perRow = len(p.tokens) - p.pos
	for p.peek().kind != endOfFile {
		c, err := p.clause()
		if err != nil {
			return s, err
		}
		s.clauses = append(s.clauses, c)
	}
	return s, nil
}

func (p *parser) peekAt(n int) token { return p.tokens[min(p.pos+n, len(p.tokens)-1)] }

func (p *parser) clause() (clause, error) {
	c := clause{line: p.peek().line}
	switch {
	case p.accept("CREATE"):
	case p.accept("MERGE"):
		c.verb = merge
	case p.accept("MATCH"), p.acceptAll("OPTIONAL", "MATCH"):
		c.verb = match
	case p.accept("SET"), p.acceptAll("ON", "CREATE", "SET"), p.acceptAll("ON", "MATCH", "SET"):
		var err error
		c.set, err = separated(p, p.assignment)
		return c, err
	default:
		return c, p.fail("%s is not read from a dump", describe(p.peek()))
	}
	var err error
	c.patterns, err = separated(p, p.pattern)
	return c, err
}

func describe(t token) string {
	if t.kind == endOfFile {
		return "nothing"
	}
	return fmt.Sprintf("%q", t.text)
}

// separated reads one thing or more with commas between them.
func separated[T any](p *parser, read func() (T, error)) ([]T, error) {
	var out []T
	for {
		v, err := read()
		if err != nil {
			return nil, err
		}
		out = append(out, v)
		if !p.accept(",") {
			return out, nil
		}
	}
}

func (p *parser) pattern() (pattern, error) {
	var out pattern
	for {
		n, err := p.node()
		if err != nil {
			return out, err
		}
		out.nodes = append(out.nodes, n)
		if !p.peek().is("-") && !p.peek().is("<-") {
			return out, nil
		}
		j, err := p.join()
		if err != nil {
			return out, err
		}
		out.joins = append(out.joins, j)
	}
}

func (p *parser) node() (nodePattern, error) {
	n := nodePattern{line: p.peek().line}
	if !p.accept("(") {
		return n, p.fail("a node is missing, found %s", describe(p.peek()))
	}
	n.variable = p.name()
	var err error
	if n.labels, err = p.labels(); err != nil {
		return n, err
	}
	if n.properties, err = p.optionalProperties(); err != nil {
		return n, err
	}
	if !p.accept(")") {
		return n, p.fail("a node ends with ), found %s", describe(p.peek()))
	}
	return n, nil
}

// name reads an optional variable.
func (p *parser) name() string {
	if t := p.peek(); t.kind == word || t.kind == quoted {
		p.pos++
		return t.text
	}
	return ""
}

func (p *parser) labels() ([]string, error) {
	var out []string
	for p.accept(":") {
		t := p.peek()
		if t.kind != word && t.kind != quoted {
			return nil, p.fail("a label is missing")
		}
		p.pos++
		out = append(out, t.text)
	}
	return out, nil
}

// optionalProperties reads a map, or a reference to one.
func (p *parser) optionalProperties() (expression, error) {
	switch t := p.peek(); {
	case t.is("{"):
		m, err := p.properties(0)
		return mapOf(m), err
	case t.kind == word || t.kind == quoted:
		return p.referenceOrCall(0)
	}
	return nil, nil
}

func (p *parser) join() (joinPattern, error) {
	j := joinPattern{line: p.peek().line, backwards: p.accept("<-")}
	if !j.backwards {
		p.pos++
	}
	if !p.accept("[") {
		return j, p.fail("a relationship has its type in brackets")
	}
	j.variable = p.name()
	kinds, err := p.labels()
	if err != nil {
		return j, err
	}
	if len(kinds) != 1 {
		return j, p.fail("a relationship has one type")
	}
	j.kind = kinds[0]
	if j.properties, err = p.optionalProperties(); err != nil {
		return j, err
	}
	if !p.accept("]") || !p.accept(map[bool]string{true: "-", false: "->"}[j.backwards]) {
		return j, p.fail("a relationship points one way")
	}
	return j, nil
}

func (p *parser) assignment() (assignment, error) {
	a := assignment{variable: p.name()}
	if a.variable == "" {
		return a, p.fail("SET names what it sets, found %s", describe(p.peek()))
	}
	if p.peek().is(":") {
		var err error
		a.labels, err = p.labels()
		return a, err
	}
	if p.accept(".") {
		if a.property = p.name(); a.property == "" {
			return a, p.fail("a property's name is missing")
		}
	}
	switch {
	case p.accept("="):
		a.replace = true
	case a.property == "" && p.accept("+="):
	default:
		return a, p.fail("SET goes on with =, found %s", describe(p.peek()))
	}
	var err error
	a.value, err = p.expression(0)
	return a, err
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
