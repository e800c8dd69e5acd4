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
