//go:build unix

package worktree

import (
	"syscall"
	"time"
)

// processorTime is what this process used so far, all its threads together.
func processorTime() time.Duration {
	var used syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &used) != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
