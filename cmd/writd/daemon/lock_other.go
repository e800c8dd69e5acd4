//go:build !unix

package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// lock takes the data directory for this process by a file that only one can
// create; Windows deletes no file that is open, so a stale one can be told
// from a live one by removing it.
func lock(path string) (release func(), err error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, ErrRunning
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, ErrRunning
	}
	if err != nil {
		return nil, fmt.Errorf("daemon: lock: %w", err)
	}
	return func() { _ = f.Close(); _ = os.Remove(path) }, nil
}
