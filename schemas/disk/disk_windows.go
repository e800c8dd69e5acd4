package disk

import (
	"math"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// Of asks the system; known is false where it does not tell.
func Of(dir string) (s Space, known bool) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return Space{}, false
	}
	var free, size uint64
	if err := windows.GetDiskFreeSpaceEx(name, &free, &size, nil); err != nil {
		return Space{}, false
	}
	bounded := func(n uint64) int64 { return int64(min(n, math.MaxInt64/4)) }
	return Space{Free: bounded(free), Size: bounded(size)}, true
}

// Mount is the folder where the disk of another one is mounted.
func Mount(dir string) string { return filepath.VolumeName(dir) }
