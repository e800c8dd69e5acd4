//go:build unix

package launch

import (
	"os"
	"os/exec"
	"syscall"
)

func binaryName(name string) string { return name }

// Detach gives the process a session of its own: no signal of the terminal, or
// of the host that started it, reaches it.
func Detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// Separate keeps the terminal's Ctrl-C from a child that is stopped by its
// parent.
func Separate(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// Terminate asks a process to end in order.
func Terminate(p *os.Process) error { return p.Signal(syscall.SIGTERM) }

// Alive says whether a process of this id exists.
func Alive(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || err == syscall.EPERM
}
