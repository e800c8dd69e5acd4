//go:build !linux

package bert

import "time"

var began = time.Now()

// spent is time on the clock, for want of the thread's own.
func spent() time.Duration { return time.Since(began) }
