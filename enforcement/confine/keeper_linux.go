//go:build amd64 || arm64

package confine

import (
	"bytes"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"unsafe"
)

// The keeper makes the connections of a held command. A socket with a path leads
// to somebody who takes orders outside of the hold – a terminal multiplexer, a
// container service, a language server – and Landlock knows no right for it before
// version 9. So each connect(2) of the command is notified to this process, which
// makes it on the command's own descriptor, or refuses it. It is never let go on
// by itself: its address lies in memory that the command may change meanwhile. Nor
// does Landlock know a right to change a file's mode or owner; where the project is
// closed those calls come here as well (modes_linux.go).

// keeperArch are the numbers of this architecture, as linux/audit.h and the table
// of system calls have them; a test compares those that a library knows.
// Those that take a path alone are not on every one.
var keeperArch = map[string]struct{ audit, seccomp, statx, prlimit, chmod, chown, lchown uintptr }{
	"amd64": {0xc000003e, 317, 332, 302, 90, 92, 94},
	"arm64": {0xc00000b7, 277, 291, 261, 0, 0, 0},
}[runtime.GOARCH]

const keeps = true

const (
	sysPidfdOpen  = 434
	sysPidfdGetfd = 438

	notifReceive = 0xc0502100
	notifSend    = 0xc0182101
	notifValid   = 0x40082102
	notifGoOn    = 1 // SECCOMP_USER_NOTIF_FLAG_CONTINUE
	notifGive    = 0x40182103
	givenAnswers = 2 // SECCOMP_ADDFD_FLAG_SEND

	statxBirth  = 0x800
	atEmptyPath = 0x1000
)

// keeper serves the notifications of one command.
type keeper struct {
	listener uintptr
	since    int64 // sockets made before are not the command's own; nanoseconds
	allowed  []daily
	refused  chan string
	room     chan bool // one for each answer that is being found
	limits   limits    // whose files' modes may be changed
	others   bool      // servers of other users, but root and the project's owner, are reached
	owner    uint32    // of the project
	own      struct {  // sockets at which the command listened, by their number
		sync.Mutex
		sockets map[uint32]bool
	}
}

// maxAnswers bounds the connections that are made at once: each may need a thread,
// and a process that has too many ends.
const maxAnswers = 4096

// keep lays the filter on the calling thread, which must be bound by
// no_new_privs, and serves its notifications. Inside another hold that one's
// keeper goes on serving. A kernel that has no such filter or no notifications was
// found out by the probes; any other cause is an error.
func keep(o Options, l limits, began int64) (*keeper, error) {
	k := &keeper{since: began, limits: l, refused: make(chan string, 1), room: make(chan bool, maxAnswers)}
	if o.Profile == Implementation {
		var stat syscall.Stat_t
		k.others = syscall.Stat(o.Project, &stat) == nil
		k.owner = stat.Uid
	}
	listener, errno := install(filter(true, o.Profile != Implementation), true)
	if errno == syscall.EBUSY || absent(errno) {
		if _, errno = install(filter(false, o.Profile != Implementation), false); errno == 0 || absent(errno) {
			return k, nil
		}
	}
	if errno != 0 {
		return nil, wrong("confine: lay the filter of system calls", errno)
	}
	k.listener = listener
	for _, path := range dailySockets(o) {
		at, ok := steady(path, l.loose)
		var stat syscall.Stat_t
		if ok && syscall.Lstat(at, &stat) == nil {
			k.allowed = append(k.allowed, daily{stat, among(l.loose, at)})
		}
	}
	go k.serve()
	return k, nil
}

// absent says that a kernel does not know what it was asked for, or that a policy
// around this process has it from nobody.
func absent(errno syscall.Errno) bool {
	return slices.Contains([]syscall.Errno{syscall.EINVAL, syscall.ENOSYS, syscall.EPERM, syscall.EACCES}, errno)
}

// daily is a socket that daily work needs. In a folder that commands may write, one
// may have put another socket in its place.
type daily struct {
	syscall.Stat_t
	loose bool
}

func install(program []instruction, listen bool) (listener uintptr, errno syscall.Errno) {
	flags := uintptr(0)
	if listen {
		flags = seccompNewListener
	}
	prog := struct {
		size uint16
		list *instruction
	}{uint16(len(program)), &program[0]}
	listener, _, errno = syscall.Syscall(keeperArch.seccomp, seccompSetFilter, flags, uintptr(unsafe.Pointer(&prog)))
	runtime.KeepAlive(program)
	return listener, errno
}

// dailySockets are those outside that daily work needs: keys for ssh and
// signatures, and the service of names.
func dailySockets(o Options) []string {
	paths := []string{
		"/run/nscd/socket", "/var/run/nscd/socket", "/run/systemd/resolve/io.systemd.Resolve", "/run/systemd/userdb/io.systemd.Multiplexer",
		"/var/lib/sss/pipes/nss", "/var/lib/sss/pipes/pam",
	}
	if agent := o.getenv("SSH_AUTH_SOCK"); absolute(agent) {
		paths = append(paths, agent)
	}
	gnupg := o.getenv("GNUPGHOME")
	if gnupg == "" {
		gnupg = join(o.Home, ".gnupg")
	}
	runtimeDir := "/run/user/" + strconv.Itoa(os.Geteuid()) + "/gnupg"
	for _, dir := range []string{gnupg, runtimeDir} {
		paths = append(paths, join(dir, "S.gpg-agent"), join(dir, "S.keyboxd"), join(dir, "S.scdaemon"))
	}
	return paths
}

