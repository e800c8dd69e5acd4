package confine

import (
	"errors"
	"os"
	"slices"
	"strconv"
	"syscall"
	"unsafe"
)

// Rights of Landlock, as linux/landlock.h names them.
const (
	rightRead  = accessReadFile
	rightFile  = accessWriteFile | accessTruncate
	rightWrite = rightFile |
		accessRemoveDir | accessRemoveFile |
		accessMakeDir | accessMakeReg |
		accessMakeSock | accessMakeFifo |
		accessMakeSym | accessRefer
	// rightNever is granted nowhere: a device node made in a temp folder would
	// be a way to the disk under every file.
	rightNever = accessMakeChar | accessMakeBlock
)

// Versions of Landlock's interface that brought what is used here.
const (
	abiRefer    = 2 // renames and links between folders
	abiTruncate = 3 // truncate(2); before, any file could be emptied
	abiScoped   = 6 // abstract sockets and signals of processes outside
)

// Supported returns the version of Landlock's interface that the kernel
// offers, 0 for none, and what is missing; why is "" where nothing is.
func Supported() (abi int, why string) {
	version, _, errno := syscall.Syscall(sysLandlockCreate, 0, 0, landlockVersion)
	switch {
	case errno == syscall.ENOSYS:
		return 0, "the kernel has no Landlock, which came with Linux 5.13"
	case errno == syscall.EOPNOTSUPP:
		return 0, `Landlock is switched off at boot: add it to the kernel's "lsm=" list`
	case errno == syscall.EPERM || errno == syscall.EACCES:
		return 0, "a filter around this process, such as a container's, refuses Landlock's system calls"
	case errno != 0:
		return 0, "Landlock does not answer: " + errno.Error()
	}
	switch abi = int(version); {
	case abi < abiRefer:
		return abi, "Landlock 1 (before Linux 5.19): files cannot be moved between folders, and any file can be emptied"
	case abi < abiTruncate:
		return abi, "Landlock 2 (before Linux 6.2): any file can be emptied"
	case abi < abiScoped:
		return abi, "Landlock " + strconv.Itoa(abi) + " (before Linux 6.12): abstract sockets outside can be reached"
	}
	return abi, ""
}

// ruleset is a set of rules, not yet applied to anybody.
type ruleset struct {
	fd      int
	handled uint64
}

func newRuleset(abi int, signals bool) (*ruleset, error) {
	attr := rulesetAttr{fs: rightRead | rightWrite | rightNever}
	if abi < abiRefer {
		attr.fs &^= accessRefer
	}
	if abi < abiTruncate {
		attr.fs &^= accessTruncate
	}
	size := unsafe.Offsetof(attr.net)
	if abi >= abiScoped {
		attr.scoped = landlockAbstract
		if !signals {
			attr.scoped |= landlockSignal
		}
		size = unsafe.Sizeof(attr)
	}
	fd, _, errno := syscall.Syscall(sysLandlockCreate, uintptr(unsafe.Pointer(&attr)), size, 0)
	if errno != 0 {
		return nil, wrong("confine: make a ruleset", errno)
	}
	return &ruleset{fd: int(fd), handled: attr.fs}, nil
}

// allow grants rights on a file, or on a folder with all that is in it. What
// does not exist, or cannot be opened by this user, needs no rule.
func (r *ruleset) allow(path string, rights uint64) error {
	return r.allowAt(path, rights, func(int) bool { return true })
}

// allowJudged is allow for a path that was found by following links. Where a link
// was laid in its way since, what stands there now was not judged and gets no rule.
func (r *ruleset) allowJudged(path string, rights uint64) error {
	return r.allowAt(path, rights, func(fd int) bool { return liesAt(fd, path) })
}

// liesAt reports whether an open file lies at a path, with no link on the way. The
// system names it as it is written on disks for which names that differ in case are
// one.
func liesAt(fd int, path string) bool {
	at, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd))
	return err == nil && (at == path || lower(at) == lower(path))
}

func (r *ruleset) allowAt(path string, rights uint64, judged func(fd int) bool) error {
	fd, err := syscall.Open(path, openPath|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil //nolint:nilerr // nobody can use what cannot be reached
	}
	defer func() { _ = syscall.Close(fd) }() // nothing is buffered
	if !judged(fd) {
		return nil
	}
	errno := r.grant(fd, rights)
	if errors.Is(errno, syscall.EINVAL) && rights&^(rightRead|rightFile) != 0 {
		// Most are folders, and only of those all rights can be granted.
		errno = r.grant(fd, rights&(rightRead|rightFile))
	}
	// Files without a place in a file system, such as pipes, are never refused.
	if errno != 0 && !errors.Is(errno, syscall.EBADFD) {
		return wrong("confine: a rule for "+path, errno)
	}
	return nil
}

