package embedded

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/writbus/writ/schemas/filelock"
)

const lockName = "store.lock"

// lockStore makes sure that one server uses a folder; the server itself does
// not, and two would destroy each other's files.
func lockStore(dir string) (*filelock.Lock, error) {
	if err := prepareDir(dir); err != nil {
		return nil, err
	}
	lock, err := filelock.Take(filepath.Join(dir, lockName))
	if errors.Is(err, filelock.ErrHeld) {
		return nil, fmt.Errorf("%w: %s. Stop the other daemon (writ down), or use another folder", ErrLocked, dir)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDir, err)
	}
	removeProbes(dir)
	return lock, nil
}

// removeProbes removes what a killed server left of its probes and cuts. Only the lock's
// holder may: another's probe is in use.
func removeProbes(dir string) {
	left, _ := fs.Glob(os.DirFS(dir), probePattern) // the pattern is sound
	for _, probe := range left {
		_ = os.RemoveAll(filepath.Join(dir, probe)) // it only takes room
	}
}
