// Package disk says how much room the disk of a folder has, and where it is short
// of it, in words that name the disk and what to do.
package disk

import (
	"errors"
	"fmt"
	"runtime"
	"syscall"
)

var (
	// ErrFull is returned by Room where the disk lacks the bytes.
	ErrFull = errors.New("the disk lacks room")
	// ErrReadOnly is returned by Room where the disk cannot be written to.
	ErrReadOnly = errors.New("the disk is read-only")
)

// Reserve is the most that is kept free on the disk of a data folder, in bytes: a
// server or a view that runs into the end of the disk stops serving.
const Reserve = 24 << 20

// Space is what the file system of a folder has.
type Space struct {
	Free, Size int64 // bytes
	ReadOnly   bool
}

// Room returns an error where the disk of a folder lacks need bytes; a need of 0 is
// a twentieth of the disk, at most Reserve. A disk that cannot be asked has room.
func Room(dir string, need int64) error {
	d, known := Of(dir)
	if need == 0 {
		need = min(d.Size/20, Reserve)
	}
	switch {
	case !known:
		return nil
	case d.ReadOnly:
		return fmt.Errorf("%w: %s, with %s on it. Mount it for writing; Writ then goes on by itself",
			ErrReadOnly, Mount(dir), dir)
	case d.Free < need:
		return fmt.Errorf("%w: %s, with %s on it, has %.1f MiB free and needs %.1f MiB. Make room there; Writ then goes on by itself",
			ErrFull, Mount(dir), dir, mebibytes(d.Free), mebibytes(need))
	}
	if err := claim(dir, need); err != nil {
		return fmt.Errorf("%w: %s, with %s on it, grants no %.1f MiB (%w; a quota counts for a user, a group or a folder). Make room, or have the quota raised; Writ then goes on by itself",
			ErrFull, Mount(dir), dir, mebibytes(need), err)
	}
	return nil
}

// Full says of an error that a disk is full, or a quota on it used up.
func Full(err error) bool {
	if runtime.GOOS == "windows" {
		const handleDiskFull, diskFull = syscall.Errno(39), syscall.Errno(112)
		return errors.Is(err, handleDiskFull) || errors.Is(err, diskFull)
	}
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

func mebibytes(n int64) float64 { return float64(n) / (1 << 20) }
