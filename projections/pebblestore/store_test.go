package pebblestore_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/projections/pebblestore"
)

func open(t testing.TB, files vfs.FS) *pebblestore.Store {
	t.Helper()
	s, err := pebblestore.Open("views", pebblestore.Options{FS: files})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

type reading interface {
	Get(key []byte) ([]byte, bool, error)
}

func set(t testing.TB, s *pebblestore.Store, pairs ...string) {
	t.Helper()
	err := s.Commit(func(b projections.Batch) error {
		for i := 0; i < len(pairs); i += 2 {
			if err := b.Set([]byte(pairs[i]), []byte(pairs[i+1])); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func get(t testing.TB, r reading, key string) string {
	t.Helper()
	value, found, err := r.Get([]byte(key))
	if err != nil {
		t.Fatal(err)
	}
	if !found {
		return "absent"
	}
	return string(value)
}

func TestBatchesSnapshotsAndPrefixes(t *testing.T) {
	s := open(t, vfs.NewMem())
	defer s.Close()
	set(t, s, "a/1", "1", "a/2", "2", "b", "3", "a\xff", "4", "\xff\xff", "5")
	snap, err := s.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()

	boom := errors.New("boom")
	err = s.Commit(func(b projections.Batch) error {
		if err := b.DeletePrefix([]byte("a")); err != nil {
			return err
		}
		return boom
	})
	if !errors.Is(err, boom) {
		t.Errorf("commit: %v", err)
	}
	if got := get(t, s, "a/1"); got != "1" {
		t.Errorf("a refused batch changed a/1 to %s", got)
	}
	err = s.Commit(func(b projections.Batch) error {
		return errors.Join(b.DeletePrefix([]byte("a/")), b.Set([]byte("a/3"), nil), b.Delete([]byte("b")))
	})
	if err != nil {
		t.Fatal(err)
	}
	for prefix, want := range map[string][]string{"": {"a/3", "a\xff", "\xff\xff"}, "a": {"a/3", "a\xff"}, "\xff": {"\xff\xff"}, "b": nil} {
		if got := keys(t, s.Scan([]byte(prefix))); !slices.Equal(got, want) {
			t.Errorf("scan %q: %q, want %q", prefix, got, want)
		}
	}
	if got := keys(t, snap.Scan([]byte("a/"))); !slices.Equal(got, []string{"a/1", "a/2"}) {
		t.Errorf("snapshot: %q", got)
	}
	if get(t, snap, "b") != "3" || get(t, s, "b") != "absent" || get(t, s, "a/3") != "" {
		t.Error("wrong values")
	}
	if err := s.Commit(func(b projections.Batch) error { return b.DeletePrefix([]byte("\xff")) }); err == nil {
		t.Error("a prefix without an end was deleted")
	}
}

func keys(t testing.TB, scan func(func(projections.Entry, error) bool)) (all []string) {
	t.Helper()
	for e, err := range scan {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(e.Key))
	}
	return all
}

func TestReopensAndCloses(t *testing.T) {
	files := vfs.NewMem()
	s := open(t, files)
	set(t, s, "k", "v")
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := s.Get([]byte("k")); !errors.Is(err, pebblestore.ErrClosed) {
		t.Errorf("get: %v", err)
	}
	if _, err := s.Snapshot(); !errors.Is(err, pebblestore.ErrClosed) {
		t.Errorf("snapshot: %v", err)
	}
	s = open(t, files)
	defer s.Close()
	if got := get(t, s, "k"); got != "v" {
		t.Errorf("k = %s", got)
	}
}

func TestOpenOnDisk(t *testing.T) {
	dir := t.TempDir() + "/views"
	s, moved, err := pebblestore.OpenOrReset(dir, pebblestore.Options{})
	if err != nil || moved != "" {
		t.Fatalf("%q, %v", moved, err)
	}
	set(t, s, "k", "v")
	if _, err := pebblestore.Open(dir, pebblestore.Options{}); err == nil || errors.Is(err, projections.ErrCorruptStore) {
		t.Errorf("a folder in use: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// damages are ways in which files go bad.
var damages = map[string]func(old []byte) []byte{
	"flipped": func(old []byte) []byte {
		for i := len(old) / 3; i < len(old); i += 61 {
			old[i] ^= 0x55
		}
		return old
	},
	"truncated": func(old []byte) []byte { return old[:len(old)/2] },
	"empty":     func([]byte) []byte { return nil },
	"deleted":   nil,
}

// filled returns a folder with tables, a manifest and a log.
func filled(t *testing.T) *vfs.MemFS {
	files := vfs.NewMem()
	for round := range 3 {
		s := open(t, files)
		for i := range 300 {
			set(t, s, fmt.Sprintf("%d/%d", round, i), fmt.Sprintf("value %d", i))
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// Whatever happens to a file, a store either holds a prefix of the commits or
// says that it is corrupt, now and for the next run.
func TestDamageIsNamed(t *testing.T) {
	names, err := filled(t).List("views")
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	found := 0
	for _, name := range names {
		for _, damage := range slices.Sorted(maps.Keys(damages)) {
			t.Run(name+" "+damage, func(t *testing.T) {
				files := filled(t)
				spoil(t, files, "views/"+name, damages[damage])
				err := readAll(files)
				if err == nil {
					return
				}
				found++
				if !errors.Is(err, projections.ErrCorruptStore) {
					t.Fatalf("not named: %v", err)
				}
				s, moved, err := pebblestore.OpenOrReset("views", pebblestore.Options{FS: files})
				if err != nil || moved != "views.corrupt-1" {
					t.Fatalf("moved to %q: %v", moved, err)
				}
				defer s.Close()
				if all := keys(t, s.Scan(nil)); len(all) != 0 {
					t.Errorf("the new store holds %d keys", len(all))
				}
				if _, err := files.Stat("views.corrupt-1"); err != nil {
					t.Error(err)
				}
			})
		}
	}
	if found < 3 {
		t.Errorf("only %d damages were found: the test does no damage", found)
	}
}

func spoil(t *testing.T, files vfs.FS, path string, damage func([]byte) []byte) {
	t.Helper()
	if damage == nil {
		if err := files.Remove(path); err != nil {
			t.Fatal(err)
		}
		return
	}
	info, err := files.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	in, err := files.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	old := make([]byte, info.Size())
	if _, err := in.ReadAt(old, 0); err != nil && len(old) > 0 {
		t.Fatal(err)
	}
	out, err := files.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := out.Write(damage(old)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(in.Close(), out.Close()); err != nil {
		t.Fatal(err)
	}
}

// readAll opens the store and reads everything in it. What is there must be
// the first commits, in their order.
func readAll(files vfs.FS) error {
	s, err := pebblestore.Open("views", pebblestore.Options{FS: files})
	if err != nil {
		return err
	}
	defer s.Close()
	gap := ""
	for n := range 900 {
		key := fmt.Sprintf("%d/%d", n/300, n%300)
		value, found, err := s.Get([]byte(key))
		switch {
		case err != nil:
			return err
		case !found:
			gap = key
		case gap != "":
			return fmt.Errorf("%s is there and %s is not", key, gap)
		case string(value) != fmt.Sprintf("value %d", n%300):
			return fmt.Errorf("%s is %q", key, value)
		}
	}
	for _, err := range s.Scan(nil) {
		if err != nil {
			return err
		}
	}
	return nil
}

func TestSecondResetTakesTheNextName(t *testing.T) {
	files := filled(t)
	if err := files.MkdirAll("views.corrupt-1", 0o755); err != nil {
		t.Fatal(err)
	}
	mark, err := files.Create("views/WRIT-DAMAGED", vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	if err := mark.Close(); err != nil {
		t.Fatal(err)
	}
	s, moved, err := pebblestore.OpenOrReset("views", pebblestore.Options{FS: files})
	if err != nil || moved != "views.corrupt-2" {
		t.Fatalf("moved to %q: %v", moved, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestRelaxedStoreHoldsWhatItHeld(t *testing.T) {
	files := vfs.NewMem()
	s := open(t, files)
	set(t, s, "a", "1", "b", "2")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, files) // what was written lies in a table now, and is read through the cache
	var relaxer projections.Relaxer = s
	for range 3 {
		if a, b := get(t, s, "a"), get(t, s, "b"); a != "1" || b != "2" {
			t.Errorf("a is %s, b is %s", a, b)
		}
		relaxer.Relax()
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	relaxer.Relax() // does nothing
}

// A view on a full disk waits between its tries: without that it takes a processor
// until somebody makes room.
func TestFullDiskIsNotTriedWithoutPause(t *testing.T) {
	var full atomic.Bool
	tries := make(chan time.Time, 3)
	disk := errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		if !full.Load() || op.Kind != errorfs.OpCreate || !strings.HasSuffix(op.Path, ".sst") {
			return nil
		}
		select {
		case tries <- time.Now():
		default:
		}
		return syscall.ENOSPC
	}))
	s := open(t, disk)
	full.Store(true)
	set(t, s, "large", strings.Repeat("x", 16<<20)) // more than memory holds
	first, _, third := <-tries, <-tries, <-tries
	if between := third.Sub(first); between < 100*time.Millisecond {
		t.Errorf("three tries in %s", between)
	}
	full.Store(false)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestCommitAsksForRoom asks with the size of what is to be written, and keeps
// nothing of what there is no room for.
func TestCommitAsksForRoom(t *testing.T) {
	full, asked := errors.New("full"), int64(0)
	s, err := pebblestore.Open("views", pebblestore.Options{FS: vfs.NewMem(), Room: func(n int64) error {
		asked = n
		return full
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	commit := func(size int) error {
		return s.Commit(func(b projections.Batch) error { return b.Set([]byte("a"), make([]byte, size)) })
	}
	if err := commit(1); !errors.Is(err, full) {
		t.Fatalf("a commit without room: %v", err)
	}
	least := asked
	if err := commit(1 << 20); !errors.Is(err, full) || asked < least+1<<20-1 {
		t.Errorf("for a mebibyte more, %d bytes were asked for instead of %d: %v", asked, least, err)
	}
	if got := get(t, s, "a"); got != "absent" {
		t.Errorf("what was refused is read as %q", got)
	}
}
