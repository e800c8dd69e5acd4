package confine

import (
	"io/fs"
	"syscall"
	"unsafe"
)

// Linux's numbers, as golang.org/x/sys/unix has them, which a test compares:
// see doc.go for why it is not imported. Those of Landlock's system calls are
// other ones on MIPS, where the kernel then seems to have none.
const (
	sysLandlockCreate   = 444
	sysLandlockAdd      = 445
	sysLandlockRestrict = 446

	landlockVersion     = 1 // LANDLOCK_CREATE_RULESET_VERSION
	landlockPathBeneath = 1 // LANDLOCK_RULE_PATH_BENEATH
	landlockAbstract    = 1 // LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET
	landlockSignal      = 2 // LANDLOCK_SCOPE_SIGNAL

	sysCloseRange     = 436
	closeRangeCloexec = 4 // CLOSE_RANGE_CLOEXEC

	accessWriteFile  = 1 << 1
	accessReadFile   = 1 << 2
	accessRemoveDir  = 1 << 4
	accessRemoveFile = 1 << 5
	accessMakeChar   = 1 << 6
	accessMakeDir    = 1 << 7
	accessMakeReg    = 1 << 8
	accessMakeSock   = 1 << 9
	accessMakeFifo   = 1 << 10
	accessMakeBlock  = 1 << 11
	accessMakeSym    = 1 << 12
	accessRefer      = 1 << 13
	accessTruncate   = 1 << 14

	prSetDumpable       = 4
	prCapbsetDrop       = 24
	prSetChildSubreaper = 36
	prSetNoNewPrivs     = 38

	capDacReadSearch     = 2
	capLinuxImmutable    = 9
	capNetAdmin          = 12
	capNetRaw            = 13
	capSysModule         = 16
	capSysRawio          = 17
	capSysPtrace         = 19
	capSysPacct          = 20
	capSysAdmin          = 21
	capSysBoot           = 22
	capSysNice           = 23
	capSysTime           = 25
	capSysTTYConfig      = 26
	capMknod             = 27
	capMacOverride       = 32
	capMacAdmin          = 33
	capSyslog            = 34
	capPerfmon           = 38
	capBpf               = 39
	capCheckpointRestore = 40

	capVersion3 = 0x20080522 // _LINUX_CAPABILITY_VERSION_3

	openPath = 0x200000 // O_PATH

	clockRealtimeCoarse = 5
)

// rulesetAttr is struct landlock_ruleset_attr.
type rulesetAttr struct{ fs, net, scoped uint64 }

// beneathAttr is struct landlock_path_beneath_attr, which is packed.
type beneathAttr struct {
	access uint64
	fd     int32
}

func prctl(option, argument uintptr) error {
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, option, argument, 0, 0, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// closeOnExec keeps descriptors from first on from programs that are started:
// what the host left open may lead to what no path leads to. A kernel without the
// call, before Linux 5.11, leaves them open.
func closeOnExec(first uintptr) {
	_, _, _ = syscall.RawSyscall(sysCloseRange, first, ^uintptr(0)>>32, closeRangeCloexec)
}

func fcntl(fd int, command uintptr) (uintptr, error) { return fcntlWith(uintptr(fd), command, 0) }

func fcntlWith(fd, command, argument uintptr) (uintptr, error) {
	value, _, errno := syscall.Syscall(syscall.SYS_FCNTL, fd, command, argument)
	if errno != 0 {
		return 0, errno
	}
	return value, nil
}

// foreground is the process group that has a terminal.
func foreground(tty int) (group int, err error) {
	var found int32
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(tty), syscall.TIOCGPGRP, uintptr(unsafe.Pointer(&found))); errno != 0 {
		return 0, errno
	}
	return int(found), nil
}

// changeOf is a file's change time in nanoseconds, and its number.
func changeOf(info fs.FileInfo) (ctime int64, ino uint64) {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return stat.Ctim.Nano(), stat.Ino
	}
	return 0, 0
}

// FileClock is the clock that change times are taken from, in nanoseconds.
func FileClock() int64 {
	var now syscall.Timespec
	if _, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockRealtimeCoarse, uintptr(unsafe.Pointer(&now)), 0); errno != 0 {
		return 0
	}
	return now.Nano()
}

// looked is a descriptor that is waited for, and what was found: struct pollfd.
type looked struct {
	fd          int32 // one below zero is not looked at
	want, found int16
}

const pollIn = 1

// poll waits until something is found, or for some milliseconds where they are not below zero.
func poll(look []looked, most int) syscall.Errno {
	var span *syscall.Timespec
	if most >= 0 {
		after := syscall.NsecToTimespec(int64(most) * 1e6)
		span = &after
	}
	_, _, errno := syscall.Syscall6(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(&look[0])), uintptr(len(look)), uintptr(unsafe.Pointer(span)), 0, 0, 0)
	return errno
}

// pause lets some milliseconds go by.
func pause(milliseconds int) {
	span := syscall.NsecToTimeval(int64(milliseconds) * 1e6)
	_, _ = syscall.Select(0, nil, nil, nil, &span) // only the time counts
}
