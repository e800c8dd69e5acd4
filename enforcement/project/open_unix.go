//go:build unix

package project

import (
	"io/fs"
	"syscall"
)

// nonBlocking keeps opening a pipe from waiting for its other end.
const nonBlocking = syscall.O_NONBLOCK

// Names is how many names a file has.
func Names(info fs.FileInfo) int {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(s.Nlink) //nolint:gosec // of another width on other systems; never near its bound
	}
	return 1
}
