package filelock

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

// A program that is being started while the lock is let go inherits its file
// for a moment; that must not keep the lock.
func TestReleaseEndsWhereTheFileIsInherited(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	held, err := Take(path)
	if err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	twin := -1
	for _, entry := range files {
		if at, err := os.Readlink("/proc/self/fd/" + entry.Name()); err != nil || at != path {
			continue
		}
		fd, err := strconv.Atoi(entry.Name())
		if err != nil {
			t.Fatal(err)
		}
		if twin, err = unix.Dup(fd); err != nil {
			t.Fatal(err)
		}
		break
	}
	if twin < 0 {
		t.Fatal("the lock has no open file")
	}
	defer func() { _ = unix.Close(twin) }()
	held.Release()
	again, err := Take(path)
	if err != nil {
		t.Fatal(err)
	}
	again.Release()
}
