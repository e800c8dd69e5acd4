package confine

import (
	"errors"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"unsafe"
)

// A command is begun by a copy of this process that lays the limits on itself and then
// becomes the command, so that this process never has a thread that is held with it.
//
// Connections of a command are made by a process that has to be there as long as
// anything the command started is, and above it: some systems let a process be
// traced, which taking its descriptors counts as, by those above it alone. Whoever
// waits for the command waits for its end, not for that of a server that it left.
// So another copy stays between: it takes over the command's orphans and says how the
// command ended. Where something is left then, it becomes this program again, which
// keeps that; where nothing is, no second start was needed.
//
// What runs in a copy has one thread, and the locks and the heap of this process as
// they were at an instant: it makes system calls with what was prepared, and nothing
// else. The three share their descriptors until one becomes another program.

// Descriptors that the process which stays hands on to the program it becomes. Until
// then they have other numbers, which nobody else uses.
const (
	listenerFd = 60 // of notifications
	legacyFd   = 61 // what the process that goes on has to know
)

// startup is what the copies need.
type startup struct {
	parent, report       uintptr
	listener, legacy     uintptr         // reserved for what listenerFd and legacyFd become
	rules                int             // of Landlock, -1 for none
	nice                 uintptr         // how little of the processor the command asks for
	files                *syscall.Rlimit // the host's, nil where it is this process's own
	notified, alone      filterProgram
	capabilities         *capabilities // nil where they need no change
	dir, program         *byte
	args, vars, ownVars  []*byte
	self, null, priority *byte
	keyboard             *byte   // the terminal to give up, nil for none
	again                []*byte // the arguments of the program that keeps what is left
	awaited              uint64  // signals
	order                [4]byte
}

// filterProgram is struct sock_fprog.
type filterProgram struct {
	size uint16
	list *instruction
}

// instruction is struct sock_filter.
type instruction struct {
	code   uint16
	yes    uint8
	no     uint8
	number uint32
}

// What the copies tell, with a number: a process, a status or an error.
const (
	toldBegun   = iota // the command's process
	toldLaid           // its limits lie on it; 1 where its calls are notified
	toldEnded          // with a status, and nothing is left
	toldLeft           // with a status, and something is left
	toldNoHold         // from here on, with an error: the limits could not be laid
	toldNoStart        // the command could not be started
)

const (
	seccompSetFilter   = 1
	seccompNewListener = 1 << 3
	seccompKillable    = 1 << 5 // WAIT_KILLABLE_RECV, since Linux 5.19

	cloneFiles = 0x400
	clonePidfd = 0x1000

	prSetPdeathsig = 1
	parentGone     = syscall.SIGPWR // tells the copy that stays that this process is gone

	atHereFd = ^uintptr(99) // AT_FDCWD
	foremost = "500"        // of a thousand: whom the kernel ends first where memory is short
	humbler  = 5            // in steps of nice(1)
)

//go:linkname beforeFork syscall.runtime_BeforeFork
func beforeFork()

//go:linkname afterFork syscall.runtime_AfterFork
func afterFork()

//go:linkname afterForkInChild syscall.runtime_AfterForkInChild
func afterForkInChild()

// fork makes the copy that stays, and returns its number and a descriptor that
// tells its end.
//
//go:noinline
//go:norace
//go:nosplit
func fork(s *startup) (pid int, ends int32, errno syscall.Errno) {
	beforeFork()
	ends = -1 // what a kernel leaves that has no such descriptors
	copied, errno := clone(uintptr(syscall.SIGCHLD)|cloneFiles|clonePidfd, &ends)
	if copied != 0 || errno != 0 {
		afterFork()
		return int(copied), ends, errno
	}
	// One after the other, not one within the other: what may not grow the stack has
	// less than 800 bytes of it, and frames are largest on arm64.
	command := s.begin()
	if command == 0 {
		s.become()
	}
	s.stay(command)
	return 0, 0, 0
}

//go:norace
//go:nosplit
func clone(flags uintptr, ends *int32) (pid uintptr, errno syscall.Errno) {
	if runtime.GOARCH == "s390x" {
		pid, _, errno = syscall.RawSyscall6(syscall.SYS_CLONE, 0, flags, uintptr(unsafe.Pointer(ends)), 0, 0, 0)
		return pid, errno
	}
	pid, _, errno = syscall.RawSyscall6(syscall.SYS_CLONE, flags, 0, uintptr(unsafe.Pointer(ends)), 0, 0, 0)
	return pid, errno
}

