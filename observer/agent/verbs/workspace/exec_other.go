//go:build !unix

package workspace

import (
	"os"
	"os/exec"
)

// group has nothing to prepare: the command alone is killed when its time is up.
func group(*exec.Cmd, bool) {}

func endGroup(*exec.Cmd) bool { return false }

func status(s *os.ProcessState) int { return s.ExitCode() }
