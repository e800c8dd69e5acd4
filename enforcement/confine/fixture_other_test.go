//go:build !unix

package confine

import "os/exec"

// as changes nothing where users have no numbers.
func as(*exec.Cmd, int) {}
