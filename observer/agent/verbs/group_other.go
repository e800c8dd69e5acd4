//go:build !unix

package verbs

import "os/exec"

// Group does nothing: this system has no process groups that end as a whole.
func Group(*exec.Cmd) {}

// EndGroup does nothing.
func EndGroup(*exec.Cmd) {}
