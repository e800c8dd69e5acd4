// Package pause waits for a while, and no longer than anybody wants.
package pause

import (
	"context"
	"time"
)

// For waits for d, or until ctx ends, and says whether ctx still goes on.
func For(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
