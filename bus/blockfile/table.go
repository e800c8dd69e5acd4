package blockfile

import (
	"cmp"
	"fmt"
	"io"
	"slices"
)

const (
	// stepRecords and stepBytes are the most that lies between two entries of a
	// table; a record larger than stepBytes has its own.
	stepRecords = 64
	stepBytes   = 64 << 10
	// passBytes is how much of a block a pass over it holds at once.
	passBytes = 256 << 10
)

// entry is where a record begins in its block.
type entry struct {
	seq uint64
	at  int64
}

// table knows some of the places of a block's records, in order. It grows with
// the block.
type table struct {
	entries []entry
	next    uint64 // sequence of the record after those that were passed, 0 before the first
	end     int64  // where that one will begin
	used    uint64 // when it was asked last, by the reader's count
}

// block is a file as a table reads it.
type block interface {
	io.ReaderAt
	size() (int64, error)
}

// extend passes over what the block has got since. It ends before a record that
// is not whole, and returns ErrUnclear at what is no record after the last one.
func (t *table) extend(b block) error {
	size, err := b.size()
	if err != nil {
		return err
	}
	if size < t.end {
		return fmt.Errorf("%w: the block has become shorter", ErrUnclear)
	}
	room := make([]byte, min(passBytes, size-t.end))
	for t.end+headSize <= size {
		piece := room[:min(int64(len(room)), size-t.end)]
		if _, err := b.ReadAt(piece, t.end); err != nil {
			return err
		}
		whole, err := t.pass(piece, size)
		if err != nil || !whole {
			return err
		}
	}
	return nil
}

// pass takes the records whose heads lie in a piece of the block that begins at
// t.end. whole is false where the block ends within a record.
func (t *table) pass(piece []byte, size int64) (whole bool, err error) {
	for from := t.end; ; {
		at := t.end - from
		if at > int64(len(piece)-headSize) {
			return true, nil
		}
		seq, length, err := head(piece[at:])
		switch {
		case err != nil:
			return false, err
		case t.next > 0 && seq != t.next:
			return false, fmt.Errorf("%w: record %d comes after %d", ErrUnclear, seq, t.next-1)
		case t.end+int64(length) > size:
			return false, nil
		}
		t.note(seq, int64(length))
	}
}

// note takes the record at the end of what was passed.
func (t *table) note(seq uint64, length int64) {
	far := len(t.entries) == 0
	if !far {
		last := t.entries[len(t.entries)-1]
		far = seq-last.seq >= stepRecords || t.end+length-last.at > stepBytes
	}
	if far {
		t.entries = append(t.entries, entry{seq, t.end})
	}
	t.next, t.end = seq+1, t.end+length
}

// around is the part of the block in which a record lies, from an entry to the
// next or to the end of what was passed. ok is false for one that was not.
func (t *table) around(seq uint64) (from entry, to int64, ok bool) {
	if len(t.entries) == 0 || seq < t.entries[0].seq || seq >= t.next {
		return entry{}, 0, false
	}
	i, exact := slices.BinarySearchFunc(t.entries, seq, func(e entry, seq uint64) int { return cmp.Compare(e.seq, seq) })
	if !exact {
		i--
	}
	to = t.end
	if i+1 < len(t.entries) {
		to = t.entries[i+1].at
	}
	return t.entries[i], to, true
}
