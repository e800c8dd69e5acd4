package curation

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/writbus/writ/schemas"
)

// ErrDimension is returned by [Compare] and [Compress] for vectors that cannot
// be compared: of different dimensions, or not one for each node.
var ErrDimension = errors.New("curation: vectors do not fit together")

// Text is what of a node is embedded to compare it with others: its trigger and
// its statement. Names and tags do not count: the same rule under another name
// is the same rule.
func Text(node schemas.Rule) string {
	return strings.Join(strings.Fields(node.Trigger+" "+node.Statement), " ")
}

// Corpus is what a proposal is judged against.
type Corpus struct {
	// Nodes are those in the graph: of every type, mandatory ones and admitted
	// proposals too, without what was retired, refused or rejected.
	Nodes []schemas.Rule
	// Cosines are those of the proposal to Nodes, place by place. Where one is
	// missing only equal texts are alike.
	Cosines []float64
	// Taken lists further ids that no proposal may have: those of retired nodes.
	Taken []string
}

// Compare makes the corpus for one proposal of nodes and their vectors, all of
// one embedder. It returns [ErrDimension].
func Compare(proposal []float32, nodes []schemas.Rule, vectors [][]float32) (Corpus, error) {
	if len(nodes) != len(vectors) {
		return Corpus{}, fmt.Errorf("%w: %d nodes and %d vectors", ErrDimension, len(nodes), len(vectors))
	}
	c := Corpus{Nodes: nodes, Cosines: make([]float64, len(nodes))}
	for i, v := range vectors {
		if len(v) != len(proposal) && len(v) != 0 && len(proposal) != 0 {
			return Corpus{}, fmt.Errorf("%w: the proposal's has %d dimensions, that of %s has %d", ErrDimension, len(proposal), nodes[i].ID, len(v))
		}
		c.Cosines[i] = cosine(proposal, v)
	}
	return c, nil
}

// cosine is 0 where a vector is empty or has no direction.
func cosine(a, b []float32) float64 {
	var dot, squareA, squareB float64
	for i := range min(len(a), len(b)) {
		x, y := float64(a[i]), float64(b[i])
		dot += float64(x * y)
		squareA += float64(x * x)
		squareB += float64(y * y)
	}
	c := dot / math.Sqrt(float64(squareA*squareB))
	if math.IsNaN(c) {
		return 0
	}
	return max(-1, min(1, c))
}

// like is an existing node and how near it is.
type like struct {
	node   *schemas.Rule
	cosine float64
	same   bool // the texts are equal
}

// likes lists the nodes from the nearest to the farthest, equals by id.
func (c Corpus) likes(proposal schemas.Rule) []like {
	all := make([]like, len(c.Nodes))
	for i := range c.Nodes {
		l := like{node: &c.Nodes[i]}
		if i < len(c.Cosines) && !math.IsNaN(c.Cosines[i]) {
			l.cosine = c.Cosines[i]
		}
		if sameText(proposal, c.Nodes[i]) {
			l.cosine, l.same = 1, true
		}
		all[i] = l
	}
	slices.SortStableFunc(all, func(a, b like) int {
		return cmp.Or(cmp.Compare(b.cosine, a.cosine), cmp.Compare(a.node.ID, b.node.ID))
	})
	return all
}

// sameText tells whether two nodes have one [Text], but for case; none is like
// nothing. It stops at the first other word, for it is asked of every node.
func sameText(a, b schemas.Rule) bool {
	left, right := a.Trigger+" "+a.Statement, b.Trigger+" "+b.Statement
	for n := 0; ; n++ {
		var x, y string
		x, left = nextWord(left)
		y, right = nextWord(right)
		if x == "" || !strings.EqualFold(x, y) {
			return x == y && n > 0
		}
	}
}

func nextWord(text string) (word, rest string) {
	text = strings.TrimLeftFunc(text, unicode.IsSpace)
	if end := strings.IndexFunc(text, unicode.IsSpace); end >= 0 {
		return text[:end], text[end:]
	}
	return text, ""
}
