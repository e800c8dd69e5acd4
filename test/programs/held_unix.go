//go:build unix

package programs

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// held says whether a process holds a lock file.
func held(path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	err = unix.Flock(int(file.Fd()), unix.LOCK_SH|unix.LOCK_NB)
	// Closing alone would leave the lock with a program that is being started.
	_ = unix.Flock(int(file.Fd()), unix.LOCK_UN)
	_ = file.Close()
	return errors.Is(err, unix.EWOULDBLOCK)
}
