package files

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/writbus/writ/retrieval/artifact"
	"github.com/writbus/writ/schemas/digest"
)

// ErrMoving is returned for a file that changes whenever it is read.
var ErrMoving = errors.New("artifacts: the file changes while it is read")

// readTries is how often a file that changes while it is read is tried.
const readTries = 3

// read is a file as it was read.
type read struct {
	bytes   []byte
	hash    string // SHA-256, lower-case hexadecimal
	info    os.FileInfo
	modTime time.Time
	left    Reason // found only when it was opened
	detail  string
}

// readFile reads one file of a project. The root lets no link lead out of it,
// and a pipe is not waited for. The bytes are in the buffer, or in what took its
// place where it was too small: they are there until it is used again.
func readFile(root opener, file string, buffer *[]byte) (read, error) {
	r, err := readBytes(root, file, buffer)
	if err == nil && r.left == "" {
		r.hash = digest.Hex(r.bytes)
	}
	return r, err
}

// readBytes is readFile without the hash.
func readBytes(root opener, file string, buffer *[]byte) (read, error) {
	for range readTries {
		r, whole, err := readOnce(root, file, buffer)
		if err != nil || whole {
			return r, err
		}
	}
	return read{}, ErrMoving
}

func readOnce(root opener, file string, buffer *[]byte) (r read, whole bool, err error) {
	f, err := root.OpenFile(file, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return read{}, false, err
	}
	defer func() { _ = f.Close() }()
	before, err := f.Stat()
	if err != nil {
		return read{}, false, err
	}
	if v := judgeFile(before); v.reason != "" {
		return read{left: v.reason, detail: v.detail}, true, nil
	}
	if int64(cap(*buffer)) < before.Size() {
		grown := before.Size()
		if cap(*buffer) > 0 { // more files will come
			grown += grown / 2
		}
		*buffer = make([]byte, grown)
	}
	raw := (*buffer)[:before.Size()]
	n, err := io.ReadFull(f, raw)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return read{}, false, err
	}
	after, err := f.Stat()
	if err != nil {
		return read{}, false, err
	}
	if int64(n) != after.Size() || after.Size() != before.Size() || !after.ModTime().Equal(before.ModTime()) {
		if after.Size() > artifact.MaxFileBytes {
			return read{left: TooLarge, detail: fmt.Sprintf("it has %d bytes, at most %d are indexed", after.Size(), artifact.MaxFileBytes)}, true, nil
		}
		return read{}, false, nil
	}
	return read{bytes: raw, info: after, modTime: after.ModTime()}, true, nil
}
