//go:build !unix && !windows

package launch

import (
	"os"
	"os/exec"
)

func binaryName(name string) string { return name }

func Detach(*exec.Cmd) {}

// Separate keeps the terminal's Ctrl-C from a child that is stopped by its
// parent; this system has no way to.
func Separate(*exec.Cmd) {}

// Terminate asks a process to end in order.
func Terminate(p *os.Process) error { return p.Signal(os.Interrupt) }

// Alive says whether a process of this id exists.
func Alive(pid int) bool {
	_, err := os.FindProcess(pid)
	return err == nil
}
