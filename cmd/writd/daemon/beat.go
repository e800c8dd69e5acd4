package daemon

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/writbus/writ/observer/heap"
)

// beatEvery is how often a daemon looks after itself.
const beatEvery = 5 * time.Second

// beat looks after the daemon at intervals: that its heap has room, and that its
// data directory is the one that it has locked. Where that was deleted, moved
// away, or another is in its place, the daemon ends: what it would append nobody
// could find again, and a second daemon could serve the path. gone says, once
// the daemon has stopped, why it did.
func (d *Daemon) beat(ctx context.Context, every time.Duration) (gone func() error, err error) {
	locked, err := os.Stat(d.layout.Lock())
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDataDir, err)
	}
	var lost error
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			heap.KeepRoom(d.settings.MemoryLimit)
			now, err := os.Stat(d.layout.Lock())
			if err == nil && os.SameFile(locked, now) {
				continue
			}
			what := "is another one now"
			if err != nil {
				what = "is gone: " + err.Error()
			}
			lost = fmt.Errorf("%w: %s %s. Nothing can be kept there any more, so the daemon ends; restore the folder from a backup, or begin anew with writ up", ErrDataDir, d.layout.Root, what)
			d.logger.Error("the data directory is lost", "error", lost)
			d.stop()
			return
		}
	}()
	return func() error { <-done; return lost }, nil
}
