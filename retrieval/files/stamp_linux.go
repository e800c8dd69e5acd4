package files

import (
	"os"
	"syscall"
	"time"
)

// stamp tells a file at one moment from the file after any write: the system
// sets the time of its last change, which no program can set.
type stamp struct {
	device, inode uint64
	size          int64
	at            syscall.Timespec
}

func stampOf(info os.FileInfo) (stamp, bool) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return stamp{}, false
	}
	return stamp{uint64(s.Dev), s.Ino, s.Size, s.Ctim}, true //nolint:unconvert // of 32 bits on some architectures
}

func (s stamp) changed() time.Time { return time.Unix(s.at.Unix()) }
