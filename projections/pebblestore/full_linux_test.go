package pebblestore_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/projections/pebblestore"
	"github.com/writbus/writ/schemas/disk"
)

// TestFullDiskRefusesCommits fills a disk beside a store: commits are refused and the
// process goes on, what was committed is read, the store closes and opens, and the
// next commit after room is made is kept.
func TestFullDiskRefusesCommits(t *testing.T) {
	mount := t.TempDir()
	if err := unix.Mount("tmpfs", mount, "tmpfs", 0, "size=64m"); err != nil {
		t.Skipf("no small file system here (%v); TestCommitAsksForRoom covers the error", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(mount, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	dir := filepath.Join(mount, "views")
	options := pebblestore.Options{Room: func(n int64) error { return disk.Room(dir, n) }}
	s, err := pebblestore.Open(dir, options)
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.NewChaCha8([32]byte{1})
	value := make([]byte, 256<<10) // which does not compress
	commit := func(n int) error {
		_, _ = rnd.Read(value)
		return s.Commit(func(b projections.Batch) error { return b.Set([]byte{byte(n)}, value) })
	}
	kept := 0
	for err = commit(kept); err == nil && kept < 255; err = commit(kept) {
		kept++
	}
	if !errors.Is(err, disk.ErrFull) || kept < 16 {
		t.Fatalf("%d commits, then %v", kept, err)
	}
	ballast := filepath.Join(mount, "ballast")
	file, err := os.Create(ballast)
	for err == nil {
		_, err = file.Write(make([]byte, 64<<10))
	}
	_ = file.Close()
	for range 100 {
		if err := commit(255); !errors.Is(err, disk.ErrFull) {
			t.Fatalf("a commit on a full disk: %v", err)
		}
	}
	s.Relax()
	if _, found, err := s.Get([]byte{0}); err != nil || !found {
		t.Fatalf("what was committed is read as %v, %v", found, err)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("tmpfs", mount, "tmpfs", unix.MS_REMOUNT, "size=128m"); err != nil {
		t.Fatal(err)
	}
	if err := commit(255); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = pebblestore.Open(dir, options); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	for _, n := range []int{0, kept - 1, 255} {
		if _, found, err := s.Get([]byte{byte(n)}); err != nil || !found {
			t.Errorf("commit %d is read as %v, %v", n, found, err)
		}
	}
}
