package embedded_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
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
	s := smallDisk(t)
	server, c := s.start()
	must(t, c.EnsureStreams(t.Context(), bus.Retention{}))
	checkFull(t, askingDisk(t, s, server))
}

// askingDisk is a connection that asks the disk before each append, as the daemon's does.
func askingDisk(t *testing.T, s *store, server *embedded.Server) *bus.Conn {
	t.Helper()
	o := s.as(embedded.RoleDaemon, server)
	o.Ready = server.Health
	c, err := bus.Connect(t.Context(), o)
	must(t, err)
	t.Cleanup(c.Close)
	return c
}

// fillDisk leaves nothing free; the room comes back with the file's end.
func fillDisk(t *testing.T, s *store) (ballast string) {
	t.Helper()
	ballast = filepath.Join(filepath.Dir(s.options.Dir), "ballast")
	file, err := os.Create(ballast)
	must(t, err)
	for err == nil {
		_, err = file.Write(make([]byte, 64<<10))
	}
	must(t, file.Close())
	return ballast
}

// TestFullDiskRefusesAtOnce asks the disk before each append: the refusal names
// it and what to do, and the next append after room is made is stored.
func TestFullDiskRefusesAtOnce(t *testing.T) {
	s := smallDisk(t)
	server, c := s.start()
	must(t, c.EnsureStreams(t.Context(), bus.Retention{}))
	c = askingDisk(t, s, server)
	record := func() error {
		_, err := bus.Record(t.Context(), c.Writer(bus.WriterOptions{}), bustest.Event("s", "1", "a prompt"))
		return err
	}
	must(t, record())
	ballast := fillDisk(t, s)
	err := record()
	if !errors.Is(err, bus.ErrDiskFull) || errors.Is(err, bus.ErrUnavailable) {
		t.Errorf("on a full disk: %v", err)
	}
	for _, want := range []string{filepath.Dir(s.options.Dir), s.options.Dir, "MiB free", "Make room"} {
		if !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("the refusal does not say %q: %v", want, err)
		}
	}
	must(t, os.Remove(ballast))
	must(t, record())
}

// TestStartedOnAFullDisk starts where nothing is free: what was free then is no
// bound of what is stored later.
func TestStartedOnAFullDisk(t *testing.T) {
	s := smallDisk(t)
	server, c := s.start()
	must(t, c.EnsureStreams(t.Context(), bus.Retention{}))
	record := func(c *bus.Conn, id string) error {
		_, err := bus.Record(t.Context(), c.Writer(bus.WriterOptions{}), bustest.Event("s", id, "a prompt"))
		return err
	}
	must(t, record(c, "1"))
	must(t, server.Shutdown(t.Context()))
	ballast := fillDisk(t, s)
	_, c = s.start()
	must(t, os.Remove(ballast))
	must(t, record(c, "2"))
}

// TestDiskFilledByOthers has something else take the room between the look at
// the disk and the append: the server stops storing, and stores again by itself
// once there is room. Nothing acknowledged is lost, and a reader from before
// goes on.
func TestDiskFilledByOthers(t *testing.T) {
	for _, durability := range []embedded.Durability{embedded.PowerLoss, embedded.Interval} {
		t.Run(string(durability), func(t *testing.T) {
			s := smallDisk(t)
			s.options.Durability = durability
			server, c := s.start()
			must(t, c.EnsureStreams(t.Context(), bus.Retention{}))
			o := s.as(embedded.RoleDaemon, server)
			o.Timeout = 200 * time.Millisecond // of an append that is sent though nothing is stored
			c, err := bus.Connect(t.Context(), o)
			must(t, err)
			defer c.Close()
			server.Inform(c)
			seen := make(chan uint64, 1000)
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() {
				ended <- c.Follow(ctx, schemas.StreamSessions, 0, bus.FollowOptions{}, func(batch []schemas.Record) error {
					for _, r := range batch {
						seen <- r.Seq
					}
					return nil
				})
			}()
			prompt, acked := string(make([]byte, 16<<10)), uint64(0)
			record := func() (schemas.Position, error) {
				return bus.Record(t.Context(), c.Writer(bus.WriterOptions{}), bustest.Event("s", fmt.Sprint(acked), prompt))
			}
			ballast := fillDisk(t, s)
			must(t, os.Truncate(ballast, 7<<20))
			for err == nil || server.Health() == nil {
				if _, err = record(); err == nil {
					acked++
				}
			}
			t.Logf("append %d: %v", acked, err)
			if !errors.Is(server.Health(), bus.ErrDiskFull) {
				t.Errorf("health: %v", server.Health())
			}
			must(t, os.Remove(ballast))
			var at schemas.Position
			at, err = record()
			for errors.Is(err, bus.ErrUnavailable) {
				at, err = record()
			}
			must(t, err)
			for last := uint64(0); last < at.Seq; {
				select {
				case last = <-seen:
				case err := <-ended:
					t.Fatalf("the reader ended: %v", err)
				}
			}
			stop()
			<-ended
			if n, err := count(t, c, schemas.StreamSessions); uint64(n) < acked+1 || err != nil {
				t.Fatalf("%d of %d acknowledged records are left, %v", n, acked+1, err)
			}
			checkFindings(t, server.Findings(), nil)
			if err := server.Health(); err != nil {
				t.Errorf("health: %v", err)
			}
		})
	}
}
