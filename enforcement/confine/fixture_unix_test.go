//go:build unix

package confine

import (
	"os"
	"os/exec"
	"syscall"
)

// as makes a command run as a user.
func as(c *exec.Cmd, uid int) {
	if uid != os.Geteuid() {
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
	}
}
