//go:build unix

package mapped

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Keep writes pieces, one behind the other, into a file in a folder that has no
// name.
func Keep(dir string, pieces ...[]byte) (Pages, error) {
	readers := make([]io.Reader, len(pieces))
	for i, piece := range pieces {
		readers[i] = bytes.NewReader(piece)
	}
	raw, err := mapCopy(dir, readers...)
	if err != nil {
		return nil, fmt.Errorf("mapped: %w", err)
	}
	return raw, nil
}

func mapFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return mapCopy(filepath.Dir(path), file)
}

// mapCopy maps a file without a name, in a folder, that holds what is read.
func mapCopy(dir string, from ...io.Reader) ([]byte, error) {
	file, err := os.CreateTemp(dir, ".writ-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // the mapping stays
	if err := os.Remove(file.Name()); err != nil {
		return nil, err
	}
	for _, piece := range from {
		if _, err := io.Copy(file, piece); err != nil { // of a file the system copies it, or shares its blocks
			return nil, err
		}
	}
	return mapOpen(file)
}

func mapOpen(file *os.File) ([]byte, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() < headBytes {
		return nil, nil // nothing to map, which parse says
	}
	return unix.Mmap(int(file.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_SHARED)
}

func unmap(raw []byte) {
	if raw != nil {
		_ = unix.Munmap(raw)
	}
}

// drop asks; a refusal leaves the pages where they are.
func drop(raw []byte) { _ = unix.Madvise(raw, unix.MADV_DONTNEED) }