// notification is struct seccomp_notif, answer is struct seccomp_notif_resp.
type (
	notification struct {
		id         uint64
		pid, flags uint32
		nr         int32
		arch       uint32
		ip         uint64
		args       [6]uint64
	}
	answer struct {
		id           uint64
		value        int64
		errno, flags int32
	}
)

func (k *keeper) serve() {
	for {
		n := new(notification)
		_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, k.listener, notifReceive, uintptr(unsafe.Pointer(n)))
		switch errno {
		case 0:
			k.room <- true
			go func() { // a connection may take its time
				k.answer(n)
				<-k.room
			}()
		case syscall.EINTR:
		case syscall.ENOENT: // whoever asked is gone, or everybody is
			if k.deserted() {
				return
			}
		default:
			return
		}
	}
}

// deserted reports whether no process is left that the filter lies on. Since Linux
// 6.11 receiving does not wait then.
func (k *keeper) deserted() bool {
	const hangUp = 0x10
	look := struct {
		fd           int32
		want, result int16
	}{fd: int32(k.listener)}
	var none syscall.Timespec
	_, _, errno := syscall.Syscall6(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(&look)), 1, uintptr(unsafe.Pointer(&none)), 0, 0, 0)
	return errno == 0 && look.result&hangUp != 0
}

func (k *keeper) answer(n *notification) {
	a := answer{id: n.id}
	switch {
	case uintptr(n.nr) == syscall.SYS_LISTEN:
		k.heard(n, "/proc/"+strconv.Itoa(int(n.pid)))
		a.flags = notifGoOn
	case uintptr(n.nr) == syscall.SYS_CONNECT:
		a.errno = -int32(k.connect(n))
	case uintptr(n.nr) == syscall.SYS_IOCTL:
		errno := k.terminal(n)
		if errno == 0 {
			return // it was answered with the descriptor
		}
		a.errno = -int32(errno)
	case uintptr(n.nr) == keeperArch.prlimit:
		// The number of the process is a value, and its own limits are its own.
		if group, ok := groupOf("/proc/" + strconv.Itoa(int(n.pid))); ok && group == int(int32(n.args[0])) {
			a.flags = notifGoOn
		} else {
			a.errno = -int32(syscall.EPERM)
		}
	default:
		a.errno = -int32(k.change(n))
	}
	_, _, _ = syscall.Syscall(syscall.SYS_IOCTL, k.listener, notifSend, uintptr(unsafe.Pointer(&a))) // whoever asked may be gone
}

// connect makes one connection for a command.
func (k *keeper) connect(n *notification) syscall.Errno {
	thread := "/proc/" + strconv.Itoa(int(n.pid))
	address, errno := k.address(n, thread)
	if errno != 0 {
		return errno
	}
	fd, errno := k.descriptor(int(int32(n.args[0])), thread)
	if errno != 0 {
		return errno
	}
	defer func() { _ = syscall.Close(fd) }() // a copy of the command's
	if len(address) >= 2 && address[0] == syscall.AF_UNIX && address[1] == 0 {
		path, _, _ := bytes.Cut(address[2:], []byte{0})
		if len(path) == 0 {
			return syscall.EACCES // without a path: who listens cannot be told
		}
		place, errno := k.place(string(path), thread, fd)
		if errno != 0 {
			return errno
		}
		defer func() { _ = syscall.Close(place) }() // opened for its identity
		address = append([]byte{syscall.AF_UNIX, 0}, "/proc/self/fd/"+strconv.Itoa(place)+"\x00"...)
	}
	if len(address) == 0 {
		return syscall.EINVAL
	}
	_, _, errno = syscall.Syscall(syscall.SYS_CONNECT, uintptr(fd), uintptr(unsafe.Pointer(&address[0])), uintptr(len(address)))
	return errno
}

// terminal opens the other end of a terminal that the command made, and answers with it.
func (k *keeper) terminal(n *notification) syscall.Errno {
	made, errno := k.descriptor(int(int32(n.args[0])), "/proc/"+strconv.Itoa(int(n.pid)))
	if errno != 0 {
		return errno
	}
	defer func() { _ = syscall.Close(made) }() // a copy of the command's
	end, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(made), ioctlPeer, uintptr(n.args[2])|syscall.O_NOCTTY|syscall.O_CLOEXEC)
	if errno != 0 {
		return errno
	}
	defer func() { _ = syscall.Close(int(end)) }() // the command has its own
	give := struct {                               // seccomp_notif_addfd
		id                      uint64
		flags, from, to, onExec uint32
	}{n.id, givenAnswers, uint32(end), 0, uint32(n.args[2]) & syscall.O_CLOEXEC}
	_, _, errno = syscall.Syscall(syscall.SYS_IOCTL, k.listener, notifGive, uintptr(unsafe.Pointer(&give)))
	return errno
}

