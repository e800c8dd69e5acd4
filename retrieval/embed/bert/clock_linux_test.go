package bert

import (
	"time"

	"golang.org/x/sys/unix"
)

// elapsed is the processor time of this thread, which other programs do not
// lengthen.
func elapsed() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		panic(err)
	}
	return time.Duration(t.Nano())
}
