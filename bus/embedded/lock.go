package embedded

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

const lockName = "store.lock"

// fileLock is held by the open file: it ends with the process, however that
// ends.
type fileLock struct{ file *os.File }

var errHeld = errors.New("held by another")

// lockStore makes sure that one server uses a folder; the server itself does
// not, and two would destroy each other's files.
func lockStore(dir string) (*fileLock, error) {
	if err := prepareDir(dir); err != nil {
		return nil, err
	}
	lock, err := lockFile(filepath.Join(dir, lockName), false)
	if errors.Is(err, errHeld) {
		return nil, fmt.Errorf("%w: %s. Stop the other daemon (writ down), or use another folder", ErrLocked, dir)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDir, err)
	}
	removeProbes(dir)
	return lock, nil
}

// removeProbes removes what a killed server left of its probes. Only the lock's
// holder may: another's probe is in use.
func removeProbes(dir string) {
	left, _ := filepath.Glob(filepath.Join(dir, probePattern))
	for _, probe := range left {
		_ = os.Remove(probe) // it only takes room
	}
}

// lockFile locks a file, which it creates. Without wait it returns errHeld for
// one that somebody else has locked.
func lockFile(path string, wait bool) (*fileLock, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := flock(file, wait); err != nil {
		_ = file.Close()
		return nil, err
	}
	return &fileLock{file}, nil
}

// release unlocks before it closes: closing alone would leave the lock with a
// program that is being started just now and has not let go of what it inherits
// yet.
func (l *fileLock) release() {
	unlock(l.file)
	_ = l.file.Close()
}
