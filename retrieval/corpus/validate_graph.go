package corpus

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/writbus/writ/schemas"
)

// The edge types whose meaning matters here.
const (
	edgeSupersedes = "SUPERSEDES"
	edgeConflicts  = "CONFLICTS_WITH"
	edgeBelongs    = "BELONGS_TO"
	edgeRelated    = "RELATED_TO"
	edgeContains   = "CONTAINS"
)

// circular are the edge types that make no sense in a circle.
var circular = []string{"DEPENDS_ON", "PRECEDES", edgeSupersedes}

// graph checks what the nodes say of each other.
func (v *validator) graph() {
	linked, superseded := map[string]bool{}, map[string]string{}
	for _, n := range v.nodes {
		for _, e := range n.Rule.Edges {
			if _, known := v.byID[e.Target]; known {
				linked[n.Rule.ID], linked[e.Target] = true, true
				if e.Type == edgeSupersedes {
					superseded[e.Target] = n.Rule.ID
				}
			}
		}
	}
	for i := range v.nodes {
		n := &v.nodes[i]
		for j, e := range n.Rule.Edges {
			v.edge(n, j, e, superseded)
		}
		v.members(n)
		if !linked[n.Rule.ID] {
			v.add(SeverityWarning, CheckOrphan, n, "id", nil, "no edge leads here or away: say what it is related to")
		}
	}
	for _, kind := range circular {
		v.cycles(kind)
	}
}

func (v *validator) edge(n *Node, i int, e schemas.Edge, superseded map[string]string) {
	key := fmt.Sprintf("edges.%d", i)
	to, known := v.byID[e.Target]
	if !known {
		v.add(SeverityError, CheckTarget, n, key, []string{e.Target}, "edge %s points to %s, which does not exist: correct the id, or remove the edge", e.Type, e.Target)
		return
	}
	// An edge that cannot start here is a matter of the schema.
	if startsFrom(e.Type, n.Rule.NodeType()) && !EdgeAllowed(e.Type, n.Rule.Type, to.Rule.Type) {
		v.add(SeverityError, CheckEndpoint, n, key, []string{e.Target}, "%s", CheckEdge(e, n.Rule.Type, to.Rule.Type))
	}
	if by, replaced := superseded[e.Target]; replaced && e.Type != edgeSupersedes && by != n.Rule.ID {
		v.add(SeverityWarning, CheckSuperseded, n, key, []string{e.Target, by}, "edge %s points to %s, which %s supersedes: point to that one", e.Type, e.Target, by)
	}
	if e.Type == edgeConflicts {
		v.conflict(n, key, to)
	}
}

// conflict judges a pair that excludes each other, once for both directions.
func (v *validator) conflict(n *Node, key string, to *Node) {
	a, b := &n.Rule, &to.Rule
	mutual := slices.ContainsFunc(b.Edges, func(e schemas.Edge) bool { return e.Type == edgeConflicts && e.Target == a.ID })
	if a.ID == b.ID || mutual && b.ID < a.ID {
		return
	}
	if a.AlwaysShown() && b.AlwaysShown() {
		v.add(SeverityError, CheckConflict, n, key, []string{b.ID}, "conflicts with %s, and both are always shown: make one of them optional, or remove it", b.ID)
	}
	for _, pair := range [][2]*schemas.Rule{{a, b}, {b, a}} {
		for _, e := range pair[0].Edges {
			if e.Target == pair[1].ID && (e.Type == "DEPENDS_ON" || e.Type == "SUPPLEMENTS") {
				v.add(SeverityError, CheckConflict, n, key, []string{b.ID}, "conflicts with %s, but %s %s %s: remove one of the edges", b.ID, pair[0].ID, e.Type, e.Target)
			}
		}
	}
}

// members checks the ids that a node lists outside of its edges.
func (v *validator) members(n *Node) {
	r := &n.Rule
	if p := r.Playbook; p != nil {
		v.listed(n, "playbook.phases", p.Phases, schemas.NodePhase)
		v.listed(n, "playbook.roles", p.Roles, schemas.NodeSubagentRole)
	}
	if a := r.Abstraction; a != nil {
		v.listed(n, "abstraction.members", a.Members, guidance...)
	}
}

