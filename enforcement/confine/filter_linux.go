//go:build amd64 || arm64

package confine

import (
	"slices"
	"syscall"
)

const (
	sysIOUringSetup = 425
	sysFchmodat2    = 452

	sysSetxattrat    = 463
	sysRemovexattrat = 466
	sysFileSetattr   = 469

	seccompAllow  = 0x7fff0000
	seccompNotify = 0x7fc00000
	seccompErrno  = 0x00050000

	ioctlSTI   = 0x5412 // TIOCSTI types into a terminal
	ioctlLinux = 0x541c // TIOCLINUX pastes into the console

	ioctlPeer = 0x5441 // TIOCGPTPEER opens the other end of a terminal

	ioctlGives  = 0x4000ff00 // of a request, its kind and that something is given with it
	ioctlExtent = 0xc020660b // FS_IOC_FIEMAP, which reads

	ioctlVerity = 0x40806685 // FS_IOC_ENABLE_VERITY closes a file to writers for good

	foreignCalls = 0x40000000 // x32's begin here

	fastOpen = 0x20000000 // MSG_FASTOPEN
)

// keys are the requests by which what is typed at a console, or printed to it, becomes
// something else: KDSKBENT, KDSKBSENT, KDSKBDIACR, KDSETKEYCODE, KDSKBDIACRUC and TIOCCONS.
var keys = []uint32{0x4b47, 0x4b49, 0x4b4b, 0x4b4d, 0x4bfb, 0x541d}

// subvolumes are the requests by which Btrfs makes, copies, deletes and closes whole
// folders, without asking Landlock: BTRFS_IOC_SNAP_CREATE, SUBVOL_CREATE, SNAP_DESTROY,
// SNAP_CREATE_V2, SUBVOL_CREATE_V2, SNAP_DESTROY_V2 and SUBVOL_SETFLAGS.
var subvolumes = []uint32{0x50009401, 0x5000940e, 0x5000940f, 0x50009417, 0x50009418, 0x5000943f, 0x4008941a}

// settings are the kinds of requests by which file systems change what a file is besides its
// content – flags, numbers, DOS' attributes – for whoever owns it, opened for reading or not:
// those of ext4 and most others, XFS', of versions and FAT's.
var settings = []uint32{'f' << 8, 'X' << 8, 'v' << 8, 'r' << 8}

// attributes are the calls that change extended attributes.
var attributes = []uintptr{
	syscall.SYS_SETXATTR, syscall.SYS_LSETXATTR, syscall.SYS_FSETXATTR, sysSetxattrat,
	syscall.SYS_REMOVEXATTR, syscall.SYS_LREMOVEXATTR, syscall.SYS_FREMOVEXATTR, sysRemovexattrat,
}

// keyReaders are the operations of keyctl(2) that look at keys, and the one by which a
// process gets a keyring of its own: get, join, describe, search, read, security label,
// persistent keyring, capabilities.
var keyReaders = []uint32{0, 1, 6, 10, 11, 17, 22, 31}

// The instructions that a filter is made of, and where in struct seccomp_data they
// find the number of a call, the architecture and the arguments.
const (
	load, equal, atLeast, and, give = 0x20, 0x15, 0x35, 0x54, 0x06

	callAt, archAt, firstAt, secondAt, thirdAt, high = 0, 4, 16, 24, 32, 4
)

// whose are the calls that set limits or priorities of any process of the user's, which
// keeps hooks from an answer, and which of their arguments names it, counted from one.
var whose = map[uintptr]int{
	keeperArch.prlimit: 1, keeperArch.schedule: 1, syscall.SYS_SCHED_SETPARAM: 1, syscall.SYS_SCHED_SETSCHEDULER: 1,
	syscall.SYS_SCHED_SETAFFINITY: 1, syscall.SYS_SETPRIORITY: 2, syscall.SYS_IOPRIO_SET: 2,
}

