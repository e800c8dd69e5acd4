package confine

import (
	"bytes"
	"errors"
	"os"
	"runtime"
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

// descendantsOf are the processes below one that have not ended.
func descendantsOf(top int) []int {
	all, _ := familyOf(top)
	return all
}

// familyOf are the processes below one that have not ended, and how many threads they have.
func familyOf(top int) (all []int, threads int) {
	children, has := map[int][]int{}, map[int]int{}
	for _, pid := range processes() {
		if parent, own, alive := lifeOf(pid); alive {
			children[parent] = append(children[parent], pid)
			has[pid] = own
		}
	}
	for next := children[top]; len(next) > 0; {
		all = append(all, next...)
		var deeper []int
		for _, pid := range next {
			threads += has[pid]
			deeper = append(deeper, children[pid]...)
		}
		next = deeper
	}
	return all, threads
}

// crowd is how many threads may run below one hold: where there are many more than
// processors no hook is answered in time, and some hosts let a tool pass then.
func crowd() int { return 1024 + 256*runtime.NumCPU() }

// watching is how often they are counted, in milliseconds.
const watching = 500

// disperse ends all below a process where it is too many, and reports whether it did.
// They are counted only where the system has so many of all.
func disperse(top int) bool {
	load, _ := os.ReadFile("/proc/loadavg")
	_, load, _ = bytes.Cut(load, []byte("/"))
	of, _, _ := bytes.Cut(load, []byte(" "))
	if total, err := strconv.Atoi(string(of)); err == nil && total <= crowd() {
		return false
	}
	if _, threads := familyOf(top); threads <= crowd() {
		return false
	}
	for range 1000 { // one that waits for a device ends after that
		alive := descendantsOf(top)
		if len(alive) == 0 {
			break
		}
		kill(alive)
		pause(1)
	}
	return true
}

// parentOf reads a process's parent, for one that has not ended.
func parentOf(pid int) (parent int, alive bool) {
	parent, _, alive = lifeOf(pid)
	return parent, alive
}

// lifeOf reads a process's parent and the number of its threads, for one that has not
// ended.
func lifeOf(pid int) (parent, threads int, alive bool) {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, 0, false
	}
	// The name is in brackets and may hold anything, brackets too.
	fields := bytes.Fields(raw[bytes.LastIndexByte(raw, ')')+1:])
	if len(fields) < 18 {
		return 0, 0, false
	}
	parent, err = strconv.Atoi(string(fields[1]))
	threads, _ = strconv.Atoi(string(fields[17]))
	// Of one whose first thread has ended others may go on.
	return parent, threads, err == nil && (fields[0][0] != 'Z' && fields[0][0] != 'X' || threads > 1)
}
