package mention

import (
	"slices"
)

// Graph is which file mentions which. It does not change once it is read.
type Graph struct {
	out, in map[string][]string
}

// Edge is one step in a graph, and how far it is from where the walk began.
type Edge struct {
	From, To string
	Depth    int
}

// NewGraph takes the references of each path.
func NewGraph(references map[string][]string) *Graph {
	g := &Graph{out: map[string][]string{}, in: map[string][]string{}}
	for from, all := range references {
		for _, to := range all {
			if to == from {
				continue
			}
			g.out[from] = append(g.out[from], to)
			g.in[to] = append(g.in[to], from)
		}
	}
	for _, side := range []map[string][]string{g.out, g.in} {
		for one, all := range side {
			slices.Sort(all)
			side[one] = slices.Compact(all)
		}
	}
	return g
}

// Out walks what a path rests on, nearest first, up to depth steps.
func (g *Graph) Out(path string, depth int) []Edge {
	return walk(g.out, path, depth, func(near, far string, n int) Edge { return Edge{near, far, n} })
}

// In walks what rests on a path, nearest first, up to depth steps.
func (g *Graph) In(path string, depth int) []Edge {
	return walk(g.in, path, depth, func(near, far string, n int) Edge { return Edge{far, near, n} })
}

func walk(next map[string][]string, from string, depth int, edge func(near, far string, n int) Edge) (edges []Edge) {
	seen := map[string]bool{from: true}
	for level, n := []string{from}, 1; n <= depth && len(level) > 0; n++ {
		var below []string
		for _, near := range level {
			for _, far := range next[near] {
				edges = append(edges, edge(near, far, n))
				if !seen[far] {
					seen[far] = true
					below = append(below, far)
				}
			}
		}
		level = below
	}
	return edges
}
