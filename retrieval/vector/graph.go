package vector

import (
	"hash/fnv"
	"math"
	"math/bits"
	"runtime"
	"sync"
)

// GraphOptions are the parameters of a [Graph]; zero values are the defaults.
type GraphOptions struct {
	M              int // links of a view, twice as many on the ground level; 16
	EfConstruction int // candidates looked at for the links of a new view; 200
	EfSearch       int // least views kept during a search; 50
}

const (
	defaultM              = 16
	defaultEfConstruction = 200
	defaultEfSearch       = 50
)

func (o GraphOptions) withDefaults() GraphOptions {
	if o.M < 2 {
		o.M = defaultM
	}
	if o.EfConstruction < 1 {
		o.EfConstruction = defaultEfConstruction
	}
	if o.EfSearch < 1 {
		o.EfSearch = defaultEfSearch
	}
	return o
}

// Graph is a hierarchical navigable small world over views (Malkov and
// Yashunin, "Efficient and robust approximate nearest neighbor search using
// Hierarchical Navigable Small World graphs", TPAMI 2020), built once. Walks
// measure by codes; what they find is scored again in full. When filters leave
// a walk too few documents, all views are scanned instead.
type Graph struct {
	*views
	opt    GraphOptions
	exact  *Exact
	levels []uint8   // per view
	ground []int32   // links of the lowest level, 2M a view, −1 is none
	above  [][]int32 // per view with levels: M links for each level from 1
	entry  int32
	walks  sync.Pool // of *walk
}

// NewGraph links the views; it takes about a millisecond for each. The level of
// a view comes from a hash of its codes, and views are linked in batches whose
// size depends on their place alone, so the graph is the same whatever the
// number of processors.
func NewGraph(in []View, opt GraphOptions) (*Graph, error) {
	v, err := prepare(in, nil, nil)
	if err != nil {
		return nil, err
	}
	return newGraph(v, opt), nil
}

func newGraph(v *views, opt GraphOptions) *Graph {
	g := &Graph{
		views: v, opt: opt.withDefaults(), exact: newExact(v, nil), levels: make([]uint8, len(v.docs)), above: make([][]int32, len(v.docs)),
	}
	g.ground = make([]int32, 2*g.opt.M*len(v.docs))
	for i := range g.ground {
		g.ground[i] = -1
	}
	for view := range v.docs {
		level := g.level(int32(view))
		g.levels[view] = level
		links := make([]int32, int(level)*g.opt.M)
		for i := range links {
			links[i] = -1
		}
		g.above[view] = links
	}
	g.walks.New = func() any { return g.newWalk() }
	order := g.insertionOrder()
	for linked := min(1, len(order)); linked < len(order); {
		n := min(1+linked/64, 512, len(order)-linked)
		g.link(order[linked : linked+n])
		for _, view := range order[linked : linked+n] {
			if g.levels[view] > g.levels[g.entry] {
				g.entry = view
			}
		}
		linked += n
	}
	return g
}

// insertionOrder scatters the views, so that those of one document, which are
// alike, do not come together; it depends on their number alone.
func (g *Graph) insertionOrder() []int32 {
	n := len(g.docs)
	order := make([]int32, 0, n)
	for i := range uint32(1) << bits.Len(uint(max(n-1, 1))) {
		scattered := bits.Reverse32(i) >> (32 - bits.Len(uint(max(n-1, 1))))
		if int(scattered) < n {
			order = append(order, int32(scattered))
		}
	}
	if n > 0 {
		g.entry = order[0]
	}
	return order
}

// level is ⌊−ln(u)/ln(M)⌋ with u from a hash of the codes.
func (g *Graph) level(view int32) uint8 {
	h := fnv.New64a()
	row := g.row(view)
	raw := make([]byte, len(row))
	for i, c := range row {
		raw[i] = byte(c)
	}
	h.Write(raw)
	x := h.Sum64()
	x ^= x >> 33 // FNV mixes its last bytes little into the high bits
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	u := (float64(x>>11) + 1) / (1 << 53)
	return uint8(min(-math.Log(u)/math.Log(float64(g.opt.M)), 15))
}

