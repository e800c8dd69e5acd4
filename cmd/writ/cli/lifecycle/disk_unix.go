//go:build linux || darwin || freebsd

package lifecycle

import "golang.org/x/sys/unix"

// freeBytes is the space a user may still take on a folder's file system.
func freeBytes(dir string) (free uint64, known bool) {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil || s.Bsize <= 0 {
		return 0, false
	}
	return uint64(s.Bavail) * uint64(s.Bsize), true //nolint:unconvert // Bavail is signed on some systems
}
