package heap

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// dropFilePages gives back the pages of the program's own file that starting
// touched: tables that are read once to build an index from, code that runs
// once. What is needed again comes from the system's cache of the file.
func dropFilePages() {
	self, err := os.Executable()
	if err != nil {
		return
	}
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return
	}
	for _, m := range unchanged(string(maps), self) {
		// A refusal leaves the pages where they are.
		_, _, _ = unix.Syscall(unix.SYS_MADVISE, m.begin, m.end-m.begin, unix.MADV_DONTNEED)
	}
}

type mapping struct{ begin, end uintptr }

// unchanged lists the mappings of a file of which every page is as the file has
// it. That nobody may write one is not enough: the loader writes addresses into
// a part of the program and protects it then, and without them nothing runs.
func unchanged(smaps, file string) []mapping {
	var found []mapping
	var at mapping
	is := false
	for line := range strings.Lines(smaps) {
		fields := strings.Fields(line)
		switch {
		case len(fields) == 6 && strings.Contains(fields[0], "-"):
			from, to, _ := strings.Cut(fields[0], "-")
			begin, beginErr := strconv.ParseUint(from, 16, 64)
			end, endErr := strconv.ParseUint(to, 16, 64)
			at = mapping{uintptr(begin), uintptr(end)}
			is = beginErr == nil && endErr == nil && begin < end && fields[5] == file && !strings.Contains(fields[1], "w")
		case len(fields) > 1 && strings.Contains(fields[0], "-"):
			is = false // a mapping without a file
		case is && len(fields) == 3 && fields[0] == "Anonymous:":
			if fields[1] == "0" {
				found = append(found, at)
			}
			is = false
		}
	}
	return found
}
