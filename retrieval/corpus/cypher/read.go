package cypher

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Bounds that keep the time linear whatever a script says.
const (
	maxAlike  = 1000 // nodes with one value of an id
	maxPerRow = 1000 // tokens of what is done for each row of an UNWIND
)

// MaxSize is the largest script in bytes.
const MaxSize = 64 << 20

// Node is a node that the script creates. Property values are bool, int64,
// float64, string, []any and map[string]any.
type Node struct {
	Labels     []string
	Properties map[string]any
	Line       int // where it is created, from 1
}

// Relationship joins two nodes. From is a node of the graph; so is To, unless
// it is nil: then Target holds the properties that a MATCH named and that no
// node of the script has.
type Relationship struct {
	Type       string
	From, To   *Node
	Target     map[string]any
	Properties map[string]any
	Line       int
}

// Skip is a part of the script that says nothing to the graph.
type Skip struct {
	Line   int
	Reason string
	// Broken tells that the rest of the script was lost with it.
	Broken bool
}

// Graph is what a script describes, in its order.
type Graph struct {
	Nodes         []*Node
	Relationships []Relationship
	Skipped       []Skip
}

// Read reads a script. Bookkeeping of exporters, their labels and properties
// named UNIQUE IMPORT, is left out.
func Read(src string) Graph {
	if len(src) > MaxSize {
		return Graph{Skipped: []Skip{{1, fmt.Sprintf("the script is larger than %d bytes: split it", MaxSize), true}}}
	}
	b := builder{index: map[string][]*Node{}}
	l := lexer{src: src, line: 1, fresh: true}
	var tokens []token
	for {
		t, err := l.next()
		if err != nil {
			if at, ok := errors.AsType[*syntaxError](err); ok {
				b.skip(at.line, true, "%s: the rest of the script is not read", at.reason)
			}
			break
		}
		if t.kind != endOfFile && !t.is(";") {
			tokens = append(tokens, t)
			continue
		}
		if len(tokens) > 0 {
			b.read(append(tokens, token{line: t.line}))
		}
		if tokens = nil; t.kind == endOfFile {
			break
		}
	}
	for _, n := range b.graph.Nodes {
		n.Labels = slices.DeleteFunc(n.Labels, isBookkeeping)
		for key := range n.Properties {
			if isBookkeeping(key) {
				delete(n.Properties, key)
			}
		}
	}
	return b.graph
}

func isBookkeeping(name string) bool { return strings.HasPrefix(name, "UNIQUE IMPORT ") }

// builder carries statements out on a graph of their own.
type builder struct {
	graph Graph
	index map[string][]*Node // by a property whose name ends in id, and its value
}

func (b *builder) skip(line int, broken bool, format string, args ...any) {
	b.graph.Skipped = append(b.graph.Skipped, Skip{line, fmt.Sprintf(format, args...), broken})
}

func (b *builder) read(tokens []token) {
	line := tokens[0].line
	defer func() {
		switch at := recover().(type) {
		case nil:
		case *syntaxError:
			b.skip(at.line, false, "statement not understood: %s", at.reason)
		default:
			panic(at)
		}
	}()
	if words := firstWords(tokens); isBesides(words) {
		b.skip(line, false, "%s is not needed: passed over", words)
		return
	}
	if isCleanUp(tokens) {
		return
	}
	s := (&parser{tokens: tokens}).statement()
	if s.rows == nil {
		b.run(s, map[string]any{}, line)
		return
	}
	rows, err := s.rows.value(nil)
	list, ok := rows.([]any)
	switch {
	case err != nil || !ok:
		b.skip(line, false, "UNWIND takes a list of literal rows")
		return
	case s.perRow > maxPerRow:
		b.skip(line, false, "UNWIND does more for each row than this reader follows")
		return
	}
	for _, row := range list {
		b.run(s, map[string]any{s.variable: row}, line)
	}
}

// isCleanUp recognises what a dump says at its end to take its own bookkeeping
// away: MATCH … REMOVE of a property that begins with an underscore.
func isCleanUp(tokens []token) bool {
	if !tokens[0].is("MATCH") {
		return false
	}
	i := slices.IndexFunc(tokens, func(t token) bool { return t.is("REMOVE") })
	return i > 0 && len(tokens) == i+5 && tokens[i+2].is(".") && strings.HasPrefix(tokens[i+3].text, "_")
}

// isBesides recognises statements about schemas, transactions and clean-up
// that a dump carries around its data.
func isBesides(words string) bool {
	for _, start := range []string{
		"CREATE CONSTRAINT", "CREATE INDEX", "CREATE UNIQUE", "CREATE RANGE", "CREATE TEXT", "CREATE FULLTEXT", "CREATE VECTOR",
		"CREATE LOOKUP", "CREATE POINT", "DROP", "CALL", "SCHEMA", "BEGIN", "COMMIT", "SHOW", "USE",
	} {
		if words == start || strings.HasPrefix(words, start+" ") {
			return true
		}
	}
	return false
}

// named is what a variable stands for within one row: a node of the graph, or
// the properties of one that was looked for and not found.
type named struct {
	node   *Node
	sought map[string]any
}

// execution carries one statement out for one row.
type execution struct {
	*builder
	scope map[string]any
	bound map[string]named
}

