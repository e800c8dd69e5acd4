// Package archivefile is the file format of records that left a stream for cold storage.
//
// A segment is one zstd frame (RFC 8878) with a checksum over its content, so that
// any zstd unpacks it. The content begins with the line "writ segment 1". Each record
// follows as two varints, its sequence and the time when the server received it in
// nanoseconds since 1970, and three parts, each behind its length as a varint: the
// subject, the headers as they are sent (empty, or "NATS/1.0" and lines), and the
// body. Varints are unsigned LEB128. The format is persisted; never change it, add
// another.
//
// It guarantees that a segment is written whole or not at all, and that one of which
// a byte changed is refused as a whole. It does not say which records there are to
// be: the log does.
package archivefile

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/klauspost/compress/zstd"

	"github.com/writbus/writ/schemas/atomicfile"
)

// ErrDamaged is returned by Read for a file that is no whole segment.
var ErrDamaged = errors.New("archivefile: damaged")

const (
	first = "writ segment 1\n"
	// most is how many bytes a part may have: more than any record does.
	most = 64 << 20
)

// Record is a record as the stream had it.
type Record struct {
	Seq          uint64
	Time         int64 // nanoseconds since 1970
	Subject      string
	Header, Body []byte
}

// Equal says whether two records are the same.
func (r Record) Equal(other Record) bool {
	return r.Seq == other.Seq && r.Time == other.Time && r.Subject == other.Subject && bytes.Equal(r.Header, other.Header) && bytes.Equal(r.Body, other.Body)
}

// Write makes a segment of records, durably, in a folder that it makes where there is
// none, and reads it back. It returns the segment's size in bytes.
func Write(path string, records []Record) (size int64, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return 0, err
	}
	err = atomicfile.WriteFunc(path, atomicfile.Options{Mode: 0o600}, func(f *atomicfile.File) error {
		pack, err := zstd.NewWriter(f, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(true))
		if err != nil {
			return err
		}
		out := bufio.NewWriter(pack)
		_, _ = out.WriteString(first) // Flush returns the error
		var head []byte
		for _, r := range records {
			head = binary.AppendUvarint(binary.AppendUvarint(head[:0], r.Seq), uint64(r.Time)) //nolint:gosec // and back
			_, _ = out.Write(head)
			for _, part := range [][]byte{[]byte(r.Subject), r.Header, r.Body} {
				_, _ = out.Write(binary.AppendUvarint(head[:0], uint64(len(part))))
				_, _ = out.Write(part)
			}
		}
		return errors.Join(out.Flush(), pack.Close())
	})
	if err != nil {
		return 0, err
	}
	back, err := Read(path)
	if err == nil && !slices.EqualFunc(back, records, Record.Equal) {
		err = fmt.Errorf("%w: it does not hold what was written", ErrDamaged)
	}
	if err != nil {
		return 0, fmt.Errorf("read back: %w", err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// Read returns the records of a segment, in their order. It returns ErrDamaged, or
// what the disk says.
func Read(path string) ([]Record, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // read only
	pack, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer pack.Close()
	in := bufio.NewReader(pack)
	line, err := in.ReadString('\n')
	if line != first {
		err = fmt.Errorf("it begins with %.40q", line)
	}
	var all []Record
	for err == nil {
		var r Record
		if r, err = read(in); err == nil {
			all = append(all, r)
		}
	}
	if err != io.EOF { //nolint:errorlint // an end within something is wrapped
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return all, nil
}

// read returns io.EOF at the end alone.
func read(in *bufio.Reader) (r Record, err error) {
	if r.Seq, err = binary.ReadUvarint(in); err != nil {
		return r, err
	}
	time, err := binary.ReadUvarint(in)
	r.Time = int64(time) //nolint:gosec // as it was written
	var parts [3][]byte
	for i := range parts {
		var n uint64
		if err == nil {
			n, err = binary.ReadUvarint(in)
		}
		if err == nil && n > most {
			err = fmt.Errorf("a part of %d bytes", n)
		}
		if err == nil && n > 0 {
			parts[i] = make([]byte, n)
			_, err = io.ReadFull(in, parts[i])
		}
	}
	r.Subject, r.Header, r.Body = string(parts[0]), parts[1], parts[2]
	if err == io.EOF { //nolint:errorlint // ReadFull and ReadUvarint wrap nothing
		err = io.ErrUnexpectedEOF
	}
	return r, err
}