func (v *validator) listed(n *Node, key string, ids []string, types ...schemas.NodeType) {
	for _, id := range ids {
		switch other, known := v.byID[id]; {
		case !known:
			v.add(SeverityError, CheckTarget, n, key, []string{id}, "%s names %s, which does not exist: correct the id, or remove it", key, id)
		case !slices.Contains(types, other.Rule.NodeType()):
			v.add(SeverityError, CheckEndpoint, n, key, []string{id}, "%s names %s, which is a %s, not a %s", key, id, other.Rule.NodeType(), either(types))
		}
	}
}

// cycles reports every group of nodes that edges of one type lead around in,
// once, at its lowest id, with the shortest way around.
func (v *validator) cycles(kind string) {
	next := map[string][]string{}
	for _, n := range v.nodes {
		for _, e := range n.Rule.Edges {
			if _, known := v.byID[e.Target]; known && e.Type == kind && e.Target != n.Rule.ID {
				next[n.Rule.ID] = append(next[n.Rule.ID], e.Target)
			}
		}
		slices.Sort(next[n.Rule.ID])
	}
	for _, group := range components(next) {
		way := wayAround(next, group)
		n := v.byID[way[0]]
		i := slices.IndexFunc(n.Rule.Edges, func(e schemas.Edge) bool { return e.Type == kind && e.Target == way[1] })
		v.add(SeverityError, CheckCycle, n, fmt.Sprintf("edges.%d", i), group[1:], "%s runs in a circle: %s → %s. Remove one of these edges", kind, strings.Join(way, " → "), way[0])
	}
}

// components are the groups of two nodes and more that reach each other, each
// sorted, in the order of their lowest ids (Tarjan 1972, without recursion).
func components(next map[string][]string) [][]string {
	type frame struct {
		id   string
		edge int
	}
	var out [][]string
	index, low, onStack := map[string]int{}, map[string]int{}, map[string]bool{}
	var stack []string
	enter := func(id string) frame {
		index[id], low[id] = len(index)+1, len(index)+1
		stack, onStack[id] = append(stack, id), true
		return frame{id: id}
	}
	for _, root := range slices.Sorted(maps.Keys(next)) {
		if index[root] > 0 {
			continue
		}
		for calls := []frame{enter(root)}; len(calls) > 0; {
			top := &calls[len(calls)-1]
			if top.edge < len(next[top.id]) {
				to := next[top.id][top.edge]
				top.edge++
				if index[to] == 0 {
					calls = append(calls, enter(to))
				} else if onStack[to] {
					low[top.id] = min(low[top.id], index[to])
				}
				continue
			}
			id := top.id
			if calls = calls[:len(calls)-1]; len(calls) > 0 {
				below := calls[len(calls)-1].id
				low[below] = min(low[below], low[id])
			}
			if low[id] == index[id] {
				at := slices.Index(stack, id)
				group := slices.Sorted(slices.Values(stack[at:]))
				for _, member := range group {
					onStack[member] = false
				}
				if stack = stack[:at]; len(group) > 1 {
					out = append(out, group)
				}
			}
		}
	}
	slices.SortFunc(out, func(a, b []string) int { return strings.Compare(a[0], b[0]) })
	return out
}

// wayAround is the shortest way within a group from its lowest id back to it,
// without the return.
func wayAround(next map[string][]string, group []string) []string {
	start := group[0]
	from := map[string]string{}
	for queue := []string{start}; len(queue) > 0; queue = queue[1:] {
		for _, to := range next[queue[0]] {
			if to == start {
				way := []string{}
				for id := queue[0]; id != start; id = from[id] {
					way = append(way, id)
				}
				slices.Reverse(way)
				return append([]string{start}, way...)
			}
			if _, seen := from[to]; !seen {
				from[to] = queue[0]
				queue = append(queue, to)
			}
		}
	}
	return group
}