// address copies the address out of the command's memory, once.
func (k *keeper) address(n *notification, thread string) ([]byte, syscall.Errno) {
	size := int(int32(n.args[2]))
	if size < 0 || size > 128 {
		return nil, syscall.EINVAL
	}
	address, errno := k.memory(n, thread, n.args[1], size)
	if errno == 0 && len(address) != size {
		return nil, syscall.EFAULT
	}
	return address, errno
}

// memory copies what lies at a place of the command's memory, up to so many bytes.
func (k *keeper) memory(n *notification, thread string, at uint64, most int) ([]byte, syscall.Errno) {
	memory, err := syscall.Open(thread+"/mem", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, syscall.EACCES
	}
	defer func() { _ = syscall.Close(memory) }() // only read
	// The number may be another process's by now, unless the call still waits.
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, k.listener, notifValid, uintptr(unsafe.Pointer(&n.id))); errno != 0 {
		return nil, syscall.EINTR
	}
	copied := make([]byte, most)
	read, err := syscall.Pread(memory, copied, int64(at))
	if err != nil || read < 0 {
		return nil, syscall.EFAULT
	}
	return copied[:read], 0
}

// descriptor takes a copy of one of the command's.
func (k *keeper) descriptor(of int, thread string) (fd int, _ syscall.Errno) {
	group, ok := groupOf(thread)
	if !ok {
		return 0, syscall.EACCES
	}
	pidfd, _, errno := syscall.Syscall(sysPidfdOpen, uintptr(group), 0, 0)
	if errno != 0 {
		return 0, syscall.EACCES
	}
	defer func() { _ = syscall.Close(int(pidfd)) }() // only a handle
	got, _, errno := syscall.Syscall(sysPidfdGetfd, pidfd, uintptr(of), 0)
	if errno == 0 {
		return int(got), 0
	}
	if errno == syscall.EBADF {
		return 0, errno
	}
	return 0, syscall.EACCES
}

// groupOf is the process of a thread.
func groupOf(thread string) (pid int, ok bool) {
	raw, err := os.ReadFile(thread + "/status")
	if err != nil {
		return 0, false
	}
	for line := range bytes.Lines(raw) {
		if value, found := bytes.CutPrefix(line, []byte("Tgid:")); found {
			pid, err = strconv.Atoi(string(bytes.TrimSpace(value)))
			return pid, err == nil
		}
	}
	return 0, false
}

// place opens the socket that a path of the command leads to, as the command sees
// it, if the command may reach it: one of the daily ones, one that was made since
// the command began, which no time can be set for, by the command itself, or one of a server that may do no
// more than the command. socket is the command's own.
func (k *keeper) place(path, thread string, socket int) (fd int, _ syscall.Errno) {
	at := thread + "/root" + path
	if path[0] != '/' {
		at = thread + "/cwd/" + path
	}
	fd, err := syscall.Open(at, openPath|syscall.O_CLOEXEC, 0)
	if err != nil {
		if errno, ok := err.(syscall.Errno); ok { //nolint:errorlint // Open returns nothing else
			return 0, errno
		}
		return 0, syscall.EACCES
	}
	var stat syscall.Stat_t
	if syscall.Fstat(fd, &stat) == nil {
		same := func(a daily) bool {
			return a.Dev == stat.Dev && a.Ino == stat.Ino && (!a.loose || keepsKeys(fd, socket))
		}
		if stat.Mode&syscall.S_IFMT == syscall.S_IFSOCK && (slices.ContainsFunc(k.allowed, same) || born(fd) >= k.since && k.listensItself(stat) || k.harmless(fd, socket)) {
			return fd, 0
		}
	}
	_ = syscall.Close(fd) // opened for its identity
	select {
	case k.refused <- path:
	default: // one is told
	}
	return 0, syscall.EACCES
}

// born is when a file was made, in nanoseconds, 0 where its file system does not
// keep it.
func born(fd int) int64 {
	var is struct { // struct statx, as far as it is used
		mask uint32
		_    [76]byte // sizes, attributes, owner, mode, inode, the last access
		born struct {
			seconds     int64
			nanoseconds uint32
			_           uint32
		}
		_ [160]byte
	}
	empty := [1]byte{}
	_, _, errno := syscall.Syscall6(keeperArch.statx, uintptr(fd), uintptr(unsafe.Pointer(&empty[0])), atEmptyPath, statxBirth, uintptr(unsafe.Pointer(&is)), 0)
	if errno != 0 || is.mask&statxBirth == 0 {
		return 0
	}
	return is.born.seconds*1e9 + int64(is.born.nanoseconds)
}

// told is a socket that the command was refused, "" for none.
func (k *keeper) told() string {
	select {
	case path := <-k.refused:
		return path
	default:
		return ""
	}
}
