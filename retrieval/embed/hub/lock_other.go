//go:build !unix

package hub

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// lock takes the file for this process: only one can create it, and Windows
// removes no file that is open.
func lock(path string) (release func(), err error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, ErrBusy
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, ErrBusy
	}
	if err != nil {
		return nil, fmt.Errorf("hub: %w", err)
	}
	return func() { _ = file.Close(); _ = os.Remove(path) }, nil
}
