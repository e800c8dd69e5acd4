//go:build amd64 || arm64

package confine

import (
	"bytes"
	"os"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"unsafe"
)

// change is a call that changes the mode or the owner of a file, and where its
// arguments stand; -1 for none.
type change struct {
	number                     uintptr
	folder, path, value, flags int
	owner                      bool // value is a user and a group, not a mode
	link                       bool // a link at the end is not followed
}

var changing = []change{
	{number: keeperArch.chmod, folder: -1, path: 0, value: 1, flags: -1},
	{number: keeperArch.chown, folder: -1, path: 0, value: 1, flags: -1, owner: true},
	{number: keeperArch.lchown, folder: -1, path: 0, value: 1, flags: -1, owner: true, link: true},
	{number: syscall.SYS_FCHMOD, folder: 0, path: -1, value: 1, flags: -1},
	{number: syscall.SYS_FCHOWN, folder: 0, path: -1, value: 1, flags: -1, owner: true},
	{number: syscall.SYS_FCHMODAT, folder: 0, path: 1, value: 2, flags: -1},
	{number: sysFchmodat2, folder: 0, path: 1, value: 2, flags: 3},
	{number: syscall.SYS_FCHOWNAT, folder: 0, path: 1, value: 2, flags: 4, owner: true},
}

const (
	atNoFollow = 0x100
	atHere     = -100 // AT_FDCWD
	maxPath    = 4096
)

// change changes a file's mode or owner for a command, if the command may write the
// file. Like a connection it is made here, on the very file that was judged.
func (k *keeper) change(n *notification) syscall.Errno {
	i := slices.IndexFunc(changing, func(c change) bool { return c.number == uintptr(n.nr) })
	if i < 0 {
		return syscall.ENOSYS
	}
	c, thread := changing[i], "/proc/"+strconv.Itoa(int(n.pid))
	caller, ok := callerOf(thread)
	if !ok {
		return syscall.EACCES
	}
	file, errno := k.file(n, c, thread, caller.group)
	if errno != 0 {
		return errno
	}
	defer func() { _ = syscall.Close(file) }() // opened for its identity
	if !k.limits.writes(file) {
		return syscall.EACCES
	}
	return caller.as(func() syscall.Errno {
		if c.path < 0 { // the kernel says what an open file takes
			_, _, errno := syscall.RawSyscall(c.number, uintptr(file), uintptr(n.args[c.value]), uintptr(n.args[c.value+1]))
			return errno
		}
		empty := [1]byte{}
		if c.owner {
			_, _, errno := syscall.RawSyscall6(syscall.SYS_FCHOWNAT, uintptr(file), uintptr(unsafe.Pointer(&empty[0])), uintptr(n.args[c.value]), uintptr(n.args[c.value+1]), atEmptyPath, 0)
			return errno
		}
		itself := append([]byte("/proc/self/fd/"+strconv.Itoa(file)), 0)
		here := atHere
		_, _, errno := syscall.RawSyscall(syscall.SYS_FCHMODAT, uintptr(here), uintptr(unsafe.Pointer(&itself[0])), uintptr(n.args[c.value]))
		return errno
	})
}

// file opens what a call names, as the command sees it.
func (k *keeper) file(n *notification, c change, thread, group string) (fd int, _ syscall.Errno) {
	if c.path < 0 {
		return k.descriptor(int(int32(n.args[c.folder])), thread)
	}
	name, errno := k.text(n, thread, n.args[c.path])
	if errno != 0 {
		return 0, errno
	}
	flags := 0
	if c.flags >= 0 {
		flags = int(int32(n.args[c.flags]))
	}
	folder := atHere
	if c.folder >= 0 {
		folder = int(int32(n.args[c.folder]))
	}
	switch {
	case flags&^(atNoFollow|atEmptyPath) != 0:
		return 0, syscall.EINVAL
	case len(name) > 0 || flags&atEmptyPath == 0:
	case folder == atHere:
		name = "."
	default:
		return k.descriptor(folder, thread)
	}
	if len(name) == 0 {
		return 0, syscall.ENOENT
	}
	how := openPath | syscall.O_CLOEXEC
	if c.link || flags&atNoFollow != 0 {
		how |= syscall.O_NOFOLLOW
	}
	fd, err := syscall.Open(seenBy(thread, group, name, folder), how, 0)
	if errno, failed := err.(syscall.Errno); failed { //nolint:errorlint // Open returns nothing else
		return 0, errno
	}
	return fd, 0
}

