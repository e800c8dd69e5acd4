//go:build !unix

package processor

import "time"

func used() time.Duration { return 0 }