// tell writes one word for whoever waits.
//
//go:norace
//go:nosplit
func (s *startup) tell(what, number uint32) {
	word := [2]uint32{what, number}
	_, _, _ = syscall.RawSyscall(syscall.SYS_WRITE, s.report, uintptr(unsafe.Pointer(&word)), unsafe.Sizeof(word))
}

//go:norace
//go:nosplit
func (s *startup) fail(what uint32, errno syscall.Errno) {
	s.tell(what, uint32(errno))
	for {
		_, _, _ = syscall.RawSyscall(syscall.SYS_EXIT_GROUP, ExitUnsupported, 0, 0)
	}
}

// begin makes the copy that becomes the command, and returns its number, in that copy
// 0.
//
//go:norace
//go:nosplit
func (s *startup) begin() (command uintptr) {
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, prSetPdeathsig, uintptr(parentGone), 0)
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, prSetChildSubreaper, 1, 0)
	command, errno := clone(uintptr(syscall.SIGCHLD)|cloneFiles, nil)
	if errno != 0 {
		s.fail(toldNoStart, errno)
	}
	return command
}

// stay waits for the end of the command, and of all it started. Signals reach none of
// its code: they are blocked, and two are asked for.
//
//go:norace
//go:nosplit
func (s *startup) stay(command uintptr) {
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, prSetDumpable, 0, 0)
	s.tell(toldBegun, uint32(command))
	var how uint32
	for ended, told := false, false; ; {
		for {
			var status uint32
			child, _, errno := syscall.RawSyscall6(syscall.SYS_WAIT4, ^uintptr(0), uintptr(unsafe.Pointer(&status)), syscall.WNOHANG, 0, 0, 0)
			if errno == 0 && child == command {
				ended, how = true, status
			}
			if errno == syscall.ECHILD {
				if ended && !told {
					s.fail(toldEnded, syscall.Errno(how))
				}
				s.fail(toldLeft, 0) // nobody waits
			}
			if child == 0 || errno != 0 {
				break
			}
		}
		if ended && !told {
			s.tell(toldLeft, how)
			told = true
		}
		if parent, _, _ := syscall.RawSyscall(syscall.SYS_GETPPID, 0, 0, 0); parent != s.parent {
			if !ended { // its host ended whoever waited for it
				_, _, _ = syscall.RawSyscall(syscall.SYS_KILL, command, uintptr(syscall.SIGKILL), 0)
			}
			s.keepOn()
		}
		_, _, _ = syscall.RawSyscall6(syscall.SYS_RT_SIGTIMEDWAIT, uintptr(unsafe.Pointer(&s.awaited)), 0, 0, unsafe.Sizeof(s.awaited), 0, 0)
	}
}

// keepOn becomes this program again, to keep what the command left. None of the
// command's streams is held meanwhile.
//
//go:norace
//go:nosplit
func (s *startup) keepOn() {
	null, _, errno := syscall.RawSyscall6(syscall.SYS_OPENAT, atHereFd, uintptr(unsafe.Pointer(s.null)), syscall.O_RDWR|syscall.O_CLOEXEC, 0, 0, 0)
	for fd := uintptr(0); errno == 0 && fd < 3; fd++ {
		_, _, _ = syscall.RawSyscall(syscall.SYS_DUP3, null, fd, 0)
	}
	_, _, _ = syscall.RawSyscall(syscall.SYS_DUP3, s.listener, listenerFd, 0)
	_, _, _ = syscall.RawSyscall(syscall.SYS_DUP3, s.legacy, legacyFd, 0)
	_, _, _ = syscall.RawSyscall(syscall.SYS_EXECVE, uintptr(unsafe.Pointer(s.self)), uintptr(unsafe.Pointer(&s.again[0])), uintptr(unsafe.Pointer(&s.ownVars[0])))
	s.fail(toldLeft, 0) // nobody waits
}

