// Package processtree lists the processes above this one, and tells an agent's host
// among them.
//
// It sees what the operating system shows of them to this user. It does not see
// a terminal that an agent made and drives from outside.
package processtree

// Process is one process above this one.
type Process struct {
	PID  int
	Name string   // of the program, as the system shows it
	Args []string // its command line, empty where it cannot be seen

	terminal int // its controlling terminal, 0 for none; Linux alone shows it
}

// most bounds the walk: no shell lies deeper, and a table that changes while
// it is read could show a circle.
const most = 64

// lookup shows a process and its parent's id.
type lookup func(pid int) (p Process, parent int, ok bool)

// Of lists the processes above this one, the nearest first, as far as they can
// be seen.
func Of() []Process { return walk(parents()) }

// walk follows a lookup of processes from a process's parent on.
func walk(first int, look lookup) []Process {
	var above []Process
	for pid := first; pid > 1 && len(above) < most; {
		process, parent, ok := look(pid)
		if !ok {
			break
		}
		above = append(above, process)
		pid = parent
	}
	return above
}
