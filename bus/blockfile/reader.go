package blockfile

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"

	"github.com/writbus/writ/schemas"
)

// tablesKept bounds the tables of a reader, of some 5 KiB each: that many blocks
// hold a gigabyte of the log.
const tablesKept = 128

// Reader finds single records by their sequences. It keeps where each block of a
// stream begins, and of the blocks that were asked for lately a table of some
// records' places, made in one pass; every answer is read from the file anew.
// It is safe for concurrent use.
type Reader struct {
	root string

	mu      sync.Mutex
	streams map[schemas.Stream][]begun
	tables  map[string]*table // by path
	count   uint64            // of questions
	room    []byte            // for what lies between two entries
}

// begun is a block with the sequence of its first record.
type begun struct {
	path  string
	first uint64
}

// NewReader returns a reader of the streams below the folder that the embedded
// server was given.
func NewReader(root string) *Reader {
	return &Reader{root: root, streams: map[schemas.Stream][]begun{}, tables: map[string]*table{}}
}

// Held is what a stream holds, as its server says.
type Held struct {
	First, Last uint64 // sequences
	Messages    uint64
}

// errEnds says that the files end before a record.
var errEnds = fmt.Errorf("%w: it is not written out", ErrUnclear)

// Record returns the record at a sequence of a stream, which is the caller's. It
// returns ErrUnclear where it cannot tell: of a stream out of which records were
// taken (held says so), of a record that is not written out yet, and of files
// that hold something else than records one after the other. Then the server has
// to be asked.
func (r *Reader) Record(s schemas.Stream, seq uint64, held Held) (schemas.Record, error) {
	if seq == 0 || seq < held.First || seq > held.Last || held.Messages != held.Last+1-held.First {
		return schemas.Record{}, fmt.Errorf("%w: record %d of %s, which holds %d from %d to %d", ErrUnclear, seq, s, held.Messages, held.First, held.Last)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count++
	record, err := r.find(s, seq)
	if err == nil {
		return record, nil
	}
	if !errors.Is(err, errEnds) {
		r.forget(s) // the files are others than they were
	}
	if !errors.Is(err, ErrUnclear) {
		err = fmt.Errorf("%w: %w", ErrUnclear, err)
	}
	return schemas.Record{}, fmt.Errorf("record %d of %s: %w", seq, s, err)
}

func (r *Reader) find(s schemas.Stream, seq uint64) (schemas.Record, error) {
	for again := false; ; again = true {
		blocks := r.streams[s]
		i, exact := slices.BinarySearchFunc(blocks, seq, func(b begun, seq uint64) int { return cmp.Compare(b.first, seq) })
		if !exact {
			i--
		}
		if i >= 0 {
			record, err := r.within(blocks[i], s, seq)
			if !errors.Is(err, errEnds) {
				return record, err
			}
			if again && i < len(blocks)-1 {
				return record, fmt.Errorf("%w: %s ends before it, and %s begins behind it", ErrUnclear, blocks[i].path, blocks[i+1].path)
			}
		}
		if again {
			return schemas.Record{}, errEnds
		}
		if err := r.look(s); err != nil {
			return schemas.Record{}, err
		}
	}
}

// look lists a stream's blocks, and reads where those begin that are new.
func (r *Reader) look(s schemas.Stream) error {
	paths, err := Blocks(r.root, s)
	if err != nil {
		return err
	}
	known := map[string]uint64{}
	for _, b := range r.streams[s] {
		known[b.path] = b.first
	}
	var blocks []begun
	for i, path := range paths {
		first := known[path]
		if first == 0 {
			if first, err = beginning(path); errors.Is(err, ErrTorn) && i == len(paths)-1 {
				break // nothing is written out to it yet
			}
			if err != nil {
				return err
			}
		}
		if i > 0 && first <= blocks[i-1].first {
			return fmt.Errorf("%w: %s begins with record %d, and the one before it with %d", ErrUnclear, path, first, blocks[i-1].first)
		}
		blocks = append(blocks, begun{path, first})
	}
	r.streams[s] = blocks
	return nil
}

// beginning is the sequence of a block's first record.
func beginning(path string) (uint64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }()
	return firstOf(f)
}

func firstOf(f io.ReaderAt) (uint64, error) {
	var raw [headSize]byte
	n, err := f.ReadAt(raw[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	seq, _, err := head(raw[:n])
	return seq, err
}

// openBlock is a block that is open for reading.
type openBlock struct{ *os.File }

func (b openBlock) size() (int64, error) {
	info, err := b.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// within reads a record of a block. It returns errEnds where the block ends
// before it.
func (r *Reader) within(b begun, s schemas.Stream, seq uint64) (schemas.Record, error) {
	f, err := os.Open(b.path)
	if err != nil {
		return schemas.Record{}, err
	}
	defer func() { _ = f.Close() }()
	t := r.table(b.path)
	from, to, ok := t.around(seq)
	if !ok {
		if err := t.extend(openBlock{f}); err != nil {
			return schemas.Record{}, err
		}
		if from, to, ok = t.around(seq); !ok {
			// One that was rewritten may end where the table of the old one does.
			if first, err := firstOf(f); err != nil || first != b.first {
				return schemas.Record{}, fmt.Errorf("%w: %s does not begin with record %d any more", ErrUnclear, b.path, b.first)
			}
			return schemas.Record{}, errEnds
		}
	}
	raw := r.roomFor(to - from.at)
	if _, err := f.ReadAt(raw, from.at); err != nil {
		return schemas.Record{}, err
	}
	return within(raw, from.seq, s, seq)
}

// roomFor is room for so many bytes until it is asked for again. What a large
// record takes is not kept.
func (r *Reader) roomFor(n int64) []byte {
	if n > stepBytes {
		return make([]byte, n)
	}
	if int64(len(r.room)) < n {
		r.room = make([]byte, stepBytes)
	}
	return r.room[:n]
}

// within finds a record among those that raw holds, from the sequence that it
// has to begin with on.
func within(raw []byte, from uint64, s schemas.Stream, seq uint64) (schemas.Record, error) {
	for ; ; from++ {
		is, size, err := head(raw)
		switch {
		case err != nil:
			return schemas.Record{}, fmt.Errorf("%w: %w", ErrUnclear, err)
		case is != from:
			return schemas.Record{}, fmt.Errorf("%w: record %d stands where %d stood", ErrUnclear, is, from)
		case size > len(raw):
			return schemas.Record{}, fmt.Errorf("%w: record %d is longer than it was", ErrUnclear, is)
		case is < seq:
			raw = raw[size:]
			continue
		}
		record, _, err := first(bytes.Clone(raw[:size]), map[string]string{})
		record.Stream = s
		return record, err
	}
}

// table returns a block's, in the place of the one that was asked the longest
// ago where there are many.
func (r *Reader) table(path string) *table {
	t := r.tables[path]
	if t == nil {
		if len(r.tables) >= tablesKept {
			oldest := ""
			for p, other := range r.tables {
				if oldest == "" || other.used < r.tables[oldest].used {
					oldest = p
				}
			}
			delete(r.tables, oldest)
		}
		t = &table{}
		r.tables[path] = t
	}
	t.used = r.count
	return t
}

// forget drops what is known of a stream's files.
func (r *Reader) forget(s schemas.Stream) {
	for _, b := range r.streams[s] {
		delete(r.tables, b.path)
	}
	delete(r.streams, s)
}
