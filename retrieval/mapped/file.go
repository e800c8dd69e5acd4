package mapped

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/cespare/xxhash/v2"

	"github.com/writbus/writ/schemas/atomicfile"
)

var (
	// ErrDamaged is returned by [Open] for a file that [Write] cannot have written.
	ErrDamaged = errors.New("mapped: the file is damaged")
	// ErrUnsupported is returned by [Open] where files cannot be mapped.
	ErrUnsupported = errors.New("mapped: files cannot be mapped on this system")
)

// A file is the head, the values, each at a multiple of align, and the table:
// of each value the sum, the place and the length. Numbers are 64 bits, little
// endian. The head is the magic, the number of values, where the table begins,
// and the xxhash of all behind the head.
const (
	magic     = "writmap1"
	headBytes = 32
	rowBytes  = len(Sum{}) + 16
	align     = 16
)

// Sum names a value: the first half of its SHA-256.
type Sum [16]byte

// SumOf is the sum of a value.
func SumOf(value []byte) Sum {
	whole := sha256.Sum256(value)
	return Sum(whole[:len(Sum{})])
}

// File is an open file. It is safe for concurrent use.
type File struct {
	raw    []byte
	values map[Sum][]byte
}

// Open maps what a file holds now, beside which it needs room for a copy. It returns [ErrDamaged], [ErrUnsupported], or what reading
// it gave; a file that is not there is fs.ErrNotExist.
func Open(path string) (*File, error) {
	raw, err := mapFile(path)
	if err != nil {
		return nil, fmt.Errorf("mapped: %w", err)
	}
	f, err := parse(raw)
	if err != nil {
		unmap(raw)
		return nil, fmt.Errorf("%w: %s: %w", ErrDamaged, path, err)
	}
	return f, nil
}

// parse finds the values in the bytes of a file.
func parse(raw []byte) (*File, error) {
	if len(raw) < headBytes || string(raw[:len(magic)]) != magic {
		return nil, errors.New("it does not begin as one")
	}
	count, table := binary.LittleEndian.Uint64(raw[8:]), binary.LittleEndian.Uint64(raw[16:])
	if table < headBytes || table > uint64(len(raw)) || count != (uint64(len(raw))-table)/uint64(rowBytes) || (uint64(len(raw))-table)%uint64(rowBytes) != 0 {
		return nil, fmt.Errorf("%d values and a table at %d do not fit into %d bytes", count, table, len(raw))
	}
	if xxhash.Sum64(raw[headBytes:]) != binary.LittleEndian.Uint64(raw[24:]) {
		return nil, errors.New("its checksum is wrong")
	}
	f := &File{raw: raw, values: make(map[Sum][]byte, count)}
	for row := raw[table:]; len(row) > 0; row = row[rowBytes:] {
		at, n := binary.LittleEndian.Uint64(row[16:]), binary.LittleEndian.Uint64(row[24:])
		if at < headBytes || at > table || n > table-at {
			return nil, fmt.Errorf("a value of %d bytes at %d does not fit", n, at)
		}
		f.values[Sum(row)] = raw[at : at+n : at+n]
	}
	return f, nil
}

// Value returns the value with a sum, which must not be changed. It may be used
// as long as the process lives.
func (f *File) Value(sum Sum) ([]byte, bool) {
	value, found := f.values[sum]
	return value, found
}

// Len is the number of values.
func (f *File) Len() int { return len(f.values) }

// Pages is the memory of a file, without what finds its values.
type Pages []byte

// Pages is the memory of the file.
func (f *File) Pages() Pages { return f.raw }

// Drop gives the pages back. They come again when they are read.
func (p Pages) Drop() {
	if len(p) > 0 {
		drop(p)
	}
}

// Bytes are the bytes of the file, which must not be changed.
func (p Pages) Bytes() []byte { return p }

// Free lets go of the memory: what still points into it must not be read any more.
func (p Pages) Free() { unmap(p) }

// Write makes a file of values, in place of the one that is there. An error that
// comes instead of a value ends it and is returned as it is; the old file stays
// until the new one is whole.
func Write(path string, values iter.Seq2[[]byte, error]) error {
	return atomicfile.WriteFunc(path, atomicfile.Options{Mode: 0o600, Volatile: true}, func(file *atomicfile.File) error {
		if _, err := file.Write(make([]byte, headBytes)); err != nil {
			return fmt.Errorf("mapped: %w", err)
		}
		w := writer{hash: xxhash.New(), at: headBytes}
		w.out = bufio.NewWriterSize(io.MultiWriter(file, w.hash), 1<<18)
		for value, err := range values {
			if err != nil {
				return err
			}
			w.add(value)
		}
		head := w.finish()
		if err := w.out.Flush(); err != nil { // the first error of all writes
			return fmt.Errorf("mapped: %w", err)
		}
		binary.LittleEndian.PutUint64(head[24:], w.hash.Sum64())
		if _, err := file.WriteAt(head, 0); err != nil {
			return fmt.Errorf("mapped: %w", err)
		}
		return nil
	})
}

// writer writes what follows the head.
type writer struct {
	out   *bufio.Writer // keeps its first error
	hash  *xxhash.Digest
	at    uint64
	table []byte
}

func (w *writer) add(value []byte) {
	sum := SumOf(value)
	w.table = append(w.table, sum[:]...)
	w.table = binary.LittleEndian.AppendUint64(w.table, w.at)
	w.table = binary.LittleEndian.AppendUint64(w.table, uint64(len(value)))
	w.put(value)
	w.put(make([]byte, -len(value)&(align-1)))
}

func (w *writer) put(b []byte) {
	_, _ = w.out.Write(b)
	w.at += uint64(len(b))
}

// finish writes the table and returns the head, without the checksum.
func (w *writer) finish() []byte {
	head := make([]byte, 0, headBytes)
	head = append(head, magic...)
	head = binary.LittleEndian.AppendUint64(head, uint64(len(w.table)/rowBytes))
	head = binary.LittleEndian.AppendUint64(head, w.at)
	w.put(w.table)
	return head[:headBytes]
}
