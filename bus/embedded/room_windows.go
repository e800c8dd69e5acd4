package embedded

import (
	"math"
	"path/filepath"

	"golang.org/x/sys/windows"
)

func diskOf(dir string) (disk, bool) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return disk{}, false
	}
	var free, size uint64
	if err := windows.GetDiskFreeSpaceEx(name, &free, &size, nil); err != nil {
		return disk{}, false
	}
	bounded := func(n uint64) int64 { return int64(min(n, math.MaxInt64/4)) }
	return disk{free: bounded(free), size: bounded(size)}, true
}

func mountOf(dir string) string { return filepath.VolumeName(dir) }
