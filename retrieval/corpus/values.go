package corpus

import (
	"github.com/goccy/go-yaml/ast"

	"github.com/writbus/writ/schemas"
)

// readKey puts one front matter pair into the rule.
func (d *document) readKey(key ast.MapKeyNode, value ast.Node) {
	line := lineOf(key)
	name, ok := key.(*ast.StringNode)
	if !ok {
		d.problem(line, "front matter keys are plain words, this is a %s", key.Type())
		return
	}
	f, ok := fieldOf(name.Value)
	if !ok {
		d.problem(line, "unknown key %q: remove it, or correct its spelling", name.Value)
		return
	}
	d.lines[f.key] = line
	switch {
	case f.text != nil:
		*f.text(&d.rule), _ = d.text(f.key, value)
	case f.list != nil:
		*f.list(&d.rule) = d.list(f.key, value)
	case f.flag != nil:
		*f.flag(&d.rule) = d.flag(f.key, value)
	case f.edges != nil:
		*f.edges(&d.rule) = d.edgeList(f.key, value)
	}
}

// text accepts a string in any style. A value that YAML takes for a number, a
// date or nothing is refused rather than guessed.
func (d *document) text(key string, n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	}
	d.problem(lineOf(n), "%s takes text, this is a %s: quote it, or remove the key", key, n.Type())
	return "", false
}

func (d *document) list(key string, n ast.Node) []string {
	seq, ok := n.(*ast.SequenceNode)
	if !ok {
		d.problem(lineOf(n), "%s takes a list of texts, this is a %s", key, n.Type())
		return nil
	}
	var out []string
	for _, item := range seq.Values {
		if s, ok := d.text(key, item); ok {
			out = append(out, s)
		}
	}
	return out
}

func (d *document) flag(key string, n ast.Node) bool {
	b, ok := n.(*ast.BoolNode)
	if !ok {
		d.problem(lineOf(n), "%s takes true or false, this is a %s", key, n.Type())
		return false
	}
	return b.Value
}

func (d *document) edgeList(key string, n ast.Node) []schemas.Edge {
	seq, ok := n.(*ast.SequenceNode)
	if !ok {
		d.problem(lineOf(n), "%s takes a list of {type, target}, this is a %s", key, n.Type())
		return nil
	}
	var out []schemas.Edge
	for _, item := range seq.Values {
		if e, ok := d.edge(item); ok {
			out = append(out, e)
			d.edges = append(d.edges, lineOf(item))
		}
	}
	return out
}

func (d *document) edge(n ast.Node) (schemas.Edge, bool) {
	m, ok := n.(ast.MapNode)
	if !ok {
		d.problem(lineOf(n), "an edge is {type, target}, this is a %s", n.Type())
		return schemas.Edge{}, false
	}
	var e schemas.Edge
	before := len(d.problems)
	for it := m.MapRange(); it.Next(); {
		d.edgeKey(&e, it.Key(), it.Value())
	}
	return e, len(d.problems) == before
}

func (d *document) edgeKey(e *schemas.Edge, key ast.MapKeyNode, value ast.Node) {
	name, _ := key.(*ast.StringNode)
	if name == nil || name.Value != "type" && name.Value != "target" {
		d.problem(lineOf(key), "unknown key %s in an edge: it has type and target", key)
		return
	}
	into := &e.Type
	if name.Value == "target" {
		into = &e.Target
	}
	*into, _ = d.text("edge "+name.Value, value)
}

// lineOf returns the line in the file: the front matter begins on line 2.
func lineOf(n ast.Node) int {
	if n == nil || n.GetToken() == nil || n.GetToken().Position == nil {
		return 2
	}
	return n.GetToken().Position.Line + 1
}