// become lays the limits on this process, and becomes the command: where memory or
// processor are short hooks go first, without which some hosts let a tool pass.
//
//go:norace
//go:nosplit
func (s *startup) become() {
	if s.priority != nil {
		if fd, _, errno := syscall.RawSyscall6(syscall.SYS_OPENAT, atHereFd, uintptr(unsafe.Pointer(s.priority)), syscall.O_WRONLY|syscall.O_CLOEXEC, 0, 0, 0); errno == 0 {
			_, _, _ = syscall.RawSyscall(syscall.SYS_WRITE, fd, uintptr(unsafe.Pointer(&s.order)), uintptr(len(foremost)))
		}
	}
	_, _, _ = syscall.RawSyscall(syscall.SYS_SETPRIORITY, 0, 0, s.nice)
	if s.keyboard != nil {
		if fd, _, errno := syscall.RawSyscall6(syscall.SYS_OPENAT, atHereFd, uintptr(unsafe.Pointer(s.keyboard)), syscall.O_RDWR|syscall.O_CLOEXEC, 0, 0, 0); errno == 0 {
			_, _, _ = syscall.RawSyscall(syscall.SYS_IOCTL, fd, syscall.TIOCNOTTY, 0)
			_, _, _ = syscall.RawSyscall(syscall.SYS_CLOSE, fd, 0, 0)
		}
	}
	if s.dir != nil {
		if _, _, errno := syscall.RawSyscall(syscall.SYS_CHDIR, uintptr(unsafe.Pointer(s.dir)), 0, 0); errno != 0 {
			s.fail(toldNoStart, errno)
		}
	}
	if s.rules >= 0 {
		s.lay()
	}
	if s.files != nil {
		_, _, _ = syscall.RawSyscall6(syscall.SYS_PRLIMIT64, 0, syscall.RLIMIT_NOFILE, uintptr(unsafe.Pointer(s.files)), 0, 0, 0)
	}
	afterForkInChild()
	_, _, errno := syscall.RawSyscall(syscall.SYS_EXECVE, uintptr(unsafe.Pointer(s.program)), uintptr(unsafe.Pointer(&s.args[0])), uintptr(unsafe.Pointer(&s.vars[0])))
	s.fail(toldNoStart, errno)
}

// lay confines the calling process, for good.
//
//go:norace
//go:nosplit
func (s *startup) lay() {
	for _, capability := range reaching {
		// Only who may drop it could have used it: an ordinary user's refusal,
		// and a kernel that does not know it, are fine.
		_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, prCapbsetDrop, capability, 0)
	}
	if s.capabilities != nil {
		if _, _, errno := syscall.RawSyscall(syscall.SYS_CAPSET, uintptr(unsafe.Pointer(&s.capabilities.version)), uintptr(unsafe.Pointer(&s.capabilities.sets)), 0); errno != 0 {
			s.fail(toldNoHold, errno)
		}
	}
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, prSetNoNewPrivs, 1, 0, 0, 0, 0); errno != 0 {
		s.fail(toldNoHold, errno)
	}
	if _, _, errno := syscall.RawSyscall(sysLandlockRestrict, uintptr(s.rules), 0, 0); errno != 0 {
		s.fail(toldNoHold, errno)
	}
	if !keeps {
		return
	}
	listener, errno := install(&s.notified, seccompNewListener|seccompKillable)
	if errno == syscall.EINVAL {
		listener, errno = install(&s.notified, seccompNewListener)
	}
	if errno == 0 {
		if _, _, errno = syscall.RawSyscall(syscall.SYS_DUP3, listener, s.listener, syscall.O_CLOEXEC); errno != 0 {
			s.fail(toldNoHold, errno)
		}
		_, _, _ = syscall.RawSyscall(syscall.SYS_CLOSE, listener, 0, 0)
		s.tell(toldLaid, 1)
		return
	}
	// Inside another hold that one's keeper goes on serving.
	if errno == syscall.EBUSY || absent(errno) {
		_, errno = install(&s.alone, 0)
	}
	if errno != 0 && !absent(errno) {
		s.fail(toldNoHold, errno)
	}
}

// absent says that a kernel does not know what it was asked for, or that a policy
// around this process has it from nobody.
//
//go:norace
//go:nosplit
func absent(errno syscall.Errno) bool {
	return errno == syscall.EINVAL || errno == syscall.ENOSYS || errno == syscall.EPERM || errno == syscall.EACCES
}

