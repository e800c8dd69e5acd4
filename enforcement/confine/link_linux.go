//go:build amd64 || arm64

package confine

import (
	"cmp"
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
// or was given, is made and moved here; all others are left to the limits.

// laying are the calls that make and move links. Those that take paths alone are not on
// every architecture, which their number of 0 says.
var laying = map[uintptr]func(*keeper, *notification) (made bool, _ syscall.Errno){
	syscall.SYS_SYMLINKAT: (*keeper).link, keeperArch.symlink: (*keeper).link,
	syscall.SYS_RENAMEAT: (*keeper).move, keeperArch.renameat2: (*keeper).move, keeperArch.rename: (*keeper).move,
}

// renameExchange has renameat2(2) exchange two files; lower flags change what it replaces.
const renameExchange = 1 << 1

// link makes a symbolic link for a command in a folder of a temp folder; made is false
// for one that the kernel is to judge.
func (k *keeper) link(n *notification) (made bool, _ syscall.Errno) {
	folder, at := atHere, n.args[1]
	if uintptr(n.nr) == syscall.SYS_SYMLINKAT {
		folder, at = int(int32(n.args[1])), n.args[2]
	}
	thread := "/proc/" + strconv.Itoa(int(n.pid))
	target, unread := k.text(n, thread, n.args[0])
	caller, known := callerOf(thread)
	if unread != 0 || !known {
		return false, 0
	}
	e, ok := k.named(n, caller, thread, folder, at)
	if !ok {
		return false, 0
	}
	defer e.close()
	words, err := syscall.SlicePtrFromStrings([]string{target, e.name})
	if err != nil || !k.limits.belowShared(e.dir) {
		return false, 0
	}
	return true, caller.as(func() syscall.Errno {
		_, _, errno := syscall.RawSyscall(syscall.SYS_SYMLINKAT, uintptr(unsafe.Pointer(words[0])), uintptr(e.dir), uintptr(unsafe.Pointer(words[1])))
		return errno
	})
}

// move moves a symbolic link for a command to a folder of a temp folder; made is false
// for whatever the kernel is to judge.
func (k *keeper) move(n *notification) (made bool, _ syscall.Errno) {
	folders, names, flags := [2]int{int(int32(n.args[0])), int(int32(n.args[2]))}, [2]uint64{n.args[1], n.args[3]}, uint32(n.args[4])
	switch uintptr(n.nr) {
	case keeperArch.rename:
		folders, names, flags = [2]int{atHere, atHere}, [2]uint64{n.args[0], n.args[1]}, 0
	case syscall.SYS_RENAMEAT:
		flags = 0
	}
	thread := "/proc/" + strconv.Itoa(int(n.pid))
	caller, known := callerOf(thread)
	if !known || flags > renameExchange {
		return false, 0
	}
	from, ok := k.named(n, caller, thread, folders[0], names[0])
	if !ok {
		return false, 0
	}
	defer from.close()
	if flags != renameExchange && !from.isLink() {
		return false, 0
	}
	to, ok := k.named(n, caller, thread, folders[1], names[1])
	if !ok {
		return false, 0
	}
	defer to.close()
	words, err := syscall.SlicePtrFromStrings([]string{from.name, to.name})
	if err != nil || !k.limits.belowShared(to.dir) || !k.limits.writes(from.dir) || flags == renameExchange && !k.limits.belowShared(from.dir) {
		return false, 0
	}
	return true, caller.as(func() syscall.Errno {
		_, _, errno := syscall.RawSyscall6(keeperArch.renameat2, uintptr(from.dir), uintptr(unsafe.Pointer(words[0])), uintptr(to.dir), uintptr(unsafe.Pointer(words[1])), uintptr(flags), 0)
		return errno
	})
}

// named is a name in an open folder.
type named struct {
	dir  int
	name string
}

// named finds what a command names; ok is false where that ends in no name.
func (k *keeper) named(n *notification, c caller, thread string, folder int, at uint64) (e named, ok bool) {
	name, unread := k.text(n, thread, at)
	above, last := path.Split(name)
	if unread != 0 || last == "" {
		return e, false
	}
	above = cmp.Or(above, ".")
	dir, err := syscall.Open(seenBy(thread, c.group, above, folder), openPath|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	return named{dir, last}, err == nil
}

func (e named) close() { _ = syscall.Close(e.dir) } // opened for its identity

func (e named) isLink() bool {
	var stat syscall.Stat_t
	return syscall.Lstat("/proc/self/fd/"+strconv.Itoa(e.dir)+"/"+e.name, &stat) == nil && stat.Mode&syscall.S_IFMT == syscall.S_IFLNK
}

// belowShared reports whether an open folder lies in a temp folder, and is none.
func (l limits) belowShared(dir int) bool {
	at, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(dir))
	return err == nil && !slices.Contains(l.shared, at) &&
		slices.ContainsFunc(l.shared, func(root string) bool { return within(root, at) })
}
