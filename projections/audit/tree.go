package audit

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"math"
	"strings"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/projections/audit/evidence"
	"github.com/writbus/writ/schemas"
)

// ErrNoRecord is returned for a record that is not in the tree.
var ErrNoRecord = errors.New("audit: there is no such record in the tree")

// Tree reads the tree of one stream from a snapshot of the view. It is valid
// while the snapshot is, and not safe for concurrent use.
type Tree struct {
	view   projections.Reader
	stream schemas.Stream
	size   uint64
	first  uint64
	tiles  map[tilePlace][]byte // read already
}

type tilePlace struct {
	level int
	n     int64
}

// OpenTree reads where a stream's tree stands.
func OpenTree(view projections.Reader, s schemas.Stream) (*Tree, error) {
	t := &Tree{view: view, stream: s, first: 1, tiles: map[tilePlace][]byte{}}
	raw, found, err := view.Get(sizeKey(s))
	if err != nil {
		return nil, fmt.Errorf("audit: tree of %s: %w", s, err)
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
		tile := tlog.TileForIndex(tileHeight, index) // as much of the tile as the hash takes
		data, err := t.tile(tile)
		if err != nil {
			return nil, err
		}
		if hashes[i], err = tlog.HashFromTile(tile, data, index); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
		}
	}
	return hashes, nil
}

// tile reads a tile once, as far as it is stored, for every part of it.
func (t *Tree) tile(of tlog.Tile) ([]byte, error) {
	place := tilePlace{of.L, of.N}
	stored, read := t.tiles[place]
	if !read {
		var err error
		if stored, _, err = t.view.Get(tileKey(t.stream, of.L, uint64(of.N))); err != nil {
			return nil, err
		}
		t.tiles[place] = stored
	}
	return hashesOf(stored, t.stream, of.L, uint64(of.N), of.W)
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
	wanted := [][]byte{appendID(nil, id)}
	if id != event {
		wanted = append(wanted, appendID(nil, event))
	}
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
			if seq, found, err := t.findIn(tile, wanted); found || err != nil {
				return seq, err
			}
		}
	}
	return 0, fmt.Errorf("%w: %s has no event %q", ErrNoRecord, t.stream, event)
}

// ids reads the ids of one tile's leaves, as they are stored.
func (t *Tree) ids(tile uint64) (page []byte, n uint64, err error) {
	page, _, err = t.view.Get(idsKey(t.stream, tile))
	return page, min(t.size-tile*tileHashes, tileHashes), err
}

// findIn looks for any of some ids, as they are stored, in one tile.
func (t *Tree) findIn(tile uint64, wanted [][]byte) (seq uint64, found bool, err error) {
	page, n, err := t.ids(tile)
	if err != nil {
		return 0, false, err
	}
	for i := range n {
		stored, rest, err := cutID(page)
		if err != nil {
			return 0, false, fmt.Errorf("%s: %w", t.stream, err)
		}
		for _, id := range wanted {
			if bytes.Equal(stored, id) {
				return t.first + tile*tileHashes + i, true, nil
			}
		}
		page = rest
	}
	return 0, false, nil
}

// around is the page in which ids of a time are expected.
func (t *Tree) around(millis, pages uint64) (uint64, error) {
	low, high := uint64(0), pages
	for low < high {
		middle := (low + high) / 2
		begins, known, err := t.begins(middle)
		if err != nil {
			return 0, err
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

// begins is the time in the first id of a page that has one.
func (t *Tree) begins(tile uint64) (millis uint64, known bool, err error) {
	page, n, err := t.ids(tile)
	if err != nil {
		return 0, false, err
	}
	for range n {
		stored, rest, err := cutID(page)
		if err != nil {
			return 0, false, fmt.Errorf("%s: %w", t.stream, err)
		}
		if stored[0] == uuidText {
			if millis, known = timeIn([16]byte(stored[1:])); known {
				return millis, true, nil
			}
		}
		page = rest
	}
	return 0, false, nil
}
