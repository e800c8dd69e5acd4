package audit

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/projections/audit/evidence"
	"github.com/writbus/writ/schemas"
)

// Name of the view. Persisted: a new name is a new view.
const Name = "transparency"

const (
	version = 1
	// tileHeight makes tiles of 256 hashes, 8 KiB (C2SP tlog-tiles).
	tileHeight = 8
	tileHashes = 1 << tileHeight
)

var (
	// ErrRecordsOnly is returned by Apply: a tree is made of records.
	ErrRecordsOnly = errors.New("audit: a tree is made of records, not of events")
	// ErrNotNext is returned for a record that does not follow the last one of
	// its tree.
	ErrNotNext = errors.New("audit: records are missing before this one")
	// ErrCorrupt is returned for a view that does not hold what its size says.
	ErrCorrupt = errors.New("audit: the view is damaged")
)

// Lost says what the log has of records of a stream that were damaged and given
// up, in the order of their sequences.
type Lost func(schemas.Stream) ([]schemas.RecordsLost, error)

// Projector writes the trees. It is fed by one goroutine.
type Projector struct {
	hasher evidence.Hasher
	edges  map[schemas.Stream]*edge
	lost   Lost
}

// edge is the growing end of one stream's tree: its last tile of each level,
// those that are not full.
type edge struct {
	size  uint64
	first uint64   // sequence of leaf 0
	tiles [][]byte // hashes of the last tile of each level
	ids   []byte   // of the leaves in the last tile of level 0
	dirty bool
	// lost stands for records that the log lost, by sequence.
	lost map[uint64]schemas.LostLeaf
	// erased stands for records of which the texts are gone, by sequence.
	erased map[uint64]schemas.LostLeaf
}

// New returns the projector. What stands for a lost record is in the log, in
// another stream than the record was; nil where none is.
func New(lost Lost) *Projector { return &Projector{edges: map[schemas.Stream]*edge{}, lost: lost} }

// Name implements projections.Projector.
func (*Projector) Name() string { return Name }

// Version implements projections.Projector.
func (*Projector) Version() int { return version }

// Types implements projections.Projector: all.
func (*Projector) Types() []schemas.Type { return nil }

// Apply implements projections.Projector; it returns ErrRecordsOnly.
func (*Projector) Apply(projections.View, schemas.Event) error { return ErrRecordsOnly }

// Begin implements projections.Batcher.
func (p *Projector) Begin() { clear(p.edges) }

// Continue implements projections.Continuer.
func (*Projector) Continue() {}

// ApplyRecord implements projections.RecordApplier: it adds a leaf.
func (p *Projector) ApplyRecord(v projections.View, r schemas.Record) error {
	e, err := p.edge(v, r.Stream)
	if err != nil {
		return err
	}
	if e.size == 0 {
		for e.first = r.Seq; e.isLost(e.first - 1); e.first-- {
		}
	}
	for r.Seq > e.first+e.size && e.isLost(e.first+e.size) {
		if err := e.addLost(v, r.Stream); err != nil {
			return err
		}
	}
	if r.Seq != e.first+e.size {
		return fmt.Errorf("%w: %s %d came after %d", ErrNotNext, r.Stream, r.Seq, e.first+e.size-1)
	}
	hash := p.hasher.Leaf(r.Message)
	if was, erased := e.erased[r.Seq]; erased && bytes.Equal(hash[:], was.Now) {
		hash = evidence.Hash(was.SHA256)
	}
	return e.add(v, r.Stream, r.ID(), hash)
}

func (e *edge) isLost(seq uint64) bool { return len(e.lost[seq].SHA256) == len(evidence.Hash{}) }

// addLost appends what stands for the record after the last one, which is lost.
func (e *edge) addLost(v projections.View, s schemas.Stream) error {
	leaf := e.lost[e.first+e.size]
	return e.add(v, s, leaf.ID, evidence.Hash(leaf.SHA256))
}

// add appends a leaf, and closes the tiles that it fills.
func (e *edge) add(v projections.View, s schemas.Stream, id string, hash evidence.Hash) error {
	e.dirty = true
	e.ids = appendID(e.ids, id)
	at := e.size
	e.size++
	for level := 0; ; level++ {
		if level == len(e.tiles) {
			e.tiles = append(e.tiles, make([]byte, 0, tileHashes*tlog.HashSize))
		}
		e.tiles[level] = append(e.tiles[level], hash[:]...)
		if (at+1)%tileHashes != 0 {
			return nil
		}
		tile := at / tileHashes
		if err := v.Set(tileKey(s, level, tile), e.tiles[level]); err != nil {
			return err
		}
		if level == 0 {
			if err := v.Set(idsKey(s, tile), e.ids); err != nil {
				return err
			}
			e.ids = e.ids[:0]
		}
		hash = tileRoot(e.tiles[level])
		e.tiles[level] = e.tiles[level][:0]
		at = tile
	}
}

