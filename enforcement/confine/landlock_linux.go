package confine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Rights of Landlock, as linux/landlock.h names them.
const (
	rightRead  = unix.LANDLOCK_ACCESS_FS_READ_FILE
	rightFile  = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	rightWrite = rightFile |
		unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG |
		unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO |
		unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_REFER
	// rightNever is granted nowhere: a device node made in a temp folder would
	// be a way to the disk under every file.
	rightNever = unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK
)

// Versions of Landlock's interface that brought what is used here.
const (
	abiRefer    = 2 // renames and links between folders
	abiTruncate = 3 // truncate(2); before, any file could be emptied
	abiScoped   = 6 // abstract sockets of processes outside
)

// Supported returns the version of Landlock's interface that the kernel
// offers, 0 for none, and what is missing; why is "" where nothing is.
func Supported() (abi int, why string) {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	switch {
	case errno == unix.ENOSYS:
		return 0, "the kernel has no Landlock, which came with Linux 5.13"
	case errno == unix.EOPNOTSUPP:
		return 0, `Landlock is switched off at boot: add it to the kernel's "lsm=" list`
	case errno == unix.EPERM || errno == unix.EACCES:
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
		return abi, fmt.Sprintf("Landlock %d (before Linux 6.12): abstract sockets outside can be reached", abi)
	}
	return abi, ""
}

// ruleset is a set of rules, not yet applied to anybody.
type ruleset struct {
	fd      int
	handled uint64
}

func newRuleset(abi int) (*ruleset, error) {
	attr := unix.LandlockRulesetAttr{Handled_access_fs: rightRead | rightWrite | rightNever}
	if abi < abiRefer {
		attr.Handled_access_fs &^= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if abi < abiTruncate {
		attr.Handled_access_fs &^= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	size := unsafe.Offsetof(attr.Handled_access_net)
	if abi >= abiScoped {
		attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET
		size = unsafe.Offsetof(attr.Scoped) + unsafe.Sizeof(attr.Scoped)
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if errno != 0 {
		return nil, fmt.Errorf("confine: make a ruleset: %w", errno)
	}
	return &ruleset{fd: int(fd), handled: attr.Handled_access_fs}, nil
}

func (r *ruleset) close() { _ = unix.Close(r.fd) }

// allow grants rights on a file, or on a folder with all that is in it. What
// does not exist, or cannot be opened by this user, needs no rule.
func (r *ruleset) allow(path string, rights uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil //nolint:nilerr // nobody can use what cannot be reached
	}
	defer func() { _ = unix.Close(fd) }() // nothing is buffered
	// Most are folders, and only of those all rights can be granted.
	if rights&^(rightRead|rightFile) != 0 {
		if errno := r.grant(fd, rights); errno == 0 {
			return nil
		}
	}
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return fmt.Errorf("confine: %s: %w", path, err)
	}
	switch stat.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
	case unix.S_IFREG, unix.S_IFCHR, unix.S_IFIFO:
		rights &= rightRead | rightFile
	default:
		return nil
	}
	// Files without a place in a file system, such as pipes, are never refused.
	if errno := r.grant(fd, rights); errno != 0 && !errors.Is(errno, unix.EBADFD) {
		return fmt.Errorf("confine: a rule for %s: %w", path, errno)
	}
	return nil
}

func (r *ruleset) grant(fd int, rights uint64) unix.Errno {
	rule := unix.LandlockPathBeneathAttr{Allowed_access: rights & r.handled, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(r.fd), unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	return errno
}

// fill adds the rules of limits: what is written, and that all but what is
// hidden can be read.
func (r *ruleset) fill(l limits) error {
	for _, path := range l.write {
		if err := r.allow(path, rightRead|rightWrite); err != nil {
			return err
		}
	}
	for fd := range 3 {
		if err := r.allowOpen(fd); err != nil {
			return err
		}
	}
	for _, path := range spread("/", append(rawDevices(), l.hidden...)) {
		if console(path) {
			continue
		}
		if err := r.allow(path, rightRead); err != nil {
			return err
		}
	}
	for _, path := range l.reveal {
		if err := r.allow(path, rightRead); err != nil {
			return err
		}
	}
	if os.Geteuid() != 0 {
		// Of the files there an ordinary user may write only those of his own
		// processes; root's set up the kernel.
		return r.allow("/proc", rightFile)
	}
	return nil
}

// allowOpen lets programs open anew, as /dev/stdout, what the host gave them
// for writing.
func (r *ruleset) allowOpen(fd int) error {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	var stat unix.Stat_t
	if err != nil || flags&unix.O_ACCMODE == unix.O_RDONLY || unix.Fstat(fd, &stat) != nil {
		return nil //nolint:nilerr // a stream that is closed or only read needs no rule
	}
	if kind := stat.Mode & unix.S_IFMT; kind != unix.S_IFREG && kind != unix.S_IFCHR {
		return nil
	}
	return r.allow("/proc/self/fd/"+strconv.Itoa(fd), rightFile)
}

// rawDevices are the devices that show disks and memory as they are, under all
// file systems. They matter where this user may read them.
func rawDevices() []string {
	entries, err := os.ReadDir("/dev")
	if err != nil {
		return nil
	}
	var raw []string
	for _, e := range entries {
		path := filepath.Join("/dev", e.Name())
		block := e.Type()&(os.ModeDevice|os.ModeCharDevice) == os.ModeDevice
		switch e.Name() {
		case "mem", "kmem", "port", "mapper":
			block = true
		}
		if block && unix.Access(path, unix.R_OK) == nil {
			raw = append(raw, path)
		}
	}
	return raw
}

// console reports whether a device is a console of the machine itself, of which
// there are many and which no build reads. It spares a rule for each.
func console(path string) bool {
	name, ok := strings.CutPrefix(path, "/dev/")
	if !ok {
		return false
	}
	number, isTTY := strings.CutPrefix(name, "tty")
	return isTTY && number != "" && strings.Trim(number, "0123456789") == "" || strings.HasPrefix(name, "vcs")
}

// reaching are the capabilities that lead around path rules or into other
// processes: of root alone, and of no use to builds and tests.
var reaching = []uintptr{
	unix.CAP_SYS_ADMIN, unix.CAP_SYS_PTRACE, unix.CAP_SYS_RAWIO, unix.CAP_SYS_MODULE, unix.CAP_SYS_BOOT,
	unix.CAP_DAC_READ_SEARCH, unix.CAP_MAC_ADMIN, unix.CAP_MAC_OVERRIDE, unix.CAP_MKNOD, unix.CAP_SYSLOG,
	unix.CAP_PERFMON, unix.CAP_BPF, unix.CAP_CHECKPOINT_RESTORE,
}

// apply confines the calling thread, and what it starts, for good.
func (r *ruleset) apply() error {
	for _, capability := range reaching {
		// Only who may drop it could have used it: an ordinary user's refusal,
		// and a kernel that does not know it, are fine.
		_ = unix.Prctl(unix.PR_CAPBSET_DROP, capability, 0, 0, 0)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("confine: no new privileges: %w", err)
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(r.fd), 0, 0); errno != 0 {
		if errno == unix.E2BIG {
			return fmt.Errorf("confine: sixteen confinements are around this one already: %w", errno)
		}
		return fmt.Errorf("confine: restrict: %w", errno)
	}
	return nil
}
