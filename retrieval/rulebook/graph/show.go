package graph

import (
	"cmp"
	"context"
	"slices"

	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/schemas"
)

const (
	shownDepth    = 2  // edges away, by default
	shownMaxDepth = 20 // more is the whole graph
	// shownNodes bounds a drawing; nobody reads a larger one.
	shownNodes = 400
)

// show returns what lies around a node, followed along edges in both
// directions.
func (s *Service) show(ctx context.Context, q schemas.GraphQuery) (view schemas.GraphView, err error) {
	q.Depth = cmp.Or(q.Depth, shownDepth)
	if q.Depth < 0 || q.Depth > shownMaxDepth {
		return view, schemas.Faultf(schemas.CodeBadRequest, "the depth is %d, must be 1 to %d", q.Depth, shownMaxDepth)
	}
	if err := s.await(ctx); err != nil {
		return view, err
	}
	var nodes []schemas.Rule
	err = s.read(func(reader projections.Reader) error {
		nodes, err = s.nodes(reader)
		return err
	})
	if err != nil {
		return view, err
	}
	nodes = slices.DeleteFunc(nodes, schemas.Rule.Proposed)
	view, found := neighbourhood(nodes, q.ID, q.Depth)
	if !found {
		return view, schemas.Faultf(schemas.CodeNotFound, "there is no node %q in the graph. `writ rule list` shows them.", q.ID)
	}
	return view, nil
}

// neighbourhood walks from a node, nearest first, and in the order of ids
// among the equally near.
func neighbourhood(nodes []schemas.Rule, id string, depth int) (view schemas.GraphView, found bool) {
	byID := map[string]schemas.Rule{}
	out, in := map[string][]schemas.GraphEdge{}, map[string][]schemas.GraphEdge{}
	for _, n := range nodes {
		byID[n.ID] = n
		for _, e := range n.Edges {
			edge := schemas.GraphEdge{From: n.ID, Type: e.Type, To: e.Target}
			if !slices.Contains(out[n.ID], edge) {
				out[n.ID] = append(out[n.ID], edge)
				in[e.Target] = append(in[e.Target], edge)
			}
		}
	}
	view = schemas.GraphView{ID: id, Depth: depth, Nodes: []schemas.GraphNode{}, Edges: []schemas.GraphEdge{}}
	if _, found = byID[id]; !found {
		return view, false
	}
	shown := map[string]bool{id: true}
	ring := []string{id}
	for distance := 0; len(ring) > 0; distance++ {
		slices.Sort(ring)
		var next []string
		for _, at := range ring {
			view.Nodes = append(view.Nodes, graphNode(byID, at, distance))
			for _, e := range slices.Concat(out[at], in[at]) {
				other := e.To
				if other == at {
					other = e.From
				}
				switch {
				case shown[other]:
				case distance == depth:
				case len(shown) >= shownNodes:
					view.Truncated = true
				default:
					shown[other] = true
					next = append(next, other)
				}
			}
		}
		ring = next
	}
	for _, n := range view.Nodes {
		for _, e := range out[n.ID] {
			if shown[e.To] {
				view.Edges = append(view.Edges, e)
			}
		}
	}
	slices.SortFunc(view.Edges, func(a, b schemas.GraphEdge) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.Type, b.Type), cmp.Compare(a.To, b.To))
	})
	return view, true
}

func graphNode(byID map[string]schemas.Rule, id string, distance int) schemas.GraphNode {
	n, there := byID[id]
	if !there {
		return schemas.GraphNode{ID: id, Distance: distance, Missing: true}
	}
	return schemas.GraphNode{ID: id, Type: n.NodeType(), Title: n.Title, Domain: n.Domain, Severity: n.Severity, Distance: distance}
}
