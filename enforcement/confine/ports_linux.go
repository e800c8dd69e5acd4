//go:build amd64 || arm64

package confine

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"syscall"
	"unsafe"
)

// orders are the ports, from one to another, at which what listens does what it is told
// by whoever connects, or by whom the user's keys let in: shells of this machine, debuggers (delve and gdbserver,
// JDWP, debugpy, Chrome, Node), container services, screens and notebooks.
var orders = [][2]int{
	{22, 23},
	{512, 514},
	{2345, 2345},
	{2375, 2376},
	{3389, 3389},
	{5005, 5005},
	{5678, 5678},
	{5900, 5909},
	{6000, 6003},
	{6010, 6019},
	{8888, 8888},
	{9222, 9222},
	{9229, 9230},
}

// isDoor reports whether an address is one of this machine's at which a person acts on
// Writ – what listens there knows a person by what a browser was shown, which others may
// have seen – or at which somebody outside takes orders.
func (k *keeper) isDoor(address []byte) bool {
	host := hostOf(address)
	if host == nil {
		return false
	}
	number := int(address[2])<<8 | int(address[3])
	port := strconv.Itoa(number)
	takes := slices.ContainsFunc(orders, func(o [2]int) bool { return o[0] <= number && number <= o[1] })
	if takes && (loopback(host) || sentFrom(address, host)) && !k.listensAt(number) {
		select {
		case k.refused <- "at port " + port + " of this machine":
		default: // one is told
		}
		return true
	}
	ports, _ := os.ReadFile(k.doors) // where there is no file, no daemon has any
	return loopback(host) && slices.ContainsFunc(bytes.Fields(ports), func(p []byte) bool { return string(p) == port })
}

// listensAt reports whether all that listens at a port was started by the command, or by
// an earlier one with the very same limits.
func (k *keeper) listensAt(port int) bool {
	all := listeners(port)
	k.own.Lock()
	all = slices.DeleteFunc(all, func(socket uint32) bool { return k.own.sockets[socket] })
	none := len(all) == 0
	k.own.Unlock()
	own := limitsIn(arguments(os.Getpid()))
	for _, pid := range processes() {
		if !none && own != nil && keptBy(pid, own) {
			all = slices.DeleteFunc(all, func(socket uint32) bool { return hasSocket(pid, socket) })
			none = len(all) == 0
		}
	}
	return none
}

// listeners are the sockets that listen at a port of this machine, by their number.
func listeners(port int) (all []uint32) {
	const state, listening, inode = 3, "0A", 9
	for _, table := range []string{"/proc/self/net/tcp", "/proc/self/net/tcp6"} {
		raw, _ := os.ReadFile(table) // none where the system has no such protocol
		for line := range bytes.Lines(raw) {
			fields := bytes.Fields(line)
			if len(fields) <= inode || string(fields[state]) != listening {
				continue
			}
			_, at, _ := bytes.Cut(fields[1], []byte(":"))
			if is, err := strconv.ParseUint(string(at), 16, 16); err == nil && int(is) == port {
				number, _ := strconv.ParseUint(string(fields[inode]), 10, 32) // of the kernel's own writing
				all = append(all, uint32(number))
			}
		}
	}
	return all
}

// hasSocket reports whether a process has a socket open.
func hasSocket(pid int, socket uint32) bool {
	dir := "/proc/" + strconv.Itoa(pid) + "/fd/"
	open, _ := os.ReadDir(dir) // none of one that has ended
	return slices.ContainsFunc(open, func(fd os.DirEntry) bool {
		to, err := os.Readlink(dir + fd.Name())
		return err == nil && to == "socket:["+strconv.Itoa(int(socket))+"]"
	})
}

// none is the address of nobody, loopback6 that of this machine in IPv6, and mappedPrefix
// what stands before an address of IPv4 there.
var (
	none         [16]byte
	loopback6    = append(make([]byte, 15), 1)
	mappedPrefix = append(make([]byte, 10), 0xff, 0xff)
)

// loopback reports whether a host is this machine's own, or none, which the kernel takes
// for it.
func loopback(host []byte) bool {
	v4, mapped := bytes.CutPrefix(host, mappedPrefix)
	if len(host) == 16 && !mapped {
		return bytes.Equal(host, loopback6) || bytes.Equal(host, none[:])
	}
	return v4[0] == 127 || bytes.Equal(v4, none[:4])
}

// hostOf is the machine in an address of IP, nil in others.
func hostOf(address []byte) []byte {
	switch {
	case len(address) >= 8 && address[1] == 0 && address[0] == syscall.AF_INET:
		return address[4:8]
	case len(address) >= 24 && address[1] == 0 && address[0] == syscall.AF_INET6:
		return address[8:24]
	}
	return nil
}

// sentFrom reports whether this machine would send from a host what it sends to an
// address; nothing is sent.
func sentFrom(address, host []byte) bool {
	fd, err := syscall.Socket(int(address[0]), syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer func() { _ = syscall.Close(fd) }() // nothing was sent
	if _, _, errno := syscall.Syscall(syscall.SYS_CONNECT, uintptr(fd), uintptr(unsafe.Pointer(&address[0])), uintptr(len(address))); errno != 0 {
		return false
	}
	from := make([]byte, 28) // struct sockaddr_in6
	size := uint32(len(from))
	if _, _, errno := syscall.Syscall(syscall.SYS_GETSOCKNAME, uintptr(fd), uintptr(unsafe.Pointer(&from[0])), uintptr(unsafe.Pointer(&size))); errno != 0 {
		return false
	}
	return bytes.Equal(hostOf(from), host)
}
