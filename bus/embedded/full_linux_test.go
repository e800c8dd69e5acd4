package embedded_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/bustest"
	"github.com/writbus/writ/bus/embedded"
	"github.com/writbus/writ/schemas"
)

// smallDisk is a store on a file system of 8 MiB of its own.
func smallDisk(t *testing.T) *store {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=8m"); err != nil {
		t.Skipf("no small file system here (%v); TestStoreLimit covers the error", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	s := newStore(t)
	s.options.Dir = filepath.Join(dir, "store")
	return s
}

// TestDiskFull fills a disk with the log alone: it refuses in time, and goes
// on being read.
func TestDiskFull(t *testing.T) {
	_, c := smallDisk(t).start()
	must(t, c.EnsureStreams(t.Context(), bus.Retention{}))
	checkFull(t, c)
}

// TestDiskFilledByOthers has something else take the room after the start: the
// server stops serving, and says why; once there is room again, a restart
// finds everything that was acknowledged.
func TestDiskFilledByOthers(t *testing.T) {
	s := smallDisk(t)
	server, c := s.start()
	must(t, c.EnsureStreams(t.Context(), bus.Retention{}))
	ballast := filepath.Join(s.options.Dir, "ballast")
	file, err := os.Create(ballast)
	must(t, err)
	for err == nil {
		_, err = file.Write(make([]byte, 64<<10))
	}
	must(t, file.Truncate(6<<20))
	must(t, file.Close())
	prompt, acked := string(make([]byte, 64<<10)), 0
	slow, err := bus.Connect(t.Context(), func() bus.Options { o := s.as(embedded.RoleDaemon, server); o.Timeout = time.Second; return o }())
	must(t, err)
	defer slow.Close()
	for deadline := time.Now().Add(5 * time.Minute); acked < 1000; {
		_, err = bus.Record(t.Context(), slow.Writer(bus.WriterOptions{}), bustest.Event("s", fmt.Sprint(acked), prompt))
		if err == nil {
			acked++
			continue
		}
		// A second may pass on a slow machine, too: the same again, which is stored
		// once.
		if !errors.Is(err, bus.ErrUnavailable) || server.Health() != nil || time.Now().After(deadline) {
			break
		}
	}
	if !errors.Is(err, bus.ErrUnavailable) && !errors.Is(err, bus.ErrDiskFull) && !errors.Is(err, bus.ErrStorage) {
		t.Fatalf("append %d: %v", acked, err)
	}
	t.Logf("append %d: %v; health: %v", acked, err, server.Health())
	if err := server.Health(); !errors.Is(err, embedded.ErrStopped) {
		t.Errorf("health: %v", err)
	}
	must(t, server.Shutdown(t.Context()))
	must(t, os.Remove(ballast))
	_, c = s.start()
	if n, err := count(t, c, schemas.StreamSessions); n < acked || err != nil {
		t.Fatalf("%d of %d acknowledged records are left, %v", n, acked, err)
	}
}
