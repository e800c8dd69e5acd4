package embedded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/schemas"
)

// syncing replaces the sync of files for a test, by one that notes their names.
func syncing(t *testing.T, do func(name string) error) (names func() []string) {
	t.Helper()
	var mu sync.Mutex
	var all []string
	was := syncFile
	t.Cleanup(func() { syncFile = was })
	syncFile = func(f *os.File) error {
		name := filepath.Base(f.Name())
		mu.Lock()
		all = append(all, name)
		mu.Unlock()
		return do(name)
	}
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		taken := all
		all = nil
		return taken
	}
}

func blockOf(t *testing.T, dir string, index int) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "msgs", fmt.Sprintf("%d.blk", index)), []byte("records"), 0o600); err != nil {
		t.Fatal(err)
	}
}

func newSyncs(t *testing.T, blocks int) *syncs {
	t.Helper()
	s := &syncs{dir: t.TempDir()}
	if err := os.Mkdir(filepath.Join(s.dir, "msgs"), 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range blocks {
		blockOf(t, s.dir, i+1)
	}
	t.Cleanup(s.shut)
	return s
}

// TestSyncTakesEveryFile that may hold what was not synced: all at first, then the
// last one and those begun since, and all where the last one is another.
func TestSyncTakesEveryFile(t *testing.T) {
	s := newSyncs(t, 3)
	names := syncing(t, func(string) error { return nil })
	sync := func(want ...string) {
		t.Helper()
		err := s.wait(t.Context())
		got := names()
		for _, name := range want {
			if !slices.Contains(got, name) {
				t.Errorf("synced %v (%v), want %v", got, err, want)
			}
		}
		if len(slices.Compact(slices.Sorted(slices.Values(got)))) != len(want) || err != nil {
			t.Errorf("synced %v (%v), want %v", got, err, want)
		}
	}
	if err := newSyncs(t, 0).wait(t.Context()); err != nil {
		t.Errorf("of a stream without records: %v", err)
	}
	sync("1.blk", "2.blk", "3.blk")
	sync("3.blk")
	blockOf(t, s.dir, 4)
	blockOf(t, s.dir, 5)
	sync("3.blk", "4.blk", "5.blk")
	sync("5.blk")
	path := filepath.Join(s.dir, "msgs", "5.blk")
	if err := os.Rename(path, path+".old"); err != nil {
		t.Fatal(err)
	}
	blockOf(t, s.dir, 5)
	sync("1.blk", "2.blk", "3.blk", "4.blk", "5.blk")
}

// TestSyncTakesAFileThatEndsMeanwhile: what is written to a file while it is synced,
// before the next one is begun, is brought to the disk by the sync after that.
func TestSyncTakesAFileThatEndsMeanwhile(t *testing.T) {
	s := newSyncs(t, 1)
	if err := s.wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	unsynced := map[string]bool{}
	ended := false
	syncing(t, func(name string) error {
		delete(unsynced, name)
		if !ended { // the server goes on while this sync runs
			ended, unsynced["1.blk"], unsynced["2.blk"] = true, true, true
			blockOf(t, s.dir, 2)
		}
		return nil
	})
	for range 2 {
		if err := s.wait(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if len(unsynced) > 0 {
		t.Errorf("%v were written to and not synced since", unsynced)
	}
}

// TestSyncTogether: who comes while a sync runs waits for the next one, which is
// one for all of them.
func TestSyncTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, gate := newSyncs(t, 1), make(chan struct{})
		names := syncing(t, func(string) error { <-gate; return nil })
		ended := make(chan error, 100)
		wait := func() { ended <- s.wait(t.Context()) }
		go wait()
		synctest.Wait()
		gate <- struct{}{} // that of begin
		synctest.Wait()
		for range 50 {
			go wait()
		}
		synctest.Wait()
		if got := names(); len(got) != 2 || len(ended) > 0 {
			t.Fatalf("%v were synced and %d calls ended", got, len(ended))
		}
		gate <- struct{}{}
		synctest.Wait()
		if got := names(); len(got) != 1 || len(ended) != 1 {
			t.Fatalf("%v were synced and %d calls ended: those who came later were not synced by this one", got, len(ended))
		}
		gate <- struct{}{}
		synctest.Wait()
		if got := names(); len(got) != 0 || len(ended) != 51 {
			t.Errorf("%v were synced and %d calls ended", got, len(ended))
		}
		for range 51 {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	})
}

// TestSyncThatHangsHoldsNobody: the disk does not answer. Who asks is let go when its
// time is over, the first one too, and what is stopped meanwhile is shut.
func TestSyncThatHangsHoldsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, gate := newSyncs(t, 1), make(chan struct{})
		syncing(t, func(string) error { <-gate; return nil })
		over := errors.New("its time is over")
		ctx, cancel := context.WithCancelCause(t.Context())
		ended := make(chan error, 2)
		for range 2 {
			go func() { ended <- s.wait(ctx) }()
			synctest.Wait()
		}
		cancel(over)
		synctest.Wait()
		if len(ended) != 2 {
			t.Fatalf("%d of 2 were let go", len(ended))
		}
		for range 2 {
			if err := <-ended; !errors.Is(err, over) {
				t.Error(err)
			}
		}
		_ = s.stop()
		close(gate)
		synctest.Wait()
		if err := s.wait(t.Context()); s.open != nil || !errors.Is(err, errStopped) {
			t.Errorf("it was stopped, and left %v open: %v", s.open, err)
		}
	})
}

