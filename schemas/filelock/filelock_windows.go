package filelock

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

func lock(file *os.File, alone, wait bool) error {
	var flags uint32
	if alone {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	if !wait {
		flags |= windows.LOCKFILE_FAIL_IMMEDIATELY
	}
	err := windows.LockFileEx(windows.Handle(file.Fd()), flags, 0, 1, 0, new(windows.Overlapped))
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return ErrHeld
	}
	return err
}

// unlock leaves the lock to the closing of the file, whose handle is not inherited.
func unlock(*os.File) {}
