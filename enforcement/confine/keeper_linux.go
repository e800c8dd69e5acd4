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
var keeperArch = map[string]struct{ audit, seccomp, statx, prlimit, memfd, schedule, renameat2, chmod, chown, lchown, symlink, rename, sendmmsg uintptr }{
	"amd64": {0xc000003e, 317, 332, 302, 319, 314, 316, 90, 92, 94, 88, 82, 307},
	"arm64": {0xc00000b7, 277, 291, 261, 279, 274, 276, 0, 0, 0, 0, 0, 269},
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

	memfdCloseOnExec = 1

	statxBirth  = 0x800
	atEmptyPath = 0x1000
)

// keeper serves the notifications of one command.
type keeper struct {
	listener uintptr
	legacy   uintptr
	since    int64 // sockets made before are not the command's own; nanoseconds
	daily    func() []daily
	refused  chan string
	room     chan bool // one for each answer that is being found
	limits   limits    // whose files' modes may be changed
	others   bool      // servers of other users, but root and the project's owner, are reached
	owner    uint32    // of the project
	doors    string    // the file with the ports at which a person acts on Writ
	own      struct {  // sockets at which the command listened, by their number
		sync.Mutex
		sockets map[uint32]bool
	}
	waiting struct { // calls that were not answered yet
		sync.Mutex
		calls  map[uint64]bool
		closed bool // another process answers those to come
	}
	stop    [2]int // a pipe that is closed to stop
	serving bool   // under waiting's lock
	above   int    // the process above the command
}

// maxAnswers bounds the connections that are made at once: each may need a thread,
// and a process that has too many ends.
const maxAnswers = 4096

// sysSeccomp is read where nothing but system calls is made.
var sysSeccomp = keeperArch.seccomp

// newKeeper is one for a command that began at a time.
func newKeeper(o Options, l limits, began int64) *keeper {
	k := &keeper{listener: listenerFd, since: began, limits: l, refused: make(chan string, 1), room: make(chan bool, maxAnswers), stop: [2]int{-1, -1}, doors: Doors(o.DataDir)}
	k.own.sockets, k.waiting.calls = map[uint32]bool{}, map[uint64]bool{}
	if o.Profile == Implementation {
		var stat syscall.Stat_t
		k.others = syscall.Stat(o.Project, &stat) == nil
		k.owner = stat.Uid
	}
	k.daily = sync.OnceValue(func() (all []daily) {
		for _, path := range dailySockets(o) {
			at, ok := steady(path, l.loose)
			var stat syscall.Stat_t
			if ok && syscall.Lstat(at, &stat) == nil {
				all = append(all, daily{stat, among(l.loose, at)})
			}
		}
		return all
	})
	return k
}

// filters are the one whose calls are notified to a keeper, and the one inside another
// hold, whose keeper goes on serving.
func filters(o Options) (notified, alone filterProgram) {
	closed := o.Profile != Implementation
	of := func(program []instruction) filterProgram { return filterProgram{uint16(len(program)), &program[0]} }
	return of(filter(true, closed)), of(filter(false, closed))
}

