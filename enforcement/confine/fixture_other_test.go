//go:build !unix

package confine

import (
	"os/exec"
	"time"
)

// as changes nothing where users have no numbers.
func as(*exec.Cmd, int) {}

func processorTime() time.Duration { return 0 }
