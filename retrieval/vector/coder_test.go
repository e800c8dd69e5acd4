//go:build !windows

// coder/hnsw imports a module that does not build on Windows.

package vector

import (
	"fmt"
	"math/rand"
	"slices"
	"sync"
	"testing"

	"github.com/coder/hnsw"
)

// coderIndex makes coder/hnsw safe and sorted: it is built once by adding
// distinct keys, searched under a lock, asked for more than is wanted, and what
// it finds is scored again in full. It is here to tell why it is not used.
type coderIndex struct {
	*views
	mu        sync.Mutex
	graph     *hnsw.Graph[int32]
	overfetch int
}

func newCoderIndex(in []View, overfetch int) (*coderIndex, error) {
	v, err := prepare(in, nil, nil)
	if err != nil {
		return nil, err
	}
	g := hnsw.NewGraph[int32]()
	g.M, g.EfSearch, g.Rng = 16, max(200, overfetch), rand.New(rand.NewSource(1))
	for view := range v.full {
		g.Add(hnsw.MakeNode(int32(view), v.vector(view)))
	}
	return &coderIndex{views: v, graph: g, overfetch: overfetch}, nil
}

func (ix *coderIndex) Nearest(query []float32, k int, keep func(int32) bool) []Match {
	q := ix.newQuestion()
	if k <= 0 || !ix.ask(q, query) {
		return nil
	}
	ix.mu.Lock()
	found := ix.graph.Search(q.unit, ix.overfetch)
	ix.mu.Unlock()
	var candidates []scored
	for _, node := range found {
		doc := ix.docs[node.Key]
		if (keep == nil || keep(doc)) && !slices.ContainsFunc(candidates, func(c scored) bool { return c.doc == doc }) {
			candidates = append(candidates, scored{doc: doc})
		}
	}
	return ix.rescore(q, candidates, k)
}

// The library passes only where asking for nearly everything is a scan in
// disguise. Should a later version pass the last case, it deserves another look.
func TestCoderHNSWIsNoIndexForUs(t *testing.T) {
	for _, c := range []struct {
		docs, overfetch int
		passes          bool
	}{{40, 240, true}, {220, 40, false}, {220, 160, false}} {
		r := rand.New(rand.NewSource(int64(c.docs)))
		views := latent(r, c.docs, 6, 128, 48)
		queries := queriesNear(r, views, 20)
		want := make([][]int32, len(queries))
		for i, q := range queries {
			want[i] = truth(views, q, 10)
		}
		ix, err := newCoderIndex(views, c.overfetch)
		if err != nil {
			t.Fatal(err)
		}
		got := recall(ix, queries, want)
		t.Logf("%s", fmt.Sprintf("%d views, %d asked for: recall@10 %.4f", len(views), c.overfetch, got))
		if (got >= 0.98) != c.passes {
			t.Errorf("%d views, %d asked for: recall@10 is %.4f, which was not so", len(views), c.overfetch, got)
		}
	}
}