// tileRoot is the root over a full tile.
func tileRoot(tile []byte) evidence.Hash {
	var nodes [tileHashes]evidence.Hash
	for i := range nodes {
		nodes[i] = evidence.Hash(tile[i*tlog.HashSize:])
	}
	for n := tileHashes; n > 1; n /= 2 {
		for i := range n / 2 {
			nodes[i] = tlog.NodeHash(nodes[2*i], nodes[2*i+1])
		}
	}
	return nodes[0]
}

// Flush implements projections.Batcher: it writes the tiles that are not full. No
// record comes after those that a stream lost at its end.
func (p *Projector) Flush(v projections.View) error {
	for s, e := range p.edges {
		for e.size > 0 && e.isLost(e.first+e.size) {
			if err := e.addLost(v, s); err != nil {
				return err
			}
		}
		if !e.dirty {
			continue
		}
		e.dirty = false
		at := e.size
		for level := range e.tiles {
			if len(e.tiles[level]) > 0 {
				if err := v.Set(tileKey(s, level, at/tileHashes), e.tiles[level]); err != nil {
					return err
				}
			}
			at /= tileHashes
		}
		if len(e.ids) > 0 {
			if err := v.Set(idsKey(s, e.size/tileHashes), e.ids); err != nil {
				return err
			}
		}
		if err := v.Set(sizeKey(s), appendSize(nil, e.size, e.first)); err != nil {
			return err
		}
	}
	return nil
}

// edge reads the end of a tree where it is not at hand.
func (p *Projector) edge(v projections.View, s schemas.Stream) (*edge, error) {
	if e := p.edges[s]; e != nil {
		return e, nil
	}
	e := &edge{}
	raw, found, err := v.Get(sizeKey(s))
	if err != nil {
		return nil, err
	}
	if found {
		if e.size, e.first, err = parseSize(raw); err != nil {
			return nil, err
		}
	}
	for level, at := 0, e.size; at > 0; level, at = level+1, at/tileHashes {
		held, err := getTile(v, s, level, at/tileHashes, int(at%tileHashes))
		if err != nil {
			return nil, err
		}
		e.tiles = append(e.tiles, append(make([]byte, 0, tileHashes*tlog.HashSize), held...))
	}
	if e.size%tileHashes > 0 {
		ids, _, err := v.Get(idsKey(s, e.size/tileHashes))
		if err != nil {
			return nil, err
		}
		e.ids = append([]byte(nil), ids...)
	}
	e.lost, e.erased, err = p.lostOf(s)
	p.edges[s] = e
	return e, err
}

// lostOf is what stands for a stream's lost records, and for those of which the
// texts are gone, by sequence.
func (p *Projector) lostOf(s schemas.Stream) (lost, erased map[uint64]schemas.LostLeaf, err error) {
	if p.lost == nil {
		return nil, nil, nil
	}
	all, err := p.lost(s)
	lost = map[uint64]schemas.LostLeaf{}
	for _, l := range all {
		for i, leaf := range l.Leaves {
			if len(leaf.Now) == 0 {
				lost[l.First+uint64(i)] = leaf //nolint:gosec // an index
			}
		}
	}
	return lost, bus.Erased(all), err
}

// getter is a view or a reader of one.
type getter interface {
	Get(key []byte) (value []byte, found bool, err error)
}

// getTile reads the first hashes of a tile, n of them.
func getTile(v getter, s schemas.Stream, level int, tile uint64, n int) ([]byte, error) {
	if n == 0 {
		return nil, nil
	}
	raw, _, err := v.Get(tileKey(s, level, tile))
	if err != nil {
		return nil, err
	}
	return hashesOf(raw, s, level, tile, n)
}

// hashesOf is the first hashes of a tile as it is stored, n of them.
func hashesOf(raw []byte, s schemas.Stream, level int, tile uint64, n int) ([]byte, error) {
	if len(raw) < n*tlog.HashSize {
		return nil, fmt.Errorf("%w: %s: tile %d of level %d has %d bytes", ErrCorrupt, s, tile, level, len(raw))
	}
	return raw[:n*tlog.HashSize], nil
}

// Keys. Persisted; a change needs a new version of the view.
func sizeKey(s schemas.Stream) []byte { return []byte("n/" + string(s)) }

func tileKey(s schemas.Stream, level int, tile uint64) []byte {
	key := append([]byte("t/"+string(s)+"/"), byte(level))
	return binary.BigEndian.AppendUint64(key, tile)
}

func idsKey(s schemas.Stream, tile uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte("i/"+string(s)+"/"), tile)
}

func appendSize(to []byte, size, first uint64) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(to, size), first)
}

func parseSize(raw []byte) (size, first uint64, err error) {
	size, n := binary.Uvarint(raw)
	if n > 0 {
		var m int
		if first, m = binary.Uvarint(raw[n:]); m > 0 {
			return size, first, nil
		}
	}
	return 0, 0, fmt.Errorf("%w: size %x", ErrCorrupt, raw)
}
