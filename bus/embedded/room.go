package embedded

import (
	"fmt"

	"github.com/writbus/writ/bus"
)

// maxReserve is the most that is kept free on the disk, in bytes: a server or a
// view that runs into the end of the disk stops serving.
const maxReserve = 16 << 20

// disk is the file system that a folder lies on.
type disk struct {
	free, size int64 // bytes
	readOnly   bool
}

// reserve is a twentieth of the disk, at most maxReserve.
func (d disk) reserve() int64 { return min(d.size/20, maxReserve) }

// checkRoom returns bus.ErrDiskFull or bus.ErrStorage where nothing can be
// stored in a folder. It names the disk, the folder, what is free and what to do.
func checkRoom(dir string) error {
	d, known := diskOf(dir)
	switch {
	case !known:
		return nil
	case d.readOnly:
		return fmt.Errorf("%w: the disk %s, with %s on it, is read-only. Mount it for writing; Writ then goes on by itself",
			bus.ErrStorage, mountOf(dir), dir)
	case d.free < d.reserve():
		return fmt.Errorf("%w: the disk %s, with %s on it, has %.1f MiB free and needs %.1f MiB. Make room there; Writ then goes on by itself",
			bus.ErrDiskFull, mountOf(dir), dir, mebibytes(d.free), mebibytes(d.reserve()))
	}
	return nil
}

func mebibytes(n int64) float64 { return float64(n) / (1 << 20) }
