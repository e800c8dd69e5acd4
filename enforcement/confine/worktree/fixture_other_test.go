//go:build !unix

package worktree

import "time"

func processorTime() time.Duration { return 0 }
