package confine

import (
	"os"
	"strconv"
	"syscall"
)

// ProbeOption is the option by which `writ confine` tries what a hold should keep
// from it, in a folder that [Probes] describes.
const ProbeOption = "--probe"

// Names in the folder that probes are given, which lies where nothing may be
// written or read: a file, and a socket on which whoever probes listens. The same
// socket is to be had without a path, by ProbeAbstract and the prober's number.
const (
	ProbeFile     = "file"
	ProbeSocket   = "socket"
	ProbeAbstract = "writ-probe-"
)

// ProbesEnded is the last line of a run of probes: without it they did not end.
const ProbesEnded = "probes ended"

// Probes tries what a hold should refuse, and names what it let through, in words
// that follow "it does not hold". The prober is a process outside, whose file is
// open here at some descriptor if those of the host were inherited; secret is a
// file that no command may read.
func Probes(dir string, prober int, secret string) (through []string) {
	for _, probe := range []struct {
		name string
		got  func() bool
	}{
		{"writing outside", func() bool { return opens(join(dir, ProbeFile), syscall.O_WRONLY) || makes(join(dir, "made")) }},
		{"reading credentials", func() bool { return opens(secret, syscall.O_RDONLY) || opens(join(dir, ProbeFile), syscall.O_RDONLY) }},
		{"signals to processes outside", func() bool { return syscall.Kill(prober, 0) == nil || syscall.Kill(os.Getppid(), 0) == nil }},
		{"sockets outside", func() bool {
			return reaches(ProbeAbstract, prober) || syscall.Chdir(dir) != nil || reaches(ProbeSocket, 0)
		}},
		{"inherited descriptors", func() bool { return inherits(join(dir, ProbeFile)) }},
	} {
		if probe.got() {
			through = append(through, probe.name)
		}
	}
	return through
}

func opens(path string, flags int) bool {
	fd, err := syscall.Open(path, flags|syscall.O_CLOEXEC, 0)
	if err == nil {
		_ = syscall.Close(fd) // nothing was written
	}
	return err == nil
}

func makes(path string) bool {
	made := opens(path, syscall.O_WRONLY|syscall.O_CREAT|syscall.O_EXCL)
	if made {
		_ = syscall.Unlink(path)
	}
	return made
}

// reaches connects to a socket of the working folder, or of a process without a path.
func reaches(name string, process int) bool {
	if process > 0 {
		name = "@" + name + strconv.Itoa(process)
	}
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer func() { _ = syscall.Close(fd) }() // nothing was sent
	return syscall.Connect(fd, &syscall.SockaddrUnix{Name: name}) == nil
}

// inherits looks for a file among the first descriptors.
func inherits(path string) bool {
	var file, open syscall.Stat_t
	if syscall.Stat(path, &file) != nil {
		return true
	}
	for fd := 3; fd < 16; fd++ {
		if syscall.Fstat(fd, &open) == nil && open.Dev == file.Dev && open.Ino == file.Ino {
			return true
		}
	}
	return false
}
