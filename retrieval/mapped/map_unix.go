//go:build unix

package mapped

import (
	"os"

	"golang.org/x/sys/unix"
)

func mapFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // the mapping stays
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
