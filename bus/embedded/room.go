package embedded

import (
	"io/fs"
	"path/filepath"
)

// maxReserve is the most that is kept free: room for the server's indexes and
// for the rest of the machine to notice.
const maxReserve = 256 << 20

// roomFor is how large the store in a folder may grow: what it has, and what
// the disk has left, less a tenth or maxReserve.
func roomFor(dir string) int64 {
	free, ok := freeBytes(dir)
	if !ok {
		return storeLimit
	}
	free -= min(free/10, maxReserve)
	return max(1, storedBytes(filepath.Join(dir, storeName))+free)
}

func storedBytes(dir string) (total int64) {
	_ = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return nil //nolint:nilerr // a file that went away takes no room
		}
		if info, err := entry.Info(); err == nil {
			total += info.Size()
		}
		return nil
	})
	return total
}