func (g *Graph) row(view int32) []int8 {
	return g.codes[int(view)*g.stride : (int(view)+1)*g.stride]
}

// links are a view's on a level; −1 ends them.
func (g *Graph) links(view int32, level int) []int32 {
	if level == 0 {
		return g.ground[int(view)*2*g.opt.M : (int(view)+1)*2*g.opt.M]
	}
	return g.above[view][(level-1)*g.opt.M : level*g.opt.M]
}

// link adds a batch: all look for their neighbours in the graph as it is, on
// all processors, and then take their links one after the other.
func (g *Graph) link(batch []int32) {
	wanted := make([][][]near, len(batch))
	workers := min(runtime.GOMAXPROCS(0), len(batch))
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			walk := g.walks.Get().(*walk)
			defer g.walks.Put(walk)
			for i := w; i < len(batch); i += workers {
				wanted[i] = g.neighbourhood(walk, batch[i])
			}
		})
	}
	wg.Wait()
	for i, view := range batch {
		for level, found := range wanted[i] {
			g.connect(view, level, found)
		}
	}
}

// neighbourhood selects the links of a new view, by level.
func (g *Graph) neighbourhood(w *walk, view int32) [][]near {
	own, top := int(g.levels[view]), int(g.levels[g.entry])
	w.begin(g.row(view), g.scales[view])
	at := near{g.entry, w.similarity(g.entry)}
	for level := top; level > own; level-- {
		at = w.descend(at, level)
	}
	out := make([][]near, own+1)
	for level := min(own, top); level >= 0; level-- {
		found := w.explore(at, level, g.opt.EfConstruction)
		at = found[0]
		out[level] = g.choose(found, g.opt.M)
	}
	return out
}

// choose is the neighbour heuristic: of candidates, the most similar first, one
// that is more like an already chosen one than like the view is left out, so
// that links go into all directions; what is left over fills up.
func (g *Graph) choose(found []near, most int) []near {
	chosen := make([]near, 0, most)
	var left []near
	for _, c := range found {
		if len(chosen) == most {
			break
		}
		apart := true
		for _, other := range chosen {
			if g.between(c.view, other.view) > c.similarity {
				apart = false
				break
			}
		}
		if apart {
			chosen = append(chosen, c)
		} else {
			left = append(left, c)
		}
	}
	for _, c := range left {
		if len(chosen) == most {
			break
		}
		chosen = append(chosen, c)
	}
	return chosen
}

// between is the similarity of two views by codes.
func (g *Graph) between(a, b int32) float32 {
	var out [1]int32
	dotCodes(out[:], g.row(a), g.row(b))
	return float32(out[0]) * g.scales[a] * g.scales[b]
}

// connect links the view to the chosen ones and them to it.
func (g *Graph) connect(view int32, level int, chosen []near) {
	own := g.links(view, level)
	for i, c := range chosen {
		own[i] = c.view
	}
	for _, c := range chosen {
		if int(g.levels[c.view]) >= level {
			g.connectBack(c.view, near{view, c.similarity}, level)
		}
	}
}

// connectBack adds a link to a view that has others; when there are too many,
// the heuristic chooses again.
func (g *Graph) connectBack(view int32, added near, level int) {
	links := g.links(view, level)
	for i, other := range links {
		if other == added.view {
			return
		}
		if other < 0 {
			links[i] = added.view
			return
		}
	}
	all := make([]near, 0, len(links)+1)
	all = append(all, added)
	for _, other := range links {
		all = append(all, near{other, g.between(view, other)})
	}
	sortNear(all)
	for i := range links {
		links[i] = -1
	}
	for i, c := range g.choose(all, len(links)) {
		links[i] = c.view
	}
}
