//go:build unix

package launch

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

var errLocked = errors.New("launch: somebody else is starting the daemon")

// tryLock returns errLocked while another process holds the lock. The kernel
// releases it when its holder dies.
func tryLock(path string) (unlock func(), err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = file.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, errLocked
		}
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return func() { letGo(file) }, nil
}

// letGo unlocks before it closes: closing alone would leave the lock with a
// program that is being started just now and has not let go of what it inherits
// yet, the daemon for one.
func letGo(file *os.File) {
	_ = unix.Flock(int(file.Fd()), unix.LOCK_UN)
	_ = file.Close()
}

// LockHeld says whether another process holds a lock file, without taking it for
// longer than the look.
func LockHeld(path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer letGo(file)
	err = unix.Flock(int(file.Fd()), unix.LOCK_SH|unix.LOCK_NB)
	return errors.Is(err, unix.EWOULDBLOCK)
}