// TestFailedSyncIsNotTriedAgain: a system may take what it failed to write for
// written. Nothing is acknowledged until the file was written anew.
func TestFailedSyncIsNotTriedAgain(t *testing.T) {
	s := newSyncs(t, 2)
	broken := errors.New("broken")
	fails := true
	syncing(t, func(name string) error {
		if fails && name == "2.blk" {
			return broken
		}
		return nil
	})
	if err := s.wait(t.Context()); !errors.Is(err, broken) {
		t.Fatal(err)
	}
	fails = false
	if err := s.wait(t.Context()); !errors.Is(err, broken) {
		t.Errorf("the next one: %v", err)
	}
	path := filepath.Join(s.dir, "msgs", "2.blk")
	was, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.again(); err != nil {
		t.Fatal(err)
	}
	if is, err := os.Stat(path); err != nil || os.SameFile(was, is) {
		t.Errorf("the file was not written anew: %v", err)
	}
	if err := s.wait(t.Context()); err != nil {
		t.Errorf("after it was: %v", err)
	}
}

// TestLetGoSyncsWhatTheLogSays of archived records: the server removes their files at
// once, and a power cut is not to keep that and lose the other.
func TestLetGoSyncsWhatTheLogSays(t *testing.T) {
	server, conn := begunWith(t, Options{Dir: t.TempDir(), Durability: Interval, SyncInterval: time.Hour})
	e := schemas.Event{Source: "/writ/test", Actor: schemas.Writ("archive"), Aggregate: schemas.ArchivedRecords(), Data: schemas.RecordsArchived{
		Stream: schemas.StreamSessions, First: 1, Last: 1, Records: 1, Path: "one.zst", SHA256: make([]byte, 32), Bytes: 1, Sessions: []schemas.ArchivedSession{{Session: "s", Last: 1}},
	}}
	if _, err := bus.Record(t.Context(), conn.Writer(bus.WriterOptions{}), e); err != nil {
		t.Fatal(err)
	}
	synced := syncing(t, func(string) error { return nil })
	if err := server.LetGo(string(schemas.StreamSessions), 2); err != nil || len(synced()) == 0 {
		t.Errorf("nothing was synced: %v", err)
	}
	syncing(t, func(string) error { return errors.New("the disk failed") })
	if err := server.LetGo(string(schemas.StreamSessions), 2); !errors.Is(err, bus.ErrStorage) {
		t.Errorf("the disk failed, and it says %v", err)
	}
}

// TestEndsAreNotedBehindRecords: with Interval, too, what a power cut may still take is in
// no note of where the streams end.
func TestEndsAreNotedBehindRecords(t *testing.T) {
	for _, durability := range []Durability{Interval, PowerLoss} {
		s, err := Start(t.Context(), Options{Dir: t.TempDir(), Durability: durability, Together: true, MarkInterval: time.Hour, Users: []User{{Name: "daemon", Password: "secret", Role: RoleDaemon}}})
		if err != nil {
			t.Fatal(err)
		}
		c, err := bus.Connect(t.Context(), bus.Options{Dial: s.Dial, User: "daemon", Password: "secret"})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.EnsureStreams(t.Context(), bus.Retention{}); err != nil {
			t.Fatal(err)
		}
		names := syncing(t, func(string) error { return nil })
		s.mark()
		if all := names(); !slices.Contains(all, "1.blk") {
			t.Errorf("%s: only %q are on the disk", durability, all)
		}
		c.Close()
		if err := s.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	}
}