// daily is a socket that daily work needs. In a folder that commands may write, one
// may have put another socket in its place.
type daily struct {
	syscall.Stat_t
	loose bool
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

// begin begins to serve beside what else this process does.
func (k *keeper) begin() {
	if syscall.Pipe2(k.stop[:], syscall.O_CLOEXEC) != nil {
		k.stop = [2]int{-1, -1} // it cannot be stopped, but by its process's end
	}
	k.serving = true
	go func() {
		k.serve()
		k.waiting.Lock()
		k.serving = false
		k.waiting.Unlock()
	}()
}

// bequeath keeps the limits for the process that may go on, where none of them is made
// anew: each with a letter before it and a zero behind it. It returns the descriptor of
// that, and one that is kept free for the listener.
func (k *keeper) bequeath() (listener, legacy uintptr, err error) {
	name := [1]byte{}
	memory, _, errno := syscall.Syscall(keeperArch.memfd, uintptr(unsafe.Pointer(&name)), memfdCloseOnExec, 0)
	if errno != 0 {
		return 0, 0, errno
	}
	defer func() { _ = syscall.Close(int(memory)) }()
	for _, reserved := range []*uintptr{&k.listener, &k.legacy} {
		if *reserved, err = fcntlWith(memory, syscall.F_DUPFD_CLOEXEC, legacyFd+1); err != nil {
			return 0, 0, err
		}
	}
	var all []byte
	for _, path := range slices.Concat(k.limits.write, k.limits.around, k.limits.devices) {
		all = append(append(append(all, 'w'), path...), 0)
	}
	for _, path := range k.limits.loose {
		all = append(append(append(all, 'l'), path...), 0)
	}
	for _, path := range k.limits.shared {
		all = append(append(append(all, 't'), path...), 0)
	}
	_, err = syscall.Write(int(memory), all)
	return k.listener, k.legacy, err
}

// handOver lets another process go on, which is told at which sockets the command
// listens. A call that takes longer was interrupted, for whoever made it.
func (k *keeper) handOver() {
	_ = syscall.Close(k.stop[1]) // none where it did not begin
	for waited := 0; waited < farewell && k.busy(); waited++ {
		pause(1)
	}
	k.waiting.Lock()
	defer k.waiting.Unlock()
	k.waiting.closed = true
	for id := range k.waiting.calls {
		k.interrupt(id)
	}
	clear(k.waiting.calls)
	k.own.Lock()
	defer k.own.Unlock()
	var all []byte
	for socket := range k.own.sockets {
		all = append(strconv.AppendUint(append(all, 's'), uint64(socket), 10), 0)
	}
	_, _ = syscall.Write(int(k.legacy), all)
}

// interrupt has whoever made a call make it again.
func (k *keeper) interrupt(id uint64) {
	a := answer{id: id, errno: -int32(syscall.EINTR)}
	_, _, _ = syscall.Syscall(syscall.SYS_IOCTL, k.listener, notifSend, uintptr(unsafe.Pointer(&a))) // whoever asked may be gone
}

// farewell is how many milliseconds answers may still take when another process goes on.
const farewell = 20

func (k *keeper) busy() bool {
	k.waiting.Lock()
	defer k.waiting.Unlock()
	return k.serving || len(k.waiting.calls) > 0
}

// heir is a keeper that serves in the place of another process, which has ended.
func heir(o Options) *keeper {
	var stat syscall.Stat_t
	if syscall.Fstat(legacyFd, &stat) != nil {
		stat.Size = 0
	}
	all := make([]byte, stat.Size)
	n, _ := syscall.Pread(legacyFd, all, 0)
	var l limits
	sockets := map[uint32]bool{}
	for part := range bytes.SplitSeq(all[:max(n, 0)], []byte{0}) {
		if len(part) == 0 {
			continue
		}
		switch path := string(part[1:]); part[0] {
		case 'w':
			l.write = append(l.write, path)
		case 'l':
			l.loose = append(l.loose, path)
		case 't':
			l.shared = append(l.shared, path)
		case 's':
			number, _ := strconv.ParseUint(path, 10, 32) // of our own writing
			sockets[uint32(number)] = true
		}
	}
	k := newKeeper(o, l, o.Since)
	k.own.sockets = sockets
	return k
}

// serve answers until nobody is left that asks, or another process goes on.
func (k *keeper) serve() {
	look := []looked{{fd: int32(k.listener), want: pollIn}, {fd: int32(k.stop[0]), want: pollIn}}
	for {
		switch errno := poll(look, -1); {
		case errno == syscall.EINTR: // what was found is of the time before
		case errno != 0 || look[1].found != 0:
			return
		case look[0].found&pollIn != 0:
			if !k.receive() {
				return
			}
		case look[0].found != 0: // everybody is gone
			return
		}
	}
}

// receive takes a call and has it answered; ok is false where the descriptor is none of
// a listener.
func (k *keeper) receive() (ok bool) {
	n := new(notification)
	switch _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, k.listener, notifReceive, uintptr(unsafe.Pointer(n))); errno {
	case 0:
	case syscall.ENOTTY, syscall.EBADF, syscall.EINVAL:
		return false
	default:
		return true // whoever asked is gone
	}
	k.waiting.Lock()
	closed := k.waiting.closed
	if !closed {
		k.waiting.calls[n.id] = true
	}
	k.waiting.Unlock()
	if closed {
		k.interrupt(n.id)
		return true
	}
	k.room <- true
	go func() { // a connection may take its time
		k.answer(n)
		<-k.room
	}()
	return true
}

