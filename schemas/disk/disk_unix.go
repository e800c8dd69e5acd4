//go:build linux || darwin || freebsd

package disk

import (
	"math"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// Of asks the system; known is false where it does not tell, as of a file system
// that has no size.
func Of(dir string) (s Space, known bool) {
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil || fs.Blocks == 0 {
		return Space{}, false
	}
	bytes := func(blocks float64) int64 { return int64(min(blocks*float64(fs.Bsize), math.MaxInt64/4)) }
	const readOnly = 1 // ST_RDONLY, and MNT_RDONLY of the BSDs
	return Space{Free: bytes(float64(fs.Bavail)), Size: bytes(float64(fs.Blocks)), ReadOnly: fs.Flags&readOnly != 0}, true
}

// Mount is the folder where the disk of another one is mounted.
func Mount(dir string) string {
	device := func(path string) (uint64, bool) {
		info, err := os.Stat(path)
		if err != nil {
			return 0, false
		}
		stat, ok := info.Sys().(*syscall.Stat_t)
		return uint64(stat.Dev), ok //nolint:unconvert // other systems number devices with fewer bits
	}
	own, known := device(dir)
	for known {
		above := filepath.Dir(dir)
		if d, ok := device(above); above == dir || !ok || d != own {
			return dir
		}
		dir = above
	}
	return dir
}
