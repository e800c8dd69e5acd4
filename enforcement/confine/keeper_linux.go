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

// The keeper makes the connections of a held command. A socket with a path leads
// to somebody who takes orders outside of the hold – a terminal multiplexer, a
// container service, a language server – and Landlock knows no right for it before
// version 9. So each connect(2) of the command is notified to this process, which
// makes it on the command's own descriptor, or refuses it. It is never let go on
// by itself: its address lies in memory that the command may change meanwhile.

// keeperArch are the numbers of this architecture, as linux/audit.h and the table
// of system calls have them; a test compares those that a library knows.
var keeperArch = map[string]struct{ audit, seccomp, statx uintptr }{
	"amd64": {0xc000003e, 317, 332},
	"arm64": {0xc00000b7, 277, 291},
}[runtime.GOARCH]

const (
	sysIOUringSetup = 425
	sysPidfdOpen    = 434
	sysPidfdGetfd   = 438

	seccompSetFilter   = 1
	seccompNewListener = 1 << 3
	seccompAllow       = 0x7fff0000
	seccompNotify      = 0x7fc00000
	seccompErrno       = 0x00050000

	notifReceive = 0xc0502100
	notifSend    = 0xc0182101
	notifValid   = 0x40082102

	ioctlSTI   = 0x5412 // TIOCSTI types into a terminal
	ioctlLinux = 0x541c // TIOCLINUX pastes into the console

	statxBirth   = 0x800
	atEmptyPath  = 0x1000
	foreignCalls = 0x40000000 // x32's begin here
)

// instruction is struct sock_filter.
type instruction struct {
	code   uint16
	yes    uint8
	no     uint8
	number uint32
}

// filter refuses what no command needs and reaches around the hold: typing into
// a terminal, foreign system calls, io_uring, and datagram sockets with a path,
// which send without connecting. With keep, connections are notified.
func filter(keep bool) []instruction {
	const (
		load, equal, atLeast, and, give = 0x20, 0x15, 0x35, 0x54, 0x06

		nr, arch, first, second = 0, 4, 16, 24
		// Where the parts begin, in the list below.
		ioctl, socket, allow, noCall, notPermitted, noAccess, notify = 10, 14, 19, 20, 21, 22, 23
	)
	to := func(at, target int) uint8 { return uint8(target - at - 1) }
	connect := notify
	if !keep {
		connect = allow
	}
	return []instruction{
		{load, 0, 0, arch},
		{equal, 0, to(1, noCall), uint32(keeperArch.audit)},
		{load, 0, 0, nr},
		{atLeast, to(3, noCall), 0, foreignCalls},
		{equal, to(4, connect), 0, syscall.SYS_CONNECT},
		{equal, to(5, notPermitted), 0, sysIOUringSetup},
		{equal, to(6, ioctl), 0, syscall.SYS_IOCTL},
		{equal, to(7, socket), 0, syscall.SYS_SOCKET},
		{equal, to(8, socket), 0, syscall.SYS_SOCKETPAIR},
		{give, 0, 0, seccompAllow},
		{load, 0, 0, second},
		{equal, to(11, notPermitted), 0, ioctlSTI},
		{equal, to(12, notPermitted), 0, ioctlLinux},
		{give, 0, 0, seccompAllow},
		{load, 0, 0, first},
		{equal, 0, to(15, allow), syscall.AF_UNIX},
		{load, 0, 0, second},
		{and, 0, 0, 0xf},
		{equal, to(18, noAccess), 0, syscall.SOCK_DGRAM},
		{give, 0, 0, seccompAllow},
		{give, 0, 0, seccompErrno | uint32(syscall.ENOSYS)},
		{give, 0, 0, seccompErrno | uint32(syscall.EPERM)},
		{give, 0, 0, seccompErrno | uint32(syscall.EACCES)},
		{give, 0, 0, seccompNotify},
	}
}

