package confine

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"syscall"
)

// adopt makes this process the parent of all descendants whose own parent ends,
// so that none gets out of sight by leaving its group or session.
func adopt() error {
	if err := prctl(prSetChildSubreaper, 1); err != nil {
		return wrong("confine: watch over descendants", err)
	}
	return nil
}

// orphaned is how often the parent is looked for, in milliseconds.
const orphaned = 500

// endWithParent ends everything when whoever started this process has ended
// without a word: nobody is left to send SIGTERM, or to read what is written. The
// kernel's own signal for this comes already when a thread of the parent ends.
func endWithParent(parent, copied int) {
	for os.Getppid() == parent {
		pause(orphaned)
	}
	kill(descendantsOf(copied))
}

// endAll ends what the command left below a process and reports whether there was
// something that still worked. Children of what ends become children of that process,
// so it goes on until there are none.
func endAll(above int) (found bool) {
	for waited := 0; waited < lingering && len(descendantsOf(above)) > 0; waited += step {
		pause(step)
	}
	for {
		alive := descendantsOf(above)
		if len(alive) == 0 {
			return found
		}
		found = true
		kill(alive)
		pause(1)
	}
}

// childless reaps what has ended and reports whether no child is left, ended or
// not. All that the command left are children of this process, or below them.
func childless() bool {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
		switch {
		case errors.Is(err, syscall.ECHILD):
			return true
		case err != nil && !errors.Is(err, syscall.EINTR), pid == 0:
			return false
		}
	}
}

// lingering is how long what a command left may go on by itself, in
// milliseconds: a shell does not wait for the end of ">(tee log)".
const lingering, step = 200, 20

// kill stops all first, so that none can start another one meanwhile.
func kill(pids []int) {
	for _, signal := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGKILL} {
		for _, pid := range pids {
			_ = syscall.Kill(pid, signal) // one that is gone is what was wanted
		}
	}
}

// processes are all that the system shows.
func processes() (pids []int) {
	entries, _ := os.ReadDir("/proc") // none where it shows nothing
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// descendants are the processes below this one that have not ended.
func descendants() []int { return descendantsOf(os.Getpid()) }

// descendantsOf are the processes below one that have not ended.
func descendantsOf(top int) []int {
	children := map[int][]int{}
	for _, pid := range processes() {
		if parent, alive := parentOf(pid); alive {
			children[parent] = append(children[parent], pid)
		}
	}
	var all []int
	for next := children[top]; len(next) > 0; {
		all = append(all, next...)
		var below []int
		for _, pid := range next {
			below = append(below, children[pid]...)
		}
		next = below
	}
	return all
}

// parentOf reads a process's parent, for one that has not ended.
func parentOf(pid int) (parent int, alive bool) {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, false
	}
	// The name is in brackets and may hold anything, brackets too.
	fields := bytes.Fields(raw[bytes.LastIndexByte(raw, ')')+1:])
	if len(fields) < 2 || fields[0][0] == 'Z' || fields[0][0] == 'X' {
		return 0, false
	}
	parent, err = strconv.Atoi(string(fields[1]))
	return parent, err == nil
}
