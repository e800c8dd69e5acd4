package files

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
	"os"
)

// savedReader reads the file of a saved index, and adds up what it reads.
type savedReader struct {
	ctx  context.Context
	from *bufio.Reader
	sum  hash.Hash
	one  [1]byte
	left int64 // up to the file's sum
}

func newSavedReader(ctx context.Context, f *os.File) (*savedReader, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	r := &savedReader{ctx: ctx, from: bufio.NewReaderSize(f, 1<<16), sum: sha256.New(), left: info.Size() - sha256.Size}
	magic := make([]byte, len(savedMagic))
	if _, err := io.ReadFull(r, magic); err != nil || string(magic) != savedMagic {
		return nil, fmt.Errorf("%w: it does not begin as one", ErrSaved)
	}
	return r, nil
}

// Read implements io.Reader.
func (r *savedReader) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	if r.left <= 0 {
		return 0, io.EOF
	}
	n, err := r.from.Read(b[:min(int64(len(b)), r.left)])
	r.sum.Write(b[:n])
	r.left -= int64(n)
	return n, err
}

// ReadByte implements io.ByteReader, so that a decoder reads no further than it
// has to.
func (r *savedReader) ReadByte() (byte, error) {
	_, err := io.ReadFull(r, r.one[:])
	return r.one[0], err
}

// check compares the sum of what was read with the one that the file ends with.
func (r *savedReader) check() error {
	if _, err := io.Copy(io.Discard, r); err != nil {
		return err
	}
	written, err := io.ReadAll(r.from)
	if err != nil {
		return err
	}
	if !bytes.Equal(written, r.sum.Sum(nil)) {
		return fmt.Errorf("%w: it was damaged", ErrSaved)
	}
	return nil
}

// broken is why something cannot be read: damage, if the file is.
func (r *savedReader) broken(err error) error {
	if damaged := r.check(); damaged != nil {
		return damaged
	}
	return fmt.Errorf("%w: %w", ErrSaved, err)
}
