//go:build !unix

package launch

import (
	"errors"
	"io/fs"
	"os"
	"time"
)

var errLocked = errors.New("launch: somebody else is starting the daemon")

// stale is the age at which a lock's holder counts as dead: no start takes
// that long.
const stale = 30 * time.Second

// tryLock creates the file, which only one process can, and removes it after.
func tryLock(path string) (unlock func(), err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err == nil {
		file.Close()
		return func() { _ = os.Remove(path) }, nil
	}
	if !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()) > stale {
		_ = os.Remove(path)
	}
	return nil, errLocked
}

// LockHeld cannot be told here; a lock file that exists counts.
func LockHeld(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
