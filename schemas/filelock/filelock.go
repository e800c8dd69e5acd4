// Package filelock is a lock that one process holds, as a file: of a data folder,
// of a store, of a download, of a start.
//
// The system takes the lock back when its holder ends, however that is; the file
// stays. It holds between processes and between two opened files of one process.
package filelock

import (
	"errors"
	"fmt"
	"os"
)

// ErrHeld is returned for a lock that somebody else holds.
var ErrHeld = errors.New("filelock: somebody else holds it")

// Lock is a lock that is held.
type Lock struct{ file *os.File }

// Take takes a lock, whose file it makes and empties, or returns ErrHeld.
func Take(path string) (*Lock, error) { return take(path, false) }

// Wait takes a lock, whose file it makes, once nobody else holds it.
func Wait(path string) (*Lock, error) { return take(path, true) }

func take(path string, wait bool) (*Lock, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("filelock: %w", err)
	}
	if err := lock(file, true, wait); err != nil {
		_ = file.Close()
		if errors.Is(err, ErrHeld) {
			return nil, ErrHeld
		}
		return nil, fmt.Errorf("filelock: %s: %w", path, err)
	}
	_ = file.Truncate(0) // what an earlier holder wrote there is not this one's
	return &Lock{file}, nil
}

// Release unlocks before it closes: closing alone would leave the lock with a
// program that is being started just now and has not let go of what it inherits
// yet.
func (l *Lock) Release() {
	unlock(l.file)
	_ = l.file.Close()
}

// Held says whether somebody holds a lock. It shares the lock for as long as the
// look takes, and makes no file.
func Held(path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	err = lock(file, false, false)
	unlock(file)
	_ = file.Close()
	return errors.Is(err, ErrHeld)
}