// filter refuses what no command needs and reaches around the hold: typing into
// a terminal, a lease, which keeps whoever opens a file waiting, foreign system calls, io_uring, what file systems change behind Landlock,
// datagram sockets with a path, which send without connecting (the kernel makes raw ones
// such, too), and limits and priorities of other processes, which end one or
// keep it from working. With keep, connections and what listens are notified, and new links and renames, and with modes
// what changes the mode or owner of a file, and the other end of a new terminal: extended attributes, one of which is
// another way to write the mode, are then what the file system has none of, and keys of the kernel are only read.
func filter(keep, modes bool) []instruction {
	refuse := func(errno syscall.Errno) instruction {
		return instruction{give, 0, 0, seccompErrno | uint32(errno)}
	}
	allow, notify := instruction{give, 0, 0, seccompAllow}, instruction{give, 0, 0, seccompNotify}
	program := []instruction{
		{load, 0, 0, archAt},
		{equal, 1, 0, uint32(keeperArch.audit)},
		refuse(syscall.ENOSYS),
		{load, 0, 0, callAt},
		{atLeast, 0, 1, foreignCalls},
		refuse(syscall.ENOSYS),
	}
	// A part ends by itself, so the next one finds the number of the call.
	on := func(call uintptr, part ...instruction) {
		program = append(append(program, instruction{equal, 0, uint8(len(part)), uint32(call)}), part...)
	}
	others := refuse(syscall.EPERM)
	if keep {
		on(syscall.SYS_CONNECT, notify)
		on(syscall.SYS_LISTEN, notify)
		for call := range laying {
			if call != 0 {
				on(call, notify)
			}
		}
		others = notify
	}
	// The first words of a connection that begins with them would go to where no
	// connection is made for the command.
	for call, flags := range map[uintptr]uint32{syscall.SYS_SENDTO: 3, syscall.SYS_SENDMSG: 2, keeperArch.sendmmsg: 3} {
		on(call, instruction{load, 0, 0, firstAt + 8*flags}, instruction{and, 0, 0, fastOpen}, instruction{equal, 1, 0, 0}, refuse(syscall.EOPNOTSUPP), allow)
	}
	on(sysIOUringSetup, refuse(syscall.EPERM))
	requests := []instruction{{load, 0, 0, secondAt}}
	for _, request := range slices.Concat([]uint32{ioctlSTI, ioctlLinux, ioctlVerity}, keys, subvolumes) {
		requests = append(requests, instruction{equal, 0, 1, request}, refuse(syscall.EPERM))
	}
	if keep && modes {
		requests = append(requests, instruction{equal, 0, 1, ioctlPeer}, notify)
	}
	if modes {
		requests = append(requests, instruction{equal, 0, 1, ioctlExtent}, allow, instruction{and, 0, 0, ioctlGives})
		for _, kind := range settings {
			requests = append(requests, instruction{equal, 0, 1, 0x40000000 | kind}, refuse(syscall.EOPNOTSUPP))
		}
	}
	on(syscall.SYS_IOCTL, append(requests, allow)...)
	on(syscall.SYS_FCNTL, instruction{load, 0, 0, secondAt}, instruction{equal, 0, 1, syscall.F_SETLEASE}, refuse(syscall.EPERM), allow)
	for _, call := range []uintptr{syscall.SYS_SOCKET, syscall.SYS_SOCKETPAIR} {
		on(call,
			instruction{load, 0, 0, firstAt}, instruction{equal, 1, 0, syscall.AF_UNIX}, allow,
			instruction{load, 0, 0, secondAt}, instruction{and, 0, 0, 0xf},
			instruction{equal, 1, 0, syscall.SOCK_DGRAM}, instruction{equal, 0, 1, syscall.SOCK_RAW}, refuse(syscall.EACCES), allow)
	}
	// A process that is not named is the caller. Those of a group or a user are others, too.
	for _, call := range []uintptr{syscall.SYS_SCHED_SETPARAM, syscall.SYS_SCHED_SETSCHEDULER, syscall.SYS_SCHED_SETAFFINITY, keeperArch.schedule} {
		on(call, instruction{load, 0, 0, firstAt}, instruction{equal, 0, 1, 0}, allow, others)
	}
	for call, process := range map[uintptr]uint32{syscall.SYS_SETPRIORITY: 0, syscall.SYS_IOPRIO_SET: 1} {
		on(call,
			instruction{load, 0, 0, firstAt}, instruction{equal, 1, 0, process}, refuse(syscall.EPERM),
			instruction{load, 0, 0, secondAt}, instruction{equal, 0, 1, 0}, allow, others)
	}
	// Without new limits they are read.
	on(keeperArch.prlimit,
		instruction{load, 0, 0, firstAt}, instruction{equal, 0, 1, 0}, allow,
		instruction{load, 0, 0, thirdAt}, instruction{equal, 0, 3, 0},
		instruction{load, 0, 0, thirdAt + high}, instruction{equal, 0, 1, 0}, allow, others)
	if modes {
		// Keys that the kernel keeps are the user's, and other programs go by them.
		on(syscall.SYS_ADD_KEY, refuse(syscall.EPERM))
		on(syscall.SYS_REQUEST_KEY, refuse(syscall.EPERM))
		operations := []instruction{{load, 0, 0, firstAt}}
		for _, operation := range keyReaders {
			operations = append(operations, instruction{equal, 0, 1, operation}, allow)
		}
		on(syscall.SYS_KEYCTL, append(operations, refuse(syscall.EPERM))...)
		on(sysFileSetattr, refuse(syscall.EOPNOTSUPP))
		for _, call := range attributes {
			on(call, refuse(syscall.EOPNOTSUPP))
		}
	}
	if keep && modes {
		for _, call := range changing {
			if call.number != 0 {
				on(call.number, notify)
			}
		}
	}
	return append(program, allow)
}
