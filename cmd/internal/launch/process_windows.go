package launch

import (
	"os"
	"os/exec"
	"syscall"
)

func binaryName(name string) string { return name + ".exe" }

// Process creation flags of the Windows API (winbase.h).
const detachedProcess = 0x00000008

func Detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP | detachedProcess, HideWindow: true}
}

// Separate keeps the terminal's Ctrl-C from a child that is stopped by its
// parent.
func Separate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// Terminate ends a process; Windows has no signal that asks.
func Terminate(p *os.Process) error { return p.Kill() }

// Alive says whether a process of this id exists.
func Alive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	_ = p.Release()
	return true
}
