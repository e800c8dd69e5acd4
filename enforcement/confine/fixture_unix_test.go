//go:build unix

package confine

import (
	"os"
	"os/exec"
	"syscall"
	"time"
)

// as makes a command run as a user.
func as(c *exec.Cmd, uid int) {
	if uid != os.Geteuid() {
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
	}
}

// processorTime is what this process used so far, all its threads together.
func processorTime() time.Duration {
	var used syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &used) != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
