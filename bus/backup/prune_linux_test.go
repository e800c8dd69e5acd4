package backup_test

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/writbus/writ/bus/backup"
)

// TestARemovalThatIsCutOff is ended by the next backup: what is left is no backup, and
// takes no room for ever.
func TestARemovalThatIsCutOff(t *testing.T) {
	f := newFolder(t)
	old := f.create(t)
	f.create(t)
	held := filepath.Join(backup.Content(old.Dir), "held")
	if err := os.Mkdir(held, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("tmpfs", held, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("nothing can be mounted here that a removal is cut off at: %v", err)
	}
	if _, err := backup.Prune(f.backups, f.source(), 1); err == nil {
		t.Error("it was not cut off")
	}
	mounts, err := filepath.Glob(filepath.Join(f.backups, "*", "data", "held"))
	if err != nil || len(mounts) != 1 {
		t.Fatalf("it is mounted at %v", mounts)
	}
	if err := unix.Unmount(mounts[0], unix.MNT_DETACH); err != nil {
		t.Fatal(err)
	}
	f.create(t)
	all, err := backup.List(f.backups)
	entries, errEntries := os.ReadDir(f.backups)
	if err != nil || errEntries != nil || len(all) != 2 || len(entries) != 2 {
		t.Errorf("there are %d backups, in %v", len(all), entries)
	}
}
