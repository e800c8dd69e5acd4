//go:build unix

package testrun

import (
	"os/exec"
	"syscall"
)

// killGroup ends what a command left running.
func killGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
}
