//go:build amd64 || arm64

package confine

import (
	"os"
	"path"
	"slices"
	"strconv"
	"syscall"
	"unsafe"
)

// Where a host's shell or another program outside writes a file of a temp folder by
// its name, a link in that place would have it write whatever the link leads to. So the
// limits let no link be made or moved there. One below, in a folder that a command made
// or was given, is made here; all others are left to the limits.

// link makes a symbolic link for a command in a folder of a temp folder; made is false
// for one that the kernel is to judge.
func (k *keeper) link(n *notification) (made bool, _ syscall.Errno) {
	folder, at := atHere, n.args[1]
	if uintptr(n.nr) == syscall.SYS_SYMLINKAT {
		folder, at = int(int32(n.args[1])), n.args[2]
	}
	thread := "/proc/" + strconv.Itoa(int(n.pid))
	target, unread := k.text(n, thread, n.args[0])
	name, unnamed := k.text(n, thread, at)
	caller, known := callerOf(thread)
	if unread != 0 || unnamed != 0 || !known || name == "" {
		return false, 0
	}
	above, last := path.Split(name)
	if last == "" {
		return false, 0
	}
	if above == "" {
		above = "."
	}
	dir, err := syscall.Open(seenBy(thread, caller.group, above, folder), openPath|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return false, 0
	}
	defer func() { _ = syscall.Close(dir) }() // opened for its identity
	if !k.limits.belowShared(dir) {
		return false, 0
	}
	words, err := syscall.SlicePtrFromStrings([]string{target, last})
	if err != nil {
		return false, 0
	}
	return true, caller.as(func() syscall.Errno {
		_, _, errno := syscall.RawSyscall(syscall.SYS_SYMLINKAT, uintptr(unsafe.Pointer(words[0])), uintptr(dir), uintptr(unsafe.Pointer(words[1])))
		return errno
	})
}

// belowShared reports whether an open folder lies in a temp folder, and is none.
func (l limits) belowShared(dir int) bool {
	at, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(dir))
	return err == nil && !slices.Contains(l.shared, at) &&
		slices.ContainsFunc(l.shared, func(root string) bool { return within(root, at) })
}