// text copies a text out of the command's memory.
func (k *keeper) text(n *notification, thread string, at uint64) (string, syscall.Errno) {
	raw, errno := k.memory(n, thread, at, maxPath)
	if errno != 0 {
		return "", errno
	}
	text, _, ended := bytes.Cut(raw, []byte{0})
	switch {
	case !ended && len(raw) == maxPath:
		return "", syscall.ENAMETOOLONG
	case !ended:
		return "", syscall.EFAULT
	}
	return string(text), 0
}

// seenBy is where a name leads to that a thread gave: what the system calls the
// process itself would be this one here.
func seenBy(thread, group, name string, folder int) string {
	for _, own := range [][2]string{{"/proc/self/", group + "/"}, {"/proc/thread-self/", thread + "/"}, {"/dev/fd/", group + "/fd/"}} {
		if rest, ok := cutPrefix(name, own[0]); ok {
			return own[1] + rest
		}
	}
	switch {
	case name[0] == '/':
		return thread + "/root" + name
	case folder == atHere:
		return thread + "/cwd/" + name
	}
	return thread + "/fd/" + strconv.Itoa(folder) + "/" + name
}

// writes reports whether the limits let an open file be written, by where it lies
// now: nothing comes there from where the command may not write. What has no place,
// or none any more, is nobody's but the command's.
func (l limits) writes(fd int) bool {
	var stat syscall.Stat_t
	path, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd))
	if err != nil || syscall.Fstat(fd, &stat) != nil {
		return false
	}
	if !absolute(path) || stat.Nlink == 0 {
		return true
	}
	in := func(place string) bool { return within(place, path) }
	return slices.ContainsFunc(l.write, in) || slices.ContainsFunc(l.around, in) || slices.ContainsFunc(l.devices, in)
}

// caller is the process that asks, and with whose rights to files it does.
type caller struct {
	group     string
	user, ids int
}

func callerOf(thread string) (c caller, ok bool) {
	group, ok := groupOf(thread)
	if !ok {
		return c, false
	}
	c.group = "/proc/" + strconv.Itoa(group)
	raw, err := os.ReadFile(thread + "/status")
	if err != nil {
		return c, false
	}
	c.user, c.ids = -1, -1
	for line := range bytes.Lines(raw) {
		fields := bytes.Fields(line)
		if len(fields) != 5 {
			continue
		}
		// real, effective, saved, and that of file systems
		id, err := strconv.Atoi(string(fields[4]))
		switch {
		case err != nil:
		case string(fields[0]) == "Uid:":
			c.user = id
		case string(fields[0]) == "Gid:":
			c.ids = id
		}
	}
	return c, c.user >= 0 && c.ids >= 0
}

// as calls a function with the caller's rights to files. This process has no less
// than the command had; one of root's may have given up being root since.
func (c caller) as(f func() syscall.Errno) syscall.Errno {
	if c.user == os.Geteuid() && c.ids == os.Getegid() {
		return f()
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	_, _, _ = syscall.RawSyscall(syscall.SYS_SETFSGID, uintptr(c.ids), 0, 0)
	_, _, _ = syscall.RawSyscall(syscall.SYS_SETFSUID, uintptr(c.user), 0, 0)
	errno := f()
	_, _, _ = syscall.RawSyscall(syscall.SYS_SETFSUID, uintptr(os.Geteuid()), 0, 0)
	_, _, _ = syscall.RawSyscall(syscall.SYS_SETFSGID, uintptr(os.Getegid()), 0, 0)
	return errno
}
