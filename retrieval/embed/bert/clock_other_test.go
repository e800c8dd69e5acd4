//go:build !linux

package bert

import "time"

var began = time.Now()

// elapsed is time on the clock, for want of the thread's own.
func elapsed() time.Duration { return time.Since(began) }
