package transparency

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"strings"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/projections/transparency/evidence"
	"github.com/writbus/writ/schemas"
)

// ErrNoRecord is returned for a record that is not in the tree.
var ErrNoRecord = errors.New("transparency: there is no such record in the tree")

// Tree reads the tree of one stream from a snapshot of the view. It is valid
// while the snapshot is, and not safe for concurrent use.
type Tree struct {
	view   projections.Reader
	stream schemas.Stream
	size   uint64
	first  uint64
	tiles  map[tlog.Tile][]byte // read already
}

// OpenTree reads where a stream's tree stands.
func OpenTree(view projections.Reader, s schemas.Stream) (*Tree, error) {
	t := &Tree{view: view, stream: s, first: 1, tiles: map[tlog.Tile][]byte{}}
	raw, found, err := view.Get(sizeKey(s))
	if err != nil {
		return nil, fmt.Errorf("transparency: tree of %s: %w", s, err)
	}
	if found {
		if t.size, t.first, err = parseSize(raw); err != nil {
			return nil, fmt.Errorf("tree of %s: %w", s, err)
		}
	}
	if t.size > math.MaxInt64/4 {
		return nil, fmt.Errorf("tree of %s: %w: size %d", s, ErrCorrupt, t.size)
	}
	return t, nil
}

// Size is the number of records in the tree.
func (t *Tree) Size() int64 { return int64(t.size) }

// First is the sequence of the first of them, 1 for an empty tree.
func (t *Tree) First() uint64 { return t.first }

// Root is the root over the first n records. It returns ErrNoRecord where there
// are fewer.
func (t *Tree) Root(n int64) (evidence.Hash, error) {
	if n < 0 || n > t.Size() {
		return evidence.Hash{}, fmt.Errorf("%w: %s has %d records, not %d", ErrNoRecord, t.stream, t.size, n)
	}
	if n == 0 {
		return evidence.EmptyRoot, nil
	}
	return tlog.TreeHash(n, t)
}

// Include proves that the record at a sequence is among the first n.
func (t *Tree) Include(n int64, seq uint64) ([]evidence.Hash, error) {
	if n > t.Size() || seq < t.first || seq-t.first >= uint64(max(n, 0)) {
		return nil, fmt.Errorf("%w: %s %d of %d records", ErrNoRecord, t.stream, seq, n)
	}
	return tlog.ProveRecord(n, int64(seq-t.first), t)
}

// Extend proves that the tree of n records only adds to that of m.
func (t *Tree) Extend(n, m int64) ([]evidence.Hash, error) {
	if m < 0 || m > n || n > t.Size() {
		return nil, fmt.Errorf("%w: from %d to %d records of %s", ErrNoRecord, m, n, t.stream)
	}
	if m == 0 {
		return nil, nil
	}
	return tlog.ProveTree(n, m, t)
}

// ReadHashes implements tlog.HashReader.
func (t *Tree) ReadHashes(indexes []int64) ([]evidence.Hash, error) {
	hashes := make([]evidence.Hash, len(indexes))
	for i, index := range indexes {
		tile := tlog.TileForIndex(tileHeight, index)
		data, kept := t.tiles[tile]
		if !kept {
			var err error
			if data, err = getTile(t.view, t.stream, tile.L, uint64(tile.N), tile.W); err != nil {
				return nil, err
			}
			t.tiles[tile] = data
		}
		hash, err := tlog.HashFromTile(tile, data, index)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
		}
		hashes[i] = hash
	}
	return hashes, nil
}

// Leaves yields the leaves from a sequence on, in order.
func (t *Tree) Leaves(from uint64) iter.Seq2[evidence.Leaf, error] {
	return func(yield func(evidence.Leaf, error) bool) {
		from = max(from, t.first)
		for tile := (from - t.first) / tileHashes; tile*tileHashes < t.size; tile++ {
			leaves, err := t.page(tile)
			if err != nil {
				yield(evidence.Leaf{}, err)
				return
			}
			for _, l := range leaves {
				if l.Seq >= from && !yield(l, nil) {
					return
				}
			}
		}
	}
}

// page reads the leaves of one tile.
func (t *Tree) page(tile uint64) ([]evidence.Leaf, error) {
	n := min(t.size-tile*tileHashes, tileHashes)
	hashes, err := getTile(t.view, t.stream, 0, tile, int(n))
	if err != nil {
		return nil, err
	}
	ids, _, err := t.view.Get(idsKey(t.stream, tile))
	if err != nil {
		return nil, err
	}
	leaves := make([]evidence.Leaf, n)
	for i := range leaves {
		leaves[i].Seq = t.first + tile*tileHashes + uint64(i)
		leaves[i].Hash = evidence.Hash(hashes[i*tlog.HashSize:])
		if leaves[i].ID, ids, err = nextID(ids); err != nil {
			return nil, fmt.Errorf("%s: %w", t.stream, err)
		}
	}
	return leaves, nil
}

// nearPages is how far from its place an id is looked for at first: events that
// happen at once are appended in any order.
const nearPages = 3

// Find returns the sequence of the record that holds an event, by the event's
// id, or ErrNoRecord. The ids that Writ makes begin with their time and stand
// nearly in order, so it looks first where the id belongs, and goes on from
// there where everywhere is set.
func (t *Tree) Find(event string, everywhere bool) (uint64, error) {
	id, _, _ := strings.Cut(event, "/") // events of one record share its id
	pages := (t.size + tileHashes - 1) / tileHashes
	middle := uint64(0)
	if made, known := madeAt(id); known {
		var err error
		if middle, err = t.around(made, pages); err != nil {
			return 0, err
		}
	}
	// Outwards from there: middle, one after, one before, and so on.
	steps := min(pages, nearPages)
	if everywhere {
		steps = pages
	}
	for step := range steps {
		for i, tile := range [...]uint64{middle + step, middle - step} {
			if tile >= pages || i == 1 && step == 0 {
				continue
			}
			leaves, err := t.page(tile)
			if err != nil {
				return 0, err
			}
			for _, l := range leaves {
				if l.ID == id || l.ID == event {
					return l.Seq, nil
				}
			}
		}
	}
	return 0, fmt.Errorf("%w: %s has no event %q", ErrNoRecord, t.stream, event)
}

// around is the page in which ids of a time are expected.
func (t *Tree) around(millis, pages uint64) (uint64, error) {
	low, high := uint64(0), pages
	for low < high {
		middle := (low + high) / 2
		leaves, err := t.page(middle)
		if err != nil {
			return 0, err
		}
		begins, known := uint64(0), false
		for _, l := range leaves {
			if begins, known = madeAt(l.ID); known {
				break
			}
		}
		if known && begins <= millis {
			low = middle + 1
		} else {
			high = middle
		}
	}
	if low > 0 {
		low--
	}
	return low, nil
}
