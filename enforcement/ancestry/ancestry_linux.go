package ancestry

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

func parents() (int, lookup) { return os.Getppid(), lookIn("/proc") }

// lookIn reads a process from a proc file system, see proc(5).
func lookIn(proc string) lookup {
	return func(pid int) (Process, int, bool) {
		dir := filepath.Join(proc, strconv.Itoa(pid))
		stat, err := os.ReadFile(filepath.Join(dir, "stat"))
		if err != nil {
			return Process{}, 0, false
		}
		// The program's name stands in parentheses and may hold any byte; what
		// follows the last one is fixed: state, then parent.
		text := string(stat)
		open, end := strings.IndexByte(text, '('), strings.LastIndexByte(text, ')')
		if open < 0 || end < open {
			return Process{}, 0, false
		}
		fields := strings.Fields(text[end+1:])
		if len(fields) < 2 {
			return Process{}, 0, false
		}
		parent, err := strconv.Atoi(fields[1])
		if err != nil {
			return Process{}, 0, false
		}
		p := Process{PID: pid, Name: text[open+1 : end]}
		if raw, err := os.ReadFile(filepath.Join(dir, "cmdline")); err == nil && len(raw) > 0 {
			p.Args = strings.Split(strings.TrimRight(string(raw), "\x00"), "\x00")
		}
		return p, parent, true
	}
}
