package corpus

import (
	"math"
	"reflect"

	"github.com/goccy/go-yaml/ast"

	"github.com/writbus/writ/schemas"
)

// readMap puts the pairs of a mapping into a struct. within is the path of the
// mapping, "" at the top.
func (d *document) readMap(m ast.MapNode, fields []field, into reflect.Value, within string) {
	for it := m.MapRange(); it.Next(); {
		d.readKey(it.Key(), it.Value(), fields, into, within)
	}
}

func (d *document) readKey(key ast.MapKeyNode, value ast.Node, fields []field, into reflect.Value, within string) {
	line := lineOf(key)
	name, ok := key.(*ast.StringNode)
	if !ok {
		d.problem(line, "front matter keys are plain words, this is a %s", key.Type())
		return
	}
	f, ok := fieldOf(fields, name.Value)
	switch {
	case !ok && within == "":
		d.problem(line, "unknown key %q: remove it, or correct its spelling", name.Value)
		return
	case !ok:
		d.problem(line, "unknown key %q under %s: remove it, or correct its spelling", name.Value, within)
		return
	}
	at := join(within, f.key)
	d.lines[at] = line
	d.readValue(f, value, into.Field(f.index), at)
}

func join(within, key string) string {
	if within == "" {
		return key
	}
	return within + "." + key
}

func (d *document) readValue(f field, value ast.Node, into reflect.Value, at string) {
	switch f.kind {
	case textValue:
		s, _ := d.text(at, value)
		into.SetString(s)
	case listValue:
		if list := d.list(at, value); list != nil {
			into.Set(reflect.ValueOf(list))
		}
	case flagValue:
		into.SetBool(d.flag(at, value))
	case integerValue:
		into.SetInt(d.integer(at, value))
	case numberValue:
		into.SetFloat(d.number(at, value))
	case edgeValue:
		if list := d.edgeList(at, value); list != nil {
			into.Set(reflect.ValueOf(list))
		}
	case mapValue:
		m, ok := value.(ast.MapNode)
		if !ok {
			d.problem(lineOf(value), "%s takes keys of its own, this is a %s", at, value.Type())
			return
		}
		into.Set(reflect.New(into.Type().Elem()))
		d.readMap(m, f.sub, into.Elem(), at)
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

// integer accepts a whole number that fits 31 bits, so that a corpus means the
// same everywhere.
func (d *document) integer(key string, n ast.Node) int64 {
	if i, ok := n.(*ast.IntegerNode); ok {
		switch v := i.Value.(type) {
		case int64:
			if v >= math.MinInt32 && v <= math.MaxInt32 {
				return v
			}
		case uint64:
			if v <= math.MaxInt32 {
				return int64(v)
			}
		}
		d.problem(lineOf(n), "%s is out of range", key)
		return 0
	}
	d.problem(lineOf(n), "%s takes a whole number, this is a %s", key, n.Type())
	return 0
}

func (d *document) number(key string, n ast.Node) float64 {
	switch n := n.(type) {
	case *ast.FloatNode:
		if !math.IsNaN(n.Value) && !math.IsInf(n.Value, 0) {
			return n.Value
		}
		d.problem(lineOf(n), "%s is out of range", key)
		return 0
	case *ast.IntegerNode:
		return float64(d.integer(key, n))
	}
	d.problem(lineOf(n), "%s takes a number, this is a %s", key, n.Type())
	return 0
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
