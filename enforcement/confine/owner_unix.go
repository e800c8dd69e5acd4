//go:build unix

package confine

import (
	"io/fs"
	"os"
	"syscall"
)

// owned reports whether a file belongs to this user.
func owned(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}

// names is how many names a file has.
func names(info fs.FileInfo) int {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(stat.Nlink)
	}
	return 1
}

// owner is whose a file is.
type owner struct{ user, group int }

func ownerOf(info fs.FileInfo) owner {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return owner{int(stat.Uid), int(stat.Gid)}
	}
	return owner{}
}
