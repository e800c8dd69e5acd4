package disk

import (
	"errors"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

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

// TestQuota refuses where a quota is used up though the disk has room, says so, and goes
// on with the first look after there is room again; one that granted is not asked again
// with every look.
func TestQuota(t *testing.T) {
	var left error
	asked := 0
	setAside = func(int, uint32, int64, int64) error { asked++; return left }
	t.Cleanup(func() { setAside = unix.Fallocate })
	dir := t.TempDir()
	if err := claim(dir, 1); err != nil || asked == 0 {
		t.Skipf("the disk of temporary files sets nothing aside, as one in memory: %v", err)
	}
	left = unix.EDQUOT
	for range 2 {
		err := Room(dir, 1<<20)
		if !errors.Is(err, ErrFull) || !errors.Is(err, unix.EDQUOT) || !strings.Contains(err.Error(), dir+" on it, grants no 1.0 MiB") {
			t.Fatalf("a used up quota: %v", err)
		}
	}
	left, asked = nil, 0
	for range 9 {
		if err := Room(dir, 1<<20); err != nil {
			t.Errorf("room was made: %v", err)
		}
	}
	if asked != 1 {
		t.Errorf("asked %d times for what was just granted", asked)
	}
}

// TestADeadDiskHoldsNoOther: while a disk does not answer, others are asked.
func TestADeadDiskHoldsNoOther(t *testing.T) {
	dead, asked, answers := t.TempDir(), make(chan struct{}, 1), make(chan struct{})
	var first atomic.Bool
	setAside = func(int, uint32, int64, int64) error {
		if first.CompareAndSwap(false, true) {
			asked <- struct{}{}
			<-answers
		}
		return nil
	}
	t.Cleanup(func() { setAside = unix.Fallocate })
	waits := make(chan error, 1)
	go func() { waits <- Room(dead, 1<<20); asked <- struct{}{} }()
	<-asked
	if !first.Load() {
		t.Skip("the disk of temporary files sets nothing aside, as one in memory")
	}
	other := make(chan error, 1)
	go func() { other <- Room(t.TempDir(), 1<<20) }()
	select {
	case err := <-other:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("another disk waits for it")
	}
	close(answers)
	if err := <-waits; err != nil {
		t.Error(err)
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