func (b *builder) run(s statement, scope map[string]any, line int) {
	e := execution{b, scope, map[string]named{}}
	for _, c := range s.clauses {
		if err := e.clause(c); err != nil {
			b.skip(line, false, "statement not carried out: %v", err)
			return
		}
	}
}

func (e execution) clause(c clause) error {
	for _, a := range c.set {
		if err := e.assign(a); err != nil {
			return err
		}
	}
	for _, p := range c.patterns {
		ends := make([]named, len(p.nodes))
		for i, n := range p.nodes {
			var err error
			if ends[i], err = e.node(c.verb, n); err != nil {
				return err
			}
		}
		for i, j := range p.joins {
			if err := e.join(c.verb, j, ends[i], ends[i+1]); err != nil {
				return err
			}
		}
	}
	return nil
}

// node finds or creates what a node pattern stands for.
func (e execution) node(v verb, p nodePattern) (named, error) {
	properties, err := e.properties(p.properties)
	if err != nil {
		return named{}, err
	}
	if known, ok := e.bound[p.variable]; ok && p.variable != "" {
		if len(p.labels)+len(properties) > 0 {
			return named{}, fmt.Errorf("%s is described twice", p.variable)
		}
		return known, nil
	}
	out := named{sought: properties}
	if v != create {
		if out.node, err = e.find(p.labels, properties); err != nil {
			return named{}, err
		}
	}
	if out.node == nil && v != match {
		out.node = &Node{Labels: slices.Clone(p.labels), Properties: map[string]any{}, Line: p.line}
		e.graph.Nodes = append(e.graph.Nodes, out.node)
		e.update(out.node, properties)
	}
	if p.variable != "" {
		e.bound[p.variable] = out
	}
	return out, nil
}

func (e execution) properties(x expression) (map[string]any, error) {
	if x == nil {
		return nil, nil
	}
	v, err := x.value(e.scope)
	if err != nil {
		return nil, err
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New("properties are a map")
	}
	return m, nil
}

// find returns the first node with these labels and properties, nil for none.
func (e execution) find(labels []string, properties map[string]any) (*Node, error) {
	keys := make([]string, 0, len(properties))
	for key := range properties {
		if isKey(key) {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return nil, errors.New("a node is found by a property whose name ends in id")
	}
	slices.Sort(keys)
	candidates := e.index[entry(keys[0], properties[keys[0]])]
	if len(candidates) > maxAlike {
		return nil, fmt.Errorf("more than %d nodes have this %s", maxAlike, keys[0])
	}
	for _, n := range candidates {
		if hasAll(n, labels, properties) {
			return n, nil
		}
	}
	return nil, nil
}

func hasAll(n *Node, labels []string, properties map[string]any) bool {
	for _, l := range labels {
		if !slices.Contains(n.Labels, l) {
			return false
		}
	}
	for key, want := range properties {
		if !isScalar(want) || n.Properties[key] != want {
			return false
		}
	}
	return true
}

func isScalar(v any) bool {
	switch v.(type) {
	case []any, map[string]any:
		return false
	}
	return true
}

func isKey(property string) bool {
	return len(property) >= 2 && strings.EqualFold(property[len(property)-2:], "id")
}

func entry(key string, v any) string { return fmt.Sprintf("%s\x00%T\x00%v", key, v, v) }

// update sets properties of a node; nil removes one. An index entry that no
// longer holds is harmless: find compares.
func (e execution) update(n *Node, properties map[string]any) {
	for key, v := range properties {
		if v == nil {
			delete(n.Properties, key)
			continue
		}
		if isKey(key) && isScalar(v) && n.Properties[key] != v {
			at := entry(key, v)
			e.index[at] = append(e.index[at], n)
		}
		n.Properties[key] = v
	}
}

func (e execution) assign(a assignment) error {
	target, known := e.bound[a.variable]
	if !known {
		// A relationship's properties are of no use to the graph.
		if _, relation := e.scope["\x00"+a.variable]; relation {
			return nil
		}
		return fmt.Errorf("SET of %s, which no pattern names", a.variable)
	}
	if target.node == nil {
		return fmt.Errorf("SET of %s, which no node of the script is", a.variable)
	}
	if a.value == nil {
		for _, l := range a.labels {
			if !slices.Contains(target.node.Labels, l) {
				target.node.Labels = append(target.node.Labels, l)
			}
		}
		return nil
	}
	if a.property != "" {
		v, err := a.value.value(e.scope)
		if err == nil {
			e.update(target.node, map[string]any{a.property: v})
		}
		return err
	}
	properties, err := e.properties(a.value)
	if err != nil {
		return err
	}
	if a.replace {
		for key := range target.node.Properties {
			if !isBookkeeping(key) {
				delete(target.node.Properties, key)
			}
		}
	}
	e.update(target.node, properties)
	return nil
}

func (e execution) join(v verb, j joinPattern, from, to named) error {
	if v == match {
		return errors.New("relationships are created, not looked for")
	}
	if j.backwards {
		from, to = to, from
	}
	properties, err := e.properties(j.properties)
	if err != nil {
		return err
	}
	if j.variable != "" {
		e.scope["\x00"+j.variable] = true
	}
	if from.node == nil {
		return fmt.Errorf("relationship %s starts from a node that is not in the script", j.kind)
	}
	e.graph.Relationships = append(e.graph.Relationships, Relationship{
		Type: j.kind, From: from.node, To: to.node, Target: to.sought, Properties: properties, Line: j.line,
	})
	return nil
}
