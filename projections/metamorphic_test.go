package projections_test

import (
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"pgregory.net/rapid"

	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/projections/pebblestore"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/test/integration"
)

// crashingStore takes a clone of the file system, as a crash would leave it,
// around one of the commits.
type crashingStore struct {
	*pebblestore.Store
	fs *vfs.MemFS

	mu      sync.Mutex
	left    int // commits until the crash
	before  bool
	unsaved int // percent of what was not synced that survives
	seed    uint64
	clone   *vfs.MemFS
	// refuse is asked before each commit.
	refuse func() error
}

func (s *crashingStore) Commit(write func(projections.Batch) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refuse != nil {
		if err := s.refuse(); err != nil {
			return err
		}
	}
	s.left--
	if s.left == 0 && s.before {
		s.crash()
	}
	err := s.Store.Commit(write)
	if s.left == 0 && !s.before {
		s.crash()
	}
	return err
}

func (s *crashingStore) crash() {
	s.clone = s.fs.CrashClone(vfs.CrashCloneCfg{
		UnsyncedDataPercent: s.unsaved,
		RNG:                 rand.New(rand.NewPCG(s.seed, s.seed)),
	})
}

// life runs the views until they have caught up, and returns the file system
// that the next life finds: that of the crash if there was one.
func life(t *rapid.T, tb testing.TB, l *memoryLog, fs *vfs.MemFS, bump int) *vfs.MemFS {
	s := &crashingStore{
		Store:   openStore(tb, fs),
		fs:      fs,
		left:    rapid.IntRange(1, 40).Draw(t, "commits"),
		before:  rapid.Bool().Draw(t, "before"),
		unsaved: rapid.SampledFrom([]int{0, 50, 100}).Draw(t, "unsynced"),
		seed:    rapid.Uint64().Draw(t, "seed"),
	}
	opt := projections.Options{MaxBatch: rapid.IntRange(1, 20).Draw(t, "batch")}
	r := start(tb, l, s, opt, allViews(bump)...)
	grow(t, l, 15)
	r.caughtUp()
	r.stop()
	if err := s.Close(); err != nil {
		tb.Fatal(err)
	}
	if s.clone != nil {
		return s.clone
	}
	return fs
}

// Whatever the batches, wherever the process died, whatever part of the log
// was lost, and across new versions, every view equals a single pass.
func TestIncrementalEqualsRebuild(t *testing.T) {
	integration.Checks(t)
	rapid.Check(t, func(rt *rapid.T) {
		l, fs, bump := newMemoryLog(), vfs.NewCrashableMem(), 0
		grow(rt, l, 30)
		for range rapid.IntRange(1, 4).Draw(rt, "lives") {
			fs = life(rt, t, l, fs, bump)
			if rapid.IntRange(0, 3).Draw(rt, "tail") == 0 {
				s := rapid.SampledFrom(schemas.Streams()[:3]).Draw(rt, "stream")
				l.truncate(s, rapid.IntRange(0, l.len(s)).Draw(rt, "last"))
				grow(rt, l, 10)
			}
			if rapid.IntRange(0, 3).Draw(rt, "version") == 0 {
				bump++
			}
		}
		s := openStore(t, fs)
		defer s.Close()
		incremental := start(t, l, s, projections.Options{MaxBatch: rapid.IntRange(1, 20).Draw(rt, "batch")}, allViews(bump)...)
		incremental.caughtUp()
		defer incremental.stop()

		fresh := openStore(t, vfs.NewMem())
		defer fresh.Close()
		before := len(l.quarantined)
		single := start(t, l, fresh, projections.Options{}, allViews(bump)...)
		single.caughtUp()
		defer single.stop()

		for i, want := range single.Status() {
			got := dump(t, incremental.reader(want.Name))
			if want := dump(t, single.reader(want.Name)); got != want {
				rt.Errorf("%s:\n%s\nwant\n%s", single.Status()[i].Name, got, want)
			}
			if st := incremental.Status()[i]; st.Quarantined != want.Quarantined {
				rt.Errorf("%s: %d passed over, want %d", want.Name, st.Quarantined, want.Quarantined)
			}
		}
		if len(l.quarantined) != before {
			rt.Errorf("a rebuild quarantined again: %v", l.quarantined[before:])
		}
	})
}
