package daemon

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

const (
	beginEvery = 500 * time.Millisecond
	// beginMost is how long a daemon that cannot tell what it reads is believed to be
	// at work.
	beginMost = 10 * time.Minute
	// beginReads is how often the log is read where the server trusts no index of it, as
	// after a kill: to see whether it is whole, and by the server.
	beginReads = 2
)

// begin writes into the lock what the daemon does until it serves, which is what served
// says. Who waits for it reads that there, and waits on while it changes.
func begin(d *Daemon) (served func()) {
	whole, before := beginReads*BytesBelow(d.layout.Log()), bytesRead()
	ends, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		for said := ""; ; {
			if now := doing(d, whole, bytesRead()-before); now != said {
				said = now
				_ = os.WriteFile(d.layout.Lock(), []byte(said), 0o600) // a full disk has no room for it
			}
			select {
			case <-ends:
				_ = os.Truncate(d.layout.Lock(), 0)
				return
			case <-time.After(beginEvery):
			}
		}
	}()
	return sync.OnceFunc(func() { close(ends); <-over })
}

// doing is what the daemon does before it serves, when it has read so many bytes of those
// that it may have to.
func doing(d *Daemon, whole, read int64) string {
	switch {
	case read <= 0:
		return fmt.Sprintf("starting, for %s", min(d.now().Sub(d.started).Truncate(time.Second), beginMost))
	case d.logOpen.Load():
		return fmt.Sprintf("opening views and rules, %d MB read", read>>20)
	}
	return fmt.Sprintf("reading the log, %d %%", min(99, read*100/max(whole, 1)))
}

// bytesRead is how many bytes the process has read of files, 0 where the system does not
// say.
func bytesRead() (n int64) {
	raw, _ := os.ReadFile("/proc/self/io")
	_, _ = fmt.Sscanf(strings.TrimSpace(string(raw)), "rchar: %d", &n)
	return n
}

// BytesBelow is the size of all files in a folder, as far as it can be read.
func BytesBelow(folder string) (n int64) {
	_ = filepath.WalkDir(folder, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			if info, err := e.Info(); err == nil {
				n += info.Size()
			}
		}
		return nil
	})
	return n
}