//go:norace
//go:nosplit
func install(program *filterProgram, flags uintptr) (listener uintptr, errno syscall.Errno) {
	listener, _, errno = syscall.RawSyscall(sysSeccomp, seccompSetFilter, flags, uintptr(unsafe.Pointer(program)))
	return listener, errno
}

// prepared makes what the copies need.
func prepared(o Options, l limits, rules *ruleset, program string, began int64) (*startup, error) {
	s := &startup{parent: uintptr(os.Getpid()), rules: -1, files: hostsFiles(), awaited: 1<<(syscall.SIGCHLD-1) | 1<<(parentGone-1)}
	copy(s.order[:], foremost)
	if above, _, errno := syscall.RawSyscall(syscall.SYS_GETPRIORITY, 0, 0, 0); errno == 0 {
		s.nice = uintptr(min(20-int(above)+humbler, 19)) // the call counts from 1 for what is nicest
	}
	if rules != nil {
		s.rules = rules.fd
		s.notified, s.alone = filters(o)
		var err error
		if s.capabilities, err = disinherited(reaching); err != nil {
			return nil, wrong("confine: capabilities to inherit", err)
		}
	}
	again := os.Args
	if len(again) > 1 {
		again = slices.Concat(again[:2], []string{KeptOption, strconv.FormatInt(began, 10)}, again[2:])
	}
	var err [5]error
	s.args, err[0] = syscall.SlicePtrFromStrings(o.Args)
	s.vars, err[1] = syscall.SlicePtrFromStrings(environment(o.Vars, l.vars))
	s.again, err[2] = syscall.SlicePtrFromStrings(again)
	s.ownVars, err[3] = syscall.SlicePtrFromStrings(o.Vars)
	s.program, err[4] = syscall.BytePtrFromString(program)
	for _, e := range err {
		if e != nil {
			return nil, wrong("confine: "+o.Args[0], e)
		}
	}
	s.self, _ = syscall.BytePtrFromString("/proc/self/exe")
	s.null, _ = syscall.BytePtrFromString("/dev/null")
	if own, _ := os.ReadFile("/proc/self/oom_score_adj"); len(own) < len("500\n") || own[0] < foremost[0] || own[0] == '-' {
		s.priority, _ = syscall.BytePtrFromString("/proc/self/oom_score_adj") // else it comes first already
	}
	if given := func(fd int) bool { _, err := foreground(fd); return err == nil }; o.Profile != Implementation && !given(0) && !given(1) && !given(2) {
		s.keyboard, _ = syscall.BytePtrFromString("/dev/tty") // it is the user's, and not the command's by a stream
	}
	if o.Dir != "" {
		if s.dir, err[0] = syscall.BytePtrFromString(o.Dir); err[0] != nil {
			return nil, wrong("confine: "+o.Dir, err[0])
		}
	}
	return s, nil
}

// hostsFiles is how many descriptors the host lets a process have, nil where this process
// has as many: this language's programs raise theirs, and starts of its library alone put
// it back.
func hostsFiles() *syscall.Rlimit {
	var own, hosts syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &own) != nil || own.Cur != own.Max-1 {
		return nil
	}
	_, _, errno := syscall.Syscall6(syscall.SYS_PRLIMIT64, uintptr(os.Getppid()), syscall.RLIMIT_NOFILE, 0, uintptr(unsafe.Pointer(&hosts)), 0, 0)
	if errno != 0 || hosts.Max != own.Max || hosts.Cur >= own.Cur {
		return nil
	}
	return &hosts
}

// keepLeft keeps what a command left running, in the place of the process that ran it,
// until nothing is left.
func keepLeft(o Options) {
	signal.Ignore(append(passed, typed...)...)
	_ = prctl(prSetDumpable, 0) // nobody needs to look into it
	if o.Whole {                // its host ended whoever would have ended what is left
		endAll(os.Getpid())
		return
	}
	keeper := heir(o)
	keeper.above = os.Getpid()
	go keeper.serve()
	go func() {
		for pause(watching); ; pause(watching) {
			disperse(os.Getpid())
		}
	}()
	for {
		var status syscall.WaitStatus
		if _, err := syscall.Wait4(-1, &status, 0, nil); errors.Is(err, syscall.ECHILD) {
			return
		}
	}
}
