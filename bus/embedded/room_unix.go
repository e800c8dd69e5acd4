//go:build linux || darwin || freebsd

package embedded

import (
	"math"

	"golang.org/x/sys/unix"
)

func freeBytes(dir string) (int64, bool) {
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return 0, false
	}
	blocks, size := float64(fs.Bavail), float64(fs.Bsize)
	return int64(min(blocks*size, math.MaxInt64/4)), true
}
