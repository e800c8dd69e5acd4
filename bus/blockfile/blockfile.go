// Package blockfile reads the records of a stream from the files in which the
// embedded server keeps them, without the server: several times as fast as
// over a connection, and what stands on the disk rather than what a process
// says of it.
//
// The files are the server's own and their form is not promised to anybody, so
// the package reads only what it is sure of: records one after the other
// without a gap, none of them erased, neither compressed nor encrypted.
// Everything else is ErrUnclear, and the server has to be asked. Records reads
// whole blocks; a Reader finds single records.
//
// It does not: write, lock, check the server's own checksums (who compares
// stronger hashes needs none), know of records that were appended and not
// written out yet, or know what the server forgot: a deleted record stays in
// its block until that is written anew.
package blockfile

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/writbus/writ/schemas"
)

// ErrUnclear is returned for files that hold something else than whole records
// one after the other.
var ErrUnclear = errors.New("blockfile: only the server can read this")

// Where a server with one account keeps a stream below its folder, and how its
// blocks are called (nats-server 2, filestore.go).
const (
	streamsDir = "jetstream/$G/streams"
	blocksDir  = "msgs"
	blockEnd   = ".blk"
)

// A record is its length, sequence, time and subject's length, then subject,
// the header with its length, body, and a checksum (nats-server 2, msgBlock's
// writeMsgRecord). A bit of the length says that there is a header; bits of the
// sequence that the record is erased or stands for one that is.
const (
	headSize     = 4 + 8 + 8 + 2
	sumSize      = 8
	headerBit    = 1 << 31
	erasedBits   = 3 << 62
	longest      = 64 << 20 // no message of Writ comes near
	subjectsKept = 4096
)

// Blocks lists the files of a stream in order, below the folder that the
// embedded server was given. It returns ErrUnclear for a stream that is not
// there, or one whose files have other names than they should.
func Blocks(root string, s schemas.Stream) ([]string, error) {
	dir := filepath.Join(root, filepath.FromSlash(streamsDir), string(s), blocksDir)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s is not there", ErrUnclear, dir)
	}
	if err != nil {
		return nil, fmt.Errorf("blockfile: %w", err)
	}
	type block struct {
		number uint64
		path   string
	}
	var all []block
	for _, e := range entries {
		name, is := strings.CutSuffix(e.Name(), blockEnd)
		if !is {
			continue
		}
		number, err := strconv.ParseUint(name, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%w: %s in %s", ErrUnclear, e.Name(), dir)
		}
		all = append(all, block{number, filepath.Join(dir, e.Name())})
	}
	slices.SortFunc(all, func(a, b block) int { return cmp.Compare(a.number, b.number) })
	paths := make([]string, len(all))
	for i, b := range all {
		paths[i] = b.path
	}
	return paths, nil
}

// Records yields the records of a block in order; they are parts of raw. It
// ends with ErrUnclear, yielded once, or with ErrTorn where the block ends in
// the middle of a record.
func Records(raw []byte, s schemas.Stream) iter.Seq2[schemas.Record, error] {
	return func(yield func(schemas.Record, error) bool) {
		subjects := map[string]string{}
		for last := uint64(0); len(raw) > 0; {
			r, size, err := first(raw, subjects)
			if err == nil && last > 0 && r.Seq != last+1 {
				err = fmt.Errorf("%w: record %d comes after %d", ErrUnclear, r.Seq, last)
			}
			if err != nil {
				yield(schemas.Record{}, err)
				return
			}
			r.Stream, last, raw = s, r.Seq, raw[size:]
			if !yield(r, nil) {
				return
			}
		}
	}
}

// ErrTorn is returned for a block that ends in the middle of a record, as the
// newest one does while the server writes.
var ErrTorn = errors.New("blockfile: the block ends in the middle of a record")

// head reads the sequence and the size of the record that raw begins with. It
// needs the first headSize bytes alone.
func head(raw []byte) (seq uint64, size int, err error) {
	if len(raw) < headSize {
		return 0, 0, ErrTorn
	}
	length := binary.LittleEndian.Uint32(raw)
	size = int(length &^ headerBit)
	subject := int(binary.LittleEndian.Uint16(raw[headSize-2:]))
	least := headSize + subject + sumSize
	if length&headerBit != 0 {
		least += 4
	}
	seq = binary.LittleEndian.Uint64(raw[4:])
	switch {
	case size < least || size > longest || subject == 0:
		return 0, 0, fmt.Errorf("%w: a record of %d bytes with a subject of %d", ErrUnclear, size, subject)
	case seq == 0 || seq&erasedBits != 0:
		return 0, 0, fmt.Errorf("%w: record %d is erased", ErrUnclear, seq&^erasedBits)
	}
	return seq, size, nil
}

// first reads the record that raw begins with.
func first(raw []byte, subjects map[string]string) (r schemas.Record, size int, err error) {
	r.Seq, size, err = head(raw)
	if err != nil {
		return schemas.Record{}, 0, err
	}
	if size > len(raw) {
		return schemas.Record{}, 0, ErrTorn
	}
	at := headSize + int(binary.LittleEndian.Uint16(raw[headSize-2:]))
	r.Message.Subject = kept(raw[headSize:at], subjects)
	if binary.LittleEndian.Uint32(raw)&headerBit != 0 {
		header := uint64(binary.LittleEndian.Uint32(raw[at:]))
		at += 4
		if header > uint64(size-sumSize-at) {
			return r, 0, fmt.Errorf("%w: record %d has a header of %d bytes", ErrUnclear, r.Seq, header)
		}
		r.Message.Block = raw[at : at+int(header) : at+int(header)]
		at += int(header)
	}
	r.Message.Body = raw[at : size-sumSize : size-sumSize]
	return r, size, nil
}

// kept returns a subject as a string; a log has few, many times.
func kept(raw []byte, subjects map[string]string) string {
	if s, have := subjects[string(raw)]; have {
		return s
	}
	if len(subjects) >= subjectsKept {
		clear(subjects)
	}
	s := string(raw)
	subjects[s] = s
	return s
}
