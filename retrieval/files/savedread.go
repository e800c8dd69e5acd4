package files

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"
)

// savedReader reads what the file of a saved index holds.
type savedReader struct {
	ctx  context.Context
	pack *zstd.Decoder
	from *bufio.Reader // of that
	left int64         // bytes that are still to come
}

// savedTail is what stands behind the packed bytes: how many they were, and the sum
// of all that is before it.
const savedTail = 8 + sha256.Size

// newSavedReader begins to read a file; with checked it is whole, or the error says
// that it was damaged. It is closed by who asked for it.
func newSavedReader(ctx context.Context, f *os.File, checked bool) (*savedReader, error) {
	begin, tail := int64(len(savedMagic)), make([]byte, savedTail)
	magic := make([]byte, begin)
	if _, err := f.ReadAt(magic, 0); err != nil || string(magic) != savedMagic {
		return nil, fmt.Errorf("%w: it does not begin as one", ErrSaved)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	end := info.Size() - savedTail
	if _, err := f.ReadAt(tail, end); end < begin || err != nil {
		return nil, fmt.Errorf("%w: it was damaged", ErrSaved)
	}
	if checked {
		sum := sha256.New()
		if _, err := io.Copy(untilDone{ctx, sum}, io.NewSectionReader(f, 0, end+8)); err != nil {
			return nil, err
		}
		if !bytes.Equal(sum.Sum(nil), tail[8:]) {
			return nil, fmt.Errorf("%w: it was damaged", ErrSaved)
		}
	}
	pack, err := zstd.NewReader(io.NewSectionReader(f, begin, end-begin), zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	return &savedReader{ctx, pack, bufio.NewReaderSize(pack, 1<<16), int64(binary.BigEndian.Uint64(tail))}, nil //nolint:gosec // a number that was written as one of these
}

func (r *savedReader) close() { r.pack.Close() }

// Read implements io.Reader.
func (r *savedReader) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	if r.left <= 0 {
		return 0, io.EOF
	}
	n, err := r.from.Read(b[:min(int64(len(b)), r.left)])
	r.left -= int64(n)
	return n, err
}

// ReadByte implements io.ByteReader, so that a decoder reads no further than it
// has to.
func (r *savedReader) ReadByte() (byte, error) {
	b, err := r.from.ReadByte()
	if err == nil {
		r.left--
	}
	return b, err
}
