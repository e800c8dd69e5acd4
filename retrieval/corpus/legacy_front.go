package corpus

import (
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/writbus/writ/schemas"
)

// legacyFront recognises front matter of the older format by the keys that
// today's does not have, and the missing id.
var (
	legacyFront = regexp.MustCompile(`(?m)^["']?(?:node_type|[a-z_]+_id)["']?[ \t]*:`)
	currentID   = regexp.MustCompile(`(?m)^["']?id["']?[ \t]*:`)
)

func isLegacyFront(front string) bool {
	return legacyFront.MatchString(front) && !currentID.MatchString(front)
}

// parseLegacyFront reads a file that is one node with front matter of the
// older format.
func parseLegacyFront(path, front, body string) *document {
	d := &document{path: path, lines: map[string]int{}, first: 1}
	n := &legacyNode{path: path, line: 1, body: body}
	d.legacyFront(n, front, 1)
	if len(d.problems) > 0 {
		return d
	}
	if title := headingOf(body); title != "" && !slices.ContainsFunc([]string{"title", "name", "heading"}, n.has) {
		n.values = append(n.values, legacyValue{name: "title", value: title, line: 1})
	}
	d.from = n
	return d
}

// headingOf is the heading that a body begins with, without the type of the node
// before its colon ("Phase 2: Clarify constraints").
func headingOf(body string) string {
	heading, ok := strings.CutPrefix(strings.TrimLeft(body, "\n "), "# ")
	if !ok {
		return ""
	}
	heading, _, _ = strings.Cut(heading, "\n")
	kind, title, found := strings.Cut(heading, ": ")
	kind = strings.TrimRight(strings.ReplaceAll(normal(kind), "_", ""), "0123456789s")
	if found && kind != "" && slices.ContainsFunc(schemas.NodeTypes(), func(t schemas.NodeType) bool { return strings.HasPrefix(strings.ToLower(string(t)), kind) }) {
		return strings.TrimSpace(title)
	}
	return strings.TrimSpace(heading)
}

// legacyFront adds the pairs of front matter to a node. before is the line of
// its opening fence.
func (d *document) legacyFront(n *legacyNode, front string, before int) {
	top, ok := d.yaml(front)
	if !ok {
		for i := range d.problems {
			d.problems[i].Line += before - 1
		}
		return
	}
	for it := top.MapRange(); it.Next(); {
		key, ok := it.Key().(*ast.StringNode)
		if !ok {
			d.problem(lineOf(it.Key())+before-1, "front matter keys are plain words, this is a %s", it.Key().Type())
			continue
		}
		if seq, ok := it.Value().(*ast.SequenceNode); ok && normal(key.Value) == "edges" {
			for _, item := range seq.Values {
				n.values = append(n.values, legacyValue{name: "edges", value: plainValue(item, 0), line: lineOf(item) + before - 1})
			}
			continue
		}
		value := plainValue(it.Value(), 0)
		if _, null := it.Value().(*ast.NullNode); value == nil && !null {
			value = unread(it.Value().Type().String())
		}
		n.values = append(n.values, legacyValue{name: normal(key.Value), value: value, line: lineOf(it.Key()) + before - 1})
	}
}

// unread is a value that is none, with its YAML kind.
type unread string

// plainValue turns a YAML node into a value. What has none, an alias or a tag,
// is nil.
func plainValue(n ast.Node, depth int) any {
	if depth > maxNesting {
		return nil
	}
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value
	case *ast.LiteralNode:
		return n.Value.Value
	case *ast.BoolNode:
		return n.Value
	case *ast.FloatNode:
		return n.Value
	case *ast.IntegerNode:
		switch v := n.Value.(type) {
		case int64:
			return v
		case uint64:
			return float64(v)
		}
	case *ast.SequenceNode:
		out := make([]any, 0, len(n.Values))
		for _, item := range n.Values {
			out = append(out, plainValue(item, depth+1))
		}
		return out
	case ast.MapNode:
		out := map[string]any{}
		for it := n.MapRange(); it.Next(); {
			if key, ok := it.Key().(*ast.StringNode); ok {
				out[strings.TrimSpace(key.Value)] = plainValue(it.Value(), depth+1)
			}
		}
		return out
	}
	return nil
}
