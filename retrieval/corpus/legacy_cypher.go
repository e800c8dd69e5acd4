package corpus

import (
	"maps"
	"slices"
	"strings"

	"github.com/writbus/writ/retrieval/corpus/cypher"
	"github.com/writbus/writ/schemas"
)

func (l *loader) readCypher(name string) {
	src, err := readBounded(l.fsys, name, cypher.MaxSize)
	if err != nil {
		l.problem(name, 0, "cannot read: %v", err)
		return
	}
	found, notes := parseCypher(name, string(src))
	l.problems = append(l.problems, notes...)
	l.addOlder(found)
}

// parseCypher reads every node of a script.
func parseCypher(path, src string) (found []*document, notes []Problem) {
	g := cypher.Read(src)
	for _, s := range g.Skipped {
		p := Problem{Path: path, Line: s.Line, Kind: KindSkipped, Reason: s.Reason}
		if s.Broken {
			p.Kind = KindInvalid
		}
		notes = append(notes, p)
	}
	byNode := make(map[*cypher.Node]*legacyNode, len(g.Nodes))
	for _, n := range g.Nodes {
		byNode[n] = scriptNode(path, n)
	}
	for _, r := range g.Relationships {
		e := legacyEdge{edge: schemas.Edge{Type: r.Type, Target: targetOf(r, byNode)}, line: r.Line}
		byNode[r.From].edges = append(byNode[r.From].edges, e)
	}
	for _, n := range g.Nodes {
		found = append(found, &document{path: path, lines: map[string]int{}, first: n.Line, from: byNode[n]})
	}
	return found, notes
}

// scriptNode is a node of a script: its type is the label that is one, its
// properties come in the order of their names.
func scriptNode(path string, n *cypher.Node) *legacyNode {
	out := &legacyNode{path: path, line: n.Line, kind: strings.Join(n.Labels, ":")}
	for _, label := range n.Labels {
		if _, known := typeNamed(label); known {
			out.kind = label
			break
		}
	}
	for _, key := range slices.Sorted(maps.Keys(n.Properties)) {
		out.values = append(out.values, legacyValue{name: normal(key), value: n.Properties[key], line: n.Line})
	}
	return out
}

// targetOf is the id that a relationship points to: that of a node, or the one
// that a MATCH named.
func targetOf(r cypher.Relationship, byNode map[*cypher.Node]*legacyNode) string {
	if to := byNode[r.To]; r.To != nil {
		t, _ := to.nodeType()
		return to.id(t)
	}
	sought := legacyNode{}
	for _, key := range slices.Sorted(maps.Keys(r.Target)) {
		sought.values = append(sought.values, legacyValue{name: normal(key), value: r.Target[key]})
	}
	t, _ := sought.nodeType()
	if id := sought.id(t); id != "" {
		return id
	}
	i := slices.IndexFunc(sought.values, func(v legacyValue) bool { return v.name == "dump_id" })
	if i < 0 {
		return ""
	}
	return asText(sought.values[i].value)
}
