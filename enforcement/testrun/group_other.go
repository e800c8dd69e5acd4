//go:build !unix

package testrun

import "os/exec"

// group leaves the command as it is: this system has no process groups that
// can be killed as a whole.
func group(*exec.Cmd) {}

func killGroup(*exec.Cmd) {}
