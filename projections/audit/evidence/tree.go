package evidence

import (
	"crypto/sha256"
	"math/bits"

	"golang.org/x/mod/sumdb/tlog"
)

// leafPrefix keeps leaves and inner nodes apart (RFC 6962, section 2.1).
const leafPrefix = 0x00

func sum(prefixed []byte) Hash { return sha256.Sum256(prefixed) }

// EmptyRoot is the root of a tree without leaves (RFC 6962, section 2.1).
var EmptyRoot = Hash(sha256.Sum256(nil))

// Frontier is the right edge of a growing tree: enough to know its root, in 32
// bytes per level. The zero value is the empty tree.
type Frontier struct {
	size  int64
	nodes []Hash // roots of the full subtrees, largest first; one for each bit of size
}

// Add adds the hash of the next leaf.
func (f *Frontier) Add(leaf Hash) {
	f.nodes = append(f.nodes, leaf)
	for n := f.size; n&1 == 1; n >>= 1 {
		last := len(f.nodes) - 1
		f.nodes[last-1] = tlog.NodeHash(f.nodes[last-1], f.nodes[last])
		f.nodes = f.nodes[:last]
	}
	f.size++
}

// Size is the number of leaves.
func (f *Frontier) Size() int64 { return f.size }

// Root is the tree's root.
func (f *Frontier) Root() Hash {
	if f.size == 0 {
		return EmptyRoot
	}
	root := f.nodes[len(f.nodes)-1]
	for i := len(f.nodes) - 2; i >= 0; i-- {
		root = tlog.NodeHash(f.nodes[i], root)
	}
	return root
}

// Edge are the roots of the full subtrees, largest first: all that it takes to go on.
func (f *Frontier) Edge() []Hash { return append([]Hash(nil), f.nodes...) }

// NewFrontier goes on from an edge. ok is false where it is none of a tree of that size.
func NewFrontier(size int64, edge []Hash) (f *Frontier, ok bool) {
	return &Frontier{size: size, nodes: append([]Hash(nil), edge...)}, size >= 0 && bits.OnesCount64(uint64(size)) == len(edge)
}

// Clone returns a frontier that grows apart from this one.
func (f *Frontier) Clone() *Frontier {
	return &Frontier{size: f.size, nodes: append([]Hash(nil), f.nodes...)}
}
