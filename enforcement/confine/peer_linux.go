//go:build amd64 || arm64

package confine

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"syscall"
)

// harmless reports whether who listens at a socket may do no more than the command:
// a process that an earlier command with the very same limits left running, or,
// where the command writes the project, another user who owns nothing of it, such
// as a database's. Root's servers, a container service above all, are neither.
func (k *keeper) harmless(place, socket int) bool {
	listener, ok := listens(place, socket)
	if !ok {
		return false
	}
	if k.others && listener.Uid != 0 && listener.Uid != uint32(os.Geteuid()) && listener.Uid != k.owner {
		return true
	}
	own := limitsIn(arguments(os.Getpid()))
	return own != nil && keptBy(int(listener.Pid), own)
}

// keyPrograms are what keeps keys for ssh and signatures, as the system names a
// process: by the program that it runs, unless it says otherwise itself.
var keyPrograms = []string{"ssh-agent", "sshd", "sshd-session", "gpg-agent", "keyboxd", "scdaemon", "gnome-keyring-d", "gcr-ssh-agent"}

// keepsKeys reports whether a program that keeps keys listens at a socket.
func keepsKeys(place, socket int) bool {
	listener, ok := listens(place, socket)
	if !ok {
		return false
	}
	name, err := os.ReadFile("/proc/" + strconv.Itoa(int(listener.Pid)) + "/comm")
	return err == nil && slices.Contains(keyPrograms, trimmed(string(name)))
}

// listens is who began to listen at a socket, which a connection of this process's
// own tells: the command's is not made before it is judged.
func listens(place, socket int) (who syscall.Ucred, ok bool) {
	kind, err := syscall.GetsockoptInt(socket, syscall.SOL_SOCKET, syscall.SO_TYPE)
	if err != nil {
		return who, false
	}
	fd, err := syscall.Socket(syscall.AF_UNIX, kind|syscall.SOCK_CLOEXEC|syscall.SOCK_NONBLOCK, 0)
	if err != nil {
		return who, false
	}
	defer func() { _ = syscall.Close(fd) }() // nothing was sent
	if syscall.Connect(fd, &syscall.SockaddrUnix{Name: "/proc/self/fd/" + strconv.Itoa(place)}) != nil {
		return who, false
	}
	found, err := syscall.GetsockoptUcred(fd, syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	if err != nil {
		return who, false
	}
	return *found, true
}

// maxAbove bounds how many processes above one are looked at.
const maxAbove = 64

// keptBy reports whether a process is below one that keeps commands with these
// limits. Nobody outside of a hold takes such a name.
func keptBy(pid int, limits [][]byte) bool {
	for range maxAbove {
		parent, alive := parentOf(pid)
		if !alive || parent <= 1 {
			return false
		}
		if own := limitsIn(arguments(parent)); own != nil && slices.EqualFunc(own, limits, bytes.Equal) {
			return true
		}
		pid = parent
	}
	return false
}
