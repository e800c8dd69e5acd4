//go:build unix

package daemon

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// mostLook is longer than a look at the lock takes.
const mostLook = 50 * time.Millisecond

// lock takes the data directory for this process. The kernel gives it back
// when the process ends, however it ends.
func lock(path string) (release func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("daemon: lock: %w", err)
	}
	// Who looks whether it is held holds it too, for a moment.
	for wait := time.Millisecond; ; wait *= 2 {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) || wait > mostLook {
			break
		}
		time.Sleep(wait)
	}
	if errors.Is(err, unix.EWOULDBLOCK) {
		_ = f.Close()
		return nil, ErrRunning
	}
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("daemon: lock %s: %w", path, err)
	}
	return func() {
		// Closing alone would leave the lock with a program that is being
		// started just now and has not let go of what it inherits yet.
		_ = unix.Flock(int(f.Fd()), unix.LOCK_UN)
		_ = f.Close()
	}, nil
}
