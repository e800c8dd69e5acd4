package confine

import (
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// TestNumbersAreLinuxs: a wrong one would confine something else, or nothing.
func TestNumbersAreLinuxs(t *testing.T) {
	for name, pair := range map[string][2]int{
		"create": {sysLandlockCreate, unix.SYS_LANDLOCK_CREATE_RULESET}, "add": {sysLandlockAdd, unix.SYS_LANDLOCK_ADD_RULE},
		"restrict": {sysLandlockRestrict, unix.SYS_LANDLOCK_RESTRICT_SELF}, "version": {landlockVersion, unix.LANDLOCK_CREATE_RULESET_VERSION},
		"beneath": {landlockPathBeneath, unix.LANDLOCK_RULE_PATH_BENEATH}, "abstract": {landlockAbstract, unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET},
		"signal": {landlockSignal, unix.LANDLOCK_SCOPE_SIGNAL}, "close": {sysCloseRange, unix.SYS_CLOSE_RANGE}, "on exec": {closeRangeCloexec, unix.CLOSE_RANGE_CLOEXEC},
		"write": {accessWriteFile, unix.LANDLOCK_ACCESS_FS_WRITE_FILE}, "read": {accessReadFile, unix.LANDLOCK_ACCESS_FS_READ_FILE},
		"remove folder": {accessRemoveDir, unix.LANDLOCK_ACCESS_FS_REMOVE_DIR}, "remove file": {accessRemoveFile, unix.LANDLOCK_ACCESS_FS_REMOVE_FILE},
		"character device": {accessMakeChar, unix.LANDLOCK_ACCESS_FS_MAKE_CHAR}, "block device": {accessMakeBlock, unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK},
		"folder": {accessMakeDir, unix.LANDLOCK_ACCESS_FS_MAKE_DIR}, "file": {accessMakeReg, unix.LANDLOCK_ACCESS_FS_MAKE_REG},
		"socket": {accessMakeSock, unix.LANDLOCK_ACCESS_FS_MAKE_SOCK}, "pipe": {accessMakeFifo, unix.LANDLOCK_ACCESS_FS_MAKE_FIFO},
		"link": {accessMakeSym, unix.LANDLOCK_ACCESS_FS_MAKE_SYM}, "refer": {accessRefer, unix.LANDLOCK_ACCESS_FS_REFER},
		"truncate": {accessTruncate, unix.LANDLOCK_ACCESS_FS_TRUNCATE}, "path": {openPath, unix.O_PATH},
		"capabilities": {capVersion3, unix.LINUX_CAPABILITY_VERSION_3},
		"dumpable":     {prSetDumpable, unix.PR_SET_DUMPABLE}, "drop": {prCapbsetDrop, unix.PR_CAPBSET_DROP},
		"subreaper": {prSetChildSubreaper, unix.PR_SET_CHILD_SUBREAPER}, "privileges": {prSetNoNewPrivs, unix.PR_SET_NO_NEW_PRIVS},
		"search": {capDacReadSearch, unix.CAP_DAC_READ_SEARCH}, "module": {capSysModule, unix.CAP_SYS_MODULE}, "rawio": {capSysRawio, unix.CAP_SYS_RAWIO},
		"ptrace": {capSysPtrace, unix.CAP_SYS_PTRACE}, "admin": {capSysAdmin, unix.CAP_SYS_ADMIN}, "boot": {capSysBoot, unix.CAP_SYS_BOOT},
		"immutable": {capLinuxImmutable, unix.CAP_LINUX_IMMUTABLE}, "accounting": {capSysPacct, unix.CAP_SYS_PACCT}, "time": {capSysTime, unix.CAP_SYS_TIME}, "nice": {capSysNice, unix.CAP_SYS_NICE},
		"mknod": {capMknod, unix.CAP_MKNOD}, "override": {capMacOverride, unix.CAP_MAC_OVERRIDE}, "mac": {capMacAdmin, unix.CAP_MAC_ADMIN},
		"syslog": {capSyslog, unix.CAP_SYSLOG}, "perfmon": {capPerfmon, unix.CAP_PERFMON}, "bpf": {capBpf, unix.CAP_BPF},
		"terminals": {capSysTTYConfig, unix.CAP_SYS_TTY_CONFIG}, "network": {capNetAdmin, unix.CAP_NET_ADMIN}, "packets": {capNetRaw, unix.CAP_NET_RAW}, "checkpoint": {capCheckpointRestore, unix.CAP_CHECKPOINT_RESTORE}, "clock": {clockRealtimeCoarse, unix.CLOCK_REALTIME_COARSE},
		"scoped":    {int(unsafe.Offsetof(rulesetAttr{}.scoped)), int(unsafe.Offsetof(unix.LandlockRulesetAttr{}.Scoped))},
		"beneath's": {int(unsafe.Offsetof(beneathAttr{}.fd)), int(unsafe.Offsetof(unix.LandlockPathBeneathAttr{}.Parent_fd))},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: %d, want %d", name, pair[0], pair[1])
		}
	}
}
