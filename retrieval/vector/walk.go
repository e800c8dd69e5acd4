package vector

import (
	"cmp"
	"slices"
)

// near is a view and how similar it is to what a walk looks for.
type near struct {
	view       int32
	similarity float32
}

// nearer orders the most similar first, ties by view.
func nearer(a, b near) int {
	return cmp.Or(cmp.Compare(b.similarity, a.similarity), cmp.Compare(a.view, b.view))
}

func sortNear(all []near) { slices.SortFunc(all, nearer) }

// walk is one traversal of a graph and the memory it works in.
type walk struct {
	g        *Graph
	query    []int8
	scale    float32
	seen     []uint32 // per view, the last round that came by
	round    uint32
	frontier []near // heap, the most similar on top
	best     []near // heap, the least similar on top
	asked    *question
}

func (g *Graph) newWalk() *walk {
	return &walk{g: g, seen: make([]uint32, len(g.docs)), asked: g.newQuestion()}
}

func (w *walk) begin(query []int8, scale float32) { w.query, w.scale = query, scale }

func (w *walk) similarity(view int32) float32 {
	var out [1]int32
	dotCodes(out[:], w.query, w.g.row(view))
	return float32(out[0]) * w.scale * w.g.scales[view]
}

// fresh tells whether this round sees the view for the first time.
func (w *walk) fresh(view int32) bool {
	if w.seen[view] == w.round {
		return false
	}
	w.seen[view] = w.round
	return true
}

func (w *walk) startRound() {
	w.round++
	if w.round == 0 {
		clear(w.seen)
		w.round = 1
	}
	w.frontier, w.best = w.frontier[:0], w.best[:0]
}

// descend goes to ever more similar views of a level until there is none.
func (w *walk) descend(at near, level int) near {
	for {
		next := at
		for _, view := range w.g.links(at.view, level) {
			if view < 0 {
				break
			}
			if c := (near{view, w.similarity(view)}); nearer(c, next) < 0 {
				next = c
			}
		}
		if next == at {
			return at
		}
		at = next
	}
}

// explore returns about the ef most similar views of a level, sorted, and does
// not go on from views that are worse than all of them.
func (w *walk) explore(from near, level, ef int) []near {
	w.startRound()
	w.fresh(from.view)
	w.frontier = push(w.frontier, from, nearer)
	w.best = push(w.best, from, further)
	for len(w.frontier) > 0 {
		var at near
		at, w.frontier = pop(w.frontier, nearer)
		if len(w.best) == ef && nearer(at, w.best[0]) > 0 {
			break
		}
		for _, view := range w.g.links(at.view, level) {
			if view < 0 {
				break
			}
			if !w.fresh(view) {
				continue
			}
			c := near{view, w.similarity(view)}
			if len(w.best) == ef {
				if nearer(c, w.best[0]) > 0 {
					continue
				}
				_, w.best = pop(w.best, further)
			}
			w.best = push(w.best, c, further)
			w.frontier = push(w.frontier, c, nearer)
		}
	}
	sortNear(w.best)
	return w.best
}

func further(a, b near) int { return nearer(b, a) }

// push and pop keep a binary heap whose top comes first in the order.
func push(heap []near, c near, order func(a, b near) int) []near {
	heap = append(heap, c)
	for at := len(heap) - 1; at > 0; {
		parent := (at - 1) / 2
		if order(heap[at], heap[parent]) >= 0 {
			break
		}
		heap[at], heap[parent] = heap[parent], heap[at]
		at = parent
	}
	return heap
}

func pop(heap []near, order func(a, b near) int) (near, []near) {
	top, last := heap[0], len(heap)-1
	heap[0] = heap[last]
	heap = heap[:last]
	for at := 0; ; {
		first := at
		for child := 2*at + 1; child <= 2*at+2 && child < last; child++ {
			if order(heap[child], heap[first]) < 0 {
				first = child
			}
		}
		if first == at {
			return top, heap
		}
		heap[at], heap[first] = heap[first], heap[at]
		at = first
	}
}

// viewsPerDocument scales a search's effort: the nearest documents often hold
// several of the nearest views each.
const viewsPerDocument = 4

// Nearest returns up to k documents that keep admits, the most similar first,
// as [Exact.Nearest] does, but may miss one.
func (g *Graph) Nearest(query []float32, k int, keep func(doc int32) bool) []Match {
	w := g.walks.Get().(*walk)
	defer g.walks.Put(w)
	if k <= 0 || !g.ask(w.asked, query) {
		return nil
	}
	w.begin(w.asked.codes, w.asked.scale)
	at := near{g.entry, w.similarity(g.entry)}
	for level := int(g.levels[g.entry]); level > 0; level-- {
		at = w.descend(at, level)
	}
	found := w.explore(at, 0, max(g.opt.EfSearch, viewsPerDocument*rescored(k)))
	candidates := make([]scored, 0, rescored(k))
	for _, c := range found {
		doc := g.docs[c.view]
		if len(candidates) == rescored(k) || keep != nil && !keep(doc) {
			continue
		}
		if !slices.ContainsFunc(candidates, func(t scored) bool { return t.doc == doc }) {
			candidates = append(candidates, scored{doc, c.similarity})
		}
	}
	if len(candidates) < rescored(k) && keep != nil {
		return g.exact.Nearest(query, k, keep)
	}
	return g.rescore(w.asked, candidates, k)
}
