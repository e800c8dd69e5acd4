//go:build unix

package verbs

import (
	"os/exec"
	"syscall"
)

// Group gives a program that is about to start a process group of its own.
func Group(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// EndGroup kills what is left of a program and of those it started.
func EndGroup(cmd *exec.Cmd) {
	if cmd != nil && cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // nothing is left, mostly
	}
}
