package corpus

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/writbus/writ/schemas"
)

// addOlder takes in the nodes of a file in an older format. They are converted
// once all files are read, for a later one may say more of the same node.
func (l *loader) addOlder(found []*document) {
	for _, d := range found {
		d.legacy = true
		if d.from != nil && len(d.problems) == 0 {
			l.older = append(l.older, d.from)
		} else {
			l.add(d, nil)
		}
	}
}

// convertOlder makes nodes of what the older formats say.
func (l *loader) convertOlder() {
	byID := map[string]*legacyNode{}
	var nodes []*legacyNode
	for _, n := range l.older {
		id := n.ownID()
		earlier, twice := byID[id]
		if !twice {
			nodes = append(nodes, n)
			if id != "" {
				byID[id] = n
			}
			continue
		}
		l.problems = append(l.problems, Problem{
			Path: n.path, Line: n.line, Kind: KindNoted, ID: id,
			Reason: fmt.Sprintf("id %s stands at %s:%d, too: this one holds, with the edges of both", id, earlier.path, earlier.line),
		})
		n.merge(earlier)
		*earlier = *n
	}
	for _, n := range nodes {
		n.turnEdges(byID)
	}
	for _, n := range nodes {
		d := n.convert()
		d.legacy = true
		l.add(d, nil)
	}
	l.older = nil
}

func (n *legacyNode) ownID() string {
	t, _ := n.nodeType()
	return cleanText(n.id(t))
}

// merge adds what an earlier description of the same node has and this one has
// not: properties, text, and all edges.
func (n *legacyNode) merge(earlier *legacyNode) {
	own, _ := n.nodeType()
	n.kind = cmp.Or(n.kind, earlier.kind)
	has := map[string]bool{}
	for _, v := range n.values {
		has[place(own, v.name)] = !isEmpty(v.value) || has[place(own, v.name)]
	}
	for _, v := range earlier.values {
		to := place(own, v.name)
		edges := to == "edges" || strings.Contains(to, " ")
		if to != "" && (edges || !has[to]) {
			v.path = cmp.Or(v.path, earlier.path)
			n.values = append(n.values, v)
		}
	}
	for _, e := range earlier.edges {
		e.path = cmp.Or(e.path, earlier.path)
		n.edges = append(n.edges, e)
	}
	if strings.TrimSpace(n.body) == "" {
		n.body = earlier.body
	}
	n.prose = n.prose || earlier.prose
}

// turnEdges moves the edges that a node names from their other end, as a phase
// names its playbook, to where they start.
func (n *legacyNode) turnEdges(byID map[string]*legacyNode) {
	own, _ := n.nodeType()
	n.values = slices.DeleteFunc(n.values, func(v legacyValue) bool {
		kind, turned := strings.CutPrefix(place(own, v.name), "<- ")
		from := byID[cleanText(strings.TrimSpace(asText(v.value)))]
		if !turned || from == nil || from == n {
			return false
		}
		from.edges = append(from.edges, legacyEdge{edge: schemas.Edge{Type: kind, Target: n.ownID()}, line: from.line})
		return true
	})
}

// settleMembers leaves of the lists of ids that edges told those whose edges
// are left; phases come in their order.
func settleMembers(d *document, phases map[string]int) {
	if !d.ordered {
		return
	}
	gone := func(kind string) func(string) bool {
		return func(id string) bool { return !slices.Contains(d.rule.Edges, schemas.Edge{Type: kind, Target: id}) }
	}
	if a := d.rule.Abstraction; a != nil {
		a.Members = slices.DeleteFunc(a.Members, gone("ABSTRACTS"))
	}
	if p := d.rule.Playbook; p != nil {
		p.Phases = slices.DeleteFunc(slices.DeleteFunc(p.Phases, gone(edgeContains)), func(id string) bool { return phases[id] == 0 })
		slices.SortStableFunc(p.Phases, func(a, b string) int { return cmp.Compare(phases[a], phases[b]) })
		if len(p.Phases) == 0 && len(p.Steps) == 0 {
			p.Steps = []string{d.rule.Statement}
		}
	}
}