func (k *keeper) answer(n *notification) {
	a := answer{id: n.id}
	switch {
	case uintptr(n.nr) == syscall.SYS_LISTEN:
		k.heard(n, "/proc/"+strconv.Itoa(int(n.pid)))
		a.flags = notifGoOn
	case laying[uintptr(n.nr)] != nil:
		if made, errno := laying[uintptr(n.nr)](k, n); made {
			a.errno = -int32(errno)
		} else {
			a.flags = notifGoOn
		}
	case uintptr(n.nr) == syscall.SYS_CONNECT:
		go k.watch(n)
		a.errno = -int32(k.connect(n))
	case uintptr(n.nr) == syscall.SYS_IOCTL:
		errno := k.terminal(n)
		if errno == 0 {
			k.answered(n.id)
			return // with the descriptor
		}
		a.errno = -int32(errno)
	case whose[uintptr(n.nr)] != 0:
		// The number of the process is a value, and what the command started is its own.
		if k.holds(int(int32(n.args[whose[uintptr(n.nr)]-1]))) {
			a.flags = notifGoOn
		} else {
			a.errno = -int32(syscall.EPERM)
		}
	default:
		a.errno = -int32(k.change(n))
	}
	if k.answered(n.id) {
		_, _, _ = syscall.Syscall(syscall.SYS_IOCTL, k.listener, notifSend, uintptr(unsafe.Pointer(&a))) // whoever asked may be gone
	}
}

// signalLook is how often it is looked, in milliseconds, whether a signal came for who
// waits for a connection.
const signalLook = 100

// watch ends the wait for a connection once a signal comes for who waits. A call is not
// interrupted otherwise after it came here: one that makes or moves a link would be made
// twice.
func (k *keeper) watch(n *notification) {
	for pause(signalLook); k.waits(n.id); pause(signalLook) {
		if signalled("/proc/" + strconv.Itoa(int(n.pid))) {
			if k.answered(n.id) {
				k.interrupt(n.id)
			}
			return
		}
	}
}

func (k *keeper) waits(id uint64) bool {
	k.waiting.Lock()
	defer k.waiting.Unlock()
	return k.waiting.calls[id]
}

// signalled reports whether a signal that a thread does not block waits for it.
func signalled(thread string) bool {
	raw, err := os.ReadFile(thread + "/status")
	if err != nil {
		return false
	}
	sets := map[string]uint64{}
	for line := range bytes.Lines(raw) {
		if name, value, found := bytes.Cut(line, []byte(":")); found {
			sets[string(name)], _ = strconv.ParseUint(string(bytes.TrimSpace(value)), 16, 64) // 0 for what is no set
		}
	}
	return (sets["SigPnd"]|sets["ShdPnd"])&^sets["SigBlk"] != 0
}

// answered notes that a call is answered; ok is false where it was before.
func (k *keeper) answered(id uint64) (ok bool) {
	k.waiting.Lock()
	defer k.waiting.Unlock()
	ok = k.waiting.calls[id]
	delete(k.waiting.calls, id)
	return ok
}

// holds reports whether a process, or one of its threads, was started by the command.
func (k *keeper) holds(thread int) bool {
	pid, ok := groupOf("/proc/" + strconv.Itoa(thread))
	for above := 0; ok && above < maxAbove; above++ {
		if pid, ok = parentOf(pid); pid == k.above {
			return ok
		}
	}
	return false
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
	if k.isDoor(address) {
		return syscall.EACCES
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
		if stat.Mode&syscall.S_IFMT == syscall.S_IFSOCK && (slices.ContainsFunc(k.daily(), same) || born(fd) >= k.since && k.listensItself(stat) || k.harmless(fd, socket)) {
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
