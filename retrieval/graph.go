package retrieval

import "slices"

// The types of edges that mean more than "is near".
const (
	edgeSupersedes = "SUPERSEDES"
	edgeConflicts  = "CONFLICTS_WITH"
	edgeBelongs    = "BELONGS_TO"
)

// What a seed's neighbours get, by hops.
const (
	oneHop  = 1.0
	twoHops = 0.5
)

// hubDegree is how many neighbours a node may have before it no longer links
// them to each other: being beside the same hub says little.
const hubDegree = 64

// graph is the adjacency of an index's documents, by document number.
type graph struct {
	near      [][]int32 // ascending; both directions of every edge that is neither below
	conflicts [][]int32 // both directions
	successor []int32   // of what is superseded, else none
}

const none int32 = -1

// newGraph links the documents. Edges to documents that are not there, to
// themselves, and to a category, which gathers what need not be near, say nothing.
func newGraph(docs []Document, ids map[string]int32) graph {
	g := graph{near: make([][]int32, len(docs)), conflicts: make([][]int32, len(docs)), successor: make([]int32, len(docs))}
	successors := make([][]int32, len(docs)) // from the older to the newer
	for i := range docs {
		from := int32(i)
		for _, edge := range docs[i].Rule.Edges {
			to, ok := ids[fold(edge.Target)]
			if !ok || to == from {
				continue
			}
			switch edge.Type {
			case edgeSupersedes:
				if maySupersede(&docs[from], &docs[to]) {
					successors[to] = append(successors[to], from)
				}
			case edgeConflicts:
				g.conflicts[from] = append(g.conflicts[from], to)
				g.conflicts[to] = append(g.conflicts[to], from)
			case edgeBelongs:
			default:
				g.near[from] = append(g.near[from], to)
				g.near[to] = append(g.near[to], from)
			}
		}
	}
	for i := range docs {
		g.near[i], g.conflicts[i] = distinct(g.near[i]), distinct(g.conflicts[i])
		g.successor[i] = successorOf(successors, int32(i))
	}
	return g
}

// maySupersede keeps a proposal from replacing a person's rule, and an optional
// rule from replacing a mandatory one.
func maySupersede(newer, older *Document) bool {
	return authorityRank(newer.Rule) >= authorityRank(older.Rule) && (newer.AlwaysOn() || !older.AlwaysOn())
}

// successorOf is a newer document that is not itself replaced by this one: rules
// that replace each other in a circle all stay.
func successorOf(successors [][]int32, doc int32) int32 {
	for _, newer := range successors[doc] {
		if !reaches(successors, newer, doc) {
			return newer
		}
	}
	return none
}

func (g *graph) superseded(doc int32) bool { return g.successor[doc] != none }

func reaches(next [][]int32, from, to int32) bool {
	seen := map[int32]bool{from: true}
	for queue := []int32{from}; len(queue) > 0; queue = queue[1:] {
		for _, n := range next[queue[0]] {
			if n == to {
				return true
			}
			if !seen[n] {
				seen[n] = true
				queue = append(queue, n)
			}
		}
	}
	return false
}

func distinct(docs []int32) []int32 {
	slices.Sort(docs)
	return slices.Compact(docs)
}

// neighbour is a document near a seed.
type neighbour struct {
	doc       int32
	proximity float64
	seed      int // place among the seeds
}

// neighbours appends what lies within two hops of the seeds, a seed counting only
// as the others' neighbour: all that are one hop away, then all at two, each in
// the order of the seeds. A document may come again; its first place counts.
func (g *graph) neighbours(out []neighbour, seeds []int32) []neighbour {
	for place, seed := range seeds {
		for _, first := range g.near[seed] {
			out = append(out, neighbour{first, oneHop, place})
		}
	}
	for place, seed := range seeds {
		for _, first := range g.near[seed] {
			if len(g.near[first]) > hubDegree {
				continue
			}
			for _, second := range g.near[first] {
				if second != seed {
					out = append(out, neighbour{second, twoHops, place})
				}
			}
		}
	}
	return out
}