// keeper serves the notifications of one command.
type keeper struct {
	listener uintptr
	since    int64 // sockets made since then are the command's own; nanoseconds
	allowed  []syscall.Stat_t
	refused  chan string
	others   bool   // servers of other users, but root and the project's owner, are reached
	owner    uint32 // of the project
}

// keep lays the filter on the calling thread, which must be bound by
// no_new_privs, and serves its notifications. Inside another hold that one's
// keeper goes on serving.
func keep(o Options, began int64) *keeper {
	k := &keeper{since: began, refused: make(chan string, 1)}
	if o.Profile == Implementation {
		var stat syscall.Stat_t
		k.others = syscall.Stat(o.Project, &stat) == nil
		k.owner = stat.Uid
	}
	listener, ok := install(filter(true), true)
	if !ok {
		_, _ = install(filter(false), false)
		return k
	}
	k.listener = listener
	for _, path := range dailySockets(o) {
		var stat syscall.Stat_t
		if syscall.Stat(path, &stat) == nil {
			k.allowed = append(k.allowed, stat)
		}
	}
	go k.serve()
	return k
}

func install(program []instruction, listen bool) (listener uintptr, ok bool) {
	flags := uintptr(0)
	if listen {
		flags = seccompNewListener
	}
	prog := struct {
		size uint16
		list *instruction
	}{uint16(len(program)), &program[0]}
	fd, _, errno := syscall.Syscall(keeperArch.seccomp, seccompSetFilter, flags, uintptr(unsafe.Pointer(&prog)))
	runtime.KeepAlive(program)
	return fd, errno == 0
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
			go k.answer(n) // a connection may take its time
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
	a := answer{id: n.id, errno: -int32(k.connect(n))}
	_, _, _ = syscall.Syscall(syscall.SYS_IOCTL, k.listener, notifSend, uintptr(unsafe.Pointer(&a))) // whoever asked may be gone
}

// connect makes one connection for a command.
func (k *keeper) connect(n *notification) syscall.Errno {
	thread := "/proc/" + strconv.Itoa(int(n.pid))
	address, errno := k.address(n, thread)
	if errno != 0 {
		return errno
	}
	fd, errno := k.descriptor(n, thread)
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

// address copies the address out of the command's memory, once.
func (k *keeper) address(n *notification, thread string) ([]byte, syscall.Errno) {
	size := int(int32(n.args[2]))
	if size < 0 || size > 128 {
		return nil, syscall.EINVAL
	}
	memory, err := syscall.Open(thread+"/mem", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, syscall.EACCES
	}
	defer func() { _ = syscall.Close(memory) }() // only read
	// The number may be another process's by now, unless the call still waits.
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, k.listener, notifValid, uintptr(unsafe.Pointer(&n.id))); errno != 0 {
		return nil, syscall.EINTR
	}
	address := make([]byte, size)
	if read, err := syscall.Pread(memory, address, int64(n.args[1])); err != nil || read != size {
		return nil, syscall.EFAULT
	}
	return address, 0
}

// descriptor takes a copy of the command's socket.
func (k *keeper) descriptor(n *notification, thread string) (fd int, _ syscall.Errno) {
	group, ok := groupOf(thread)
	if !ok {
		return 0, syscall.EACCES
	}
	pidfd, _, errno := syscall.Syscall(sysPidfdOpen, uintptr(group), 0, 0)
	if errno != 0 {
		return 0, syscall.EACCES
	}
	defer func() { _ = syscall.Close(int(pidfd)) }() // only a handle
	got, _, errno := syscall.Syscall(sysPidfdGetfd, pidfd, uintptr(n.args[0]), 0)
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
// the command began, which no time can be set for, or one of a server that may do no
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
		same := func(a syscall.Stat_t) bool { return a.Dev == stat.Dev && a.Ino == stat.Ino }
		if stat.Mode&syscall.S_IFMT == syscall.S_IFSOCK && (slices.ContainsFunc(k.allowed, same) || born(fd) >= k.since || k.harmless(fd, socket)) {
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
