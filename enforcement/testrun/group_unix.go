//go:build unix && !linux

package testrun

import (
	"os/exec"
	"syscall"
)

// group gives a command a process group of its own, which is ended as a whole.
func group(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
}
