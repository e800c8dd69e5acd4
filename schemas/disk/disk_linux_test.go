package disk

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestReadOnlyDisk names the disk that nothing can be written to.
func TestReadOnlyDisk(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_RDONLY, "size=1m"); err != nil {
		t.Skipf("no read-only file system can be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	if err := Room(dir, 0); !errors.Is(err, ErrReadOnly) || !strings.Contains(err.Error(), dir+", with") {
		t.Errorf("a read-only disk: %v", err)
	}
	if err := Room(filepath.Dir(dir), 0); err != nil {
		t.Errorf("the folder above: %v", err)
	}
}

// TestADiskWithoutASize has room: the system says of it that it has no blocks.
func TestADiskWithoutASize(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=0"); err != nil {
		t.Skipf("no file system without a size can be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	for _, need := range []int64{0, 1, Reserve} {
		if err := Room(dir, need); err != nil {
			t.Errorf("%d bytes: %v", need, err)
		}
	}
}
