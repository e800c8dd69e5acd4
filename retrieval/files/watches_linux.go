package files

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// usualWatches is what kernels let a user watch where /proc does not say it.
const usualWatches = 8192

// watchable is how many folders the system lets one user watch.
func watchable() int {
	text, err := os.ReadFile("/proc/sys/fs/inotify/max_user_watches")
	if err != nil {
		return usualWatches
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return usualWatches
	}
	return n
}

// remoteTypes are the file systems on which another machine may write unheard,
// by the number that statfs(2) gives them.
var remoteTypes = map[int64]string{
	unix.NFS_SUPER_MAGIC: "on NFS", unix.SMB_SUPER_MAGIC: "on SMB", unix.SMB2_SUPER_MAGIC: "on SMB", unix.CIFS_SUPER_MAGIC: "on SMB",
	unix.V9FS_MAGIC: "on 9P", unix.FUSE_SUPER_MAGIC: "on FUSE", unix.AFS_SUPER_MAGIC: "on AFS", unix.AFS_FS_MAGIC: "on AFS",
	unix.CEPH_SUPER_MAGIC: "on Ceph", unix.CODA_SUPER_MAGIC: "on Coda", unix.NCP_SUPER_MAGIC: "on NCP", 0x786f4256: "a shared folder of VirtualBox",
}

// remote says on which file system of another machine a folder lies, "" for a
// local one.
func remote(dir string) string {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil {
		return ""
	}
	return remoteTypes[int64(uint32(s.Type))] //nolint:gosec // the type's width differs by platform, its bits are these
}
