package testrun

import (
	"os/exec"
	"syscall"
)

// group gives a command a process group of its own, which is ended as a whole,
// also where this process is killed before it could.
func group(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
}