func (r *ruleset) grant(fd int, rights uint64) syscall.Errno {
	rule := beneathAttr{access: rights & r.handled, fd: int32(fd)}
	_, _, errno := syscall.RawSyscall6(sysLandlockAdd, uintptr(r.fd), landlockPathBeneath, uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	return errno
}

// fill adds the rules of limits: what is written, and that all but what is
// hidden can be read.
func (r *ruleset) fill(l limits, open bool) error {
	for _, path := range l.devices {
		if err := r.allow(path, rightRead|rightFile); err != nil {
			return err
		}
	}
	for _, path := range slices.Concat(l.write, l.around) {
		rights := uint64(rightRead | rightWrite)
		if slices.Contains(l.around, path) {
			rights &^= accessRemoveDir
		}
		if slices.Contains(l.shared, path) {
			rights &^= accessMakeSym
		}
		if err := r.allowJudged(path, rights); err != nil {
			return err
		}
	}
	for fd := range 3 {
		if err := r.allowOpen(fd); err != nil {
			return err
		}
	}
	for _, path := range spread("/", append([]string{"/dev"}, l.hidden...)) {
		if err := r.allow(path, rightRead); err != nil {
			return err
		}
	}
	for _, path := range l.reveal {
		if err := r.allow(path, rightRead); err != nil {
			return err
		}
	}
	if open && os.Geteuid() != 0 {
		// Of the files there an ordinary user may write only those of his own
		// processes, which user namespaces need; root's set up the kernel. One says whom
		// the kernel ends first where memory is short, hooks among them.
		return r.allow("/proc", rightFile)
	}
	return nil
}

// allowOpen lets programs open anew, as /dev/stdout, what the host gave them
// for writing.
func (r *ruleset) allowOpen(fd int) error {
	flags, err := fcntl(fd, syscall.F_GETFL)
	var stat syscall.Stat_t
	if err != nil || flags&syscall.O_ACCMODE == syscall.O_RDONLY || syscall.Fstat(fd, &stat) != nil {
		return nil //nolint:nilerr // a stream that is closed or only read needs no rule
	}
	switch path := "/proc/self/fd/" + strconv.Itoa(fd); stat.Mode & syscall.S_IFMT {
	case syscall.S_IFREG:
		return r.allow(path, rightFile)
	case syscall.S_IFCHR: // a terminal
		return r.allow(path, rightFile|rightRead)
	}
	return nil
}

// reaching are the capabilities that lead around path rules, into other
// processes, to what others send over the network, to the clock that events are
// dated by or to a host's terminal, which vhangup(2) takes from it: of root alone, and of no use to builds and tests.
var reaching = []uintptr{
	capSysAdmin, capSysPtrace, capSysRawio, capSysModule, capSysBoot,
	capDacReadSearch, capMacAdmin, capMacOverride, capMknod, capSyslog,
	capPerfmon, capBpf, capCheckpointRestore, capLinuxImmutable, capSysPacct, capSysTime, capSysNice, capNetAdmin, capNetRaw, capSysTTYConfig,
}

// capabilities are what capget(2) and capset(2) take: who, and 64 bits in two halves.
type capabilities struct {
	version uint32
	_       int32 // the calling thread
	sets    [2]struct{ effective, permitted, inheritable uint32 }
}

// disinherited are the capabilities of the calling thread without some of those that it
// hands on, nil where it hands on none of them. Root hands on whatever of those it has,
// bounded or not, and older container services start their programs with some.
func disinherited(which []uintptr) (*capabilities, error) {
	all := &capabilities{version: capVersion3}
	if _, _, errno := syscall.RawSyscall(syscall.SYS_CAPGET, uintptr(unsafe.Pointer(&all.version)), uintptr(unsafe.Pointer(&all.sets)), 0); errno != 0 {
		return nil, errno
	}
	found := false
	for _, capability := range which {
		half, bit := &all.sets[capability/32].inheritable, uint32(1)<<(capability%32)
		found = found || *half&bit != 0
		*half &^= bit
	}
	if !found {
		return nil, nil
	}
	return all, nil
}
