package disk

import (
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// trusted is how long a disk that granted bytes is not asked for as many again.
const trusted = time.Second

// grants are what disks granted last, by the folder that it was for.
var grants sync.Map // of *grant

var setAside = unix.Fallocate // by another one in tests

// grant is held while its disk is asked: one that does not answer keeps nobody from
// another.
type grant struct {
	sync.Mutex
	bytes int64
	at    time.Time
}

// claim has the disk of a folder set bytes aside for a file without a name, and takes
// them back. What a quota leaves is in no count of what is free: only this tells. An
// error is of a disk or a quota that is full; what cannot be asked is granted.
func claim(dir string, bytes int64) error {
	kept, _ := grants.LoadOrStore(dir, &grant{})
	g := kept.(*grant)
	g.Lock()
	defer g.Unlock()
	if g.bytes >= bytes && time.Since(g.at) < trusted {
		return nil
	}
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil || fs.Type == unix.TMPFS_MAGIC { // which clears the memory that it sets aside
		return nil
	}
	file, err := unix.Open(dir, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err == nil {
		err = setAside(file, 0, 0, bytes)
		_ = unix.Close(file)
	}
	if Full(err) {
		g.bytes = 0
		return err
	}
	g.bytes, g.at = bytes, time.Now()
	return nil
}
