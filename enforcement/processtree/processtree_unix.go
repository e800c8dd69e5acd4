//go:build unix && !linux

package processtree

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// parents asks ps once for the whole table: its options are those of POSIX.
func parents() (int, lookup) {
	out, err := exec.Command("ps", "-A", "-o", "pid=,ppid=,args=").Output()
	if err != nil {
		out = nil
	}
	type process struct {
		parent int
		args   []string
	}
	table := map[int]process{}
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) < 3 {
			continue
		}
		pid, err1 := strconv.Atoi(fields[0])
		parent, err2 := strconv.Atoi(fields[1])
		if err1 == nil && err2 == nil {
			table[pid] = process{parent, fields[2:]}
		}
	}
	return os.Getppid(), func(pid int) (Process, int, bool) {
		p, ok := table[pid]
		return Process{PID: pid, Name: first(p.args), Args: p.args}, p.parent, ok
	}
}

func first(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}
