//go:build amd64 || arm64

package confine

import (
	"slices"
	"syscall"
	"unsafe"
)

// A socket that was made since the command began need not be the command's: somebody
// outside may begin to listen at one while the command runs. So listen(2) comes to
// the keeper, too, which notes the socket and lets the call go on, since its arguments
// are values; and the kernel tells which socket listens at a file.

// heard notes a socket at which the command is about to listen. Of a process that
// lets nobody have its descriptors it is one of those that have a name and do not
// listen yet, which is one for an instant.
func (k *keeper) heard(n *notification, thread string) {
	k.own.Lock()
	defer k.own.Unlock()
	fd, errno := k.descriptor(int(int32(n.args[0])), thread)
	if errno != 0 {
		bound, _ := boundSockets(stateClosed)
		for _, s := range bound {
			k.own.sockets[s.socket] = true
		}
		return
	}
	defer func() { _ = syscall.Close(fd) }() // a copy of the command's
	var stat syscall.Stat_t
	if syscall.Fstat(fd, &stat) == nil {
		k.own.sockets[uint32(stat.Ino)] = true
	}
}

// listensItself reports whether who listens at a file was started by the command. It
// is also true where nobody is known to, and where the kernel does not tell.
func (k *keeper) listensItself(file syscall.Stat_t) bool {
	listening, known := boundSockets(stateListening)
	listening = slices.DeleteFunc(listening, func(s boundSocket) bool { return s.file != uint32(file.Ino) })
	k.own.Lock()
	defer k.own.Unlock()
	return !known || len(listening) == 0 || slices.ContainsFunc(listening, func(s boundSocket) bool { return k.own.sockets[s.socket] })
}

// boundSocket is a socket for connections that has a file for its name: the numbers
// of both, as far as the kernel tells them.
type boundSocket struct{ socket, file uint32 }

// Numbers of linux/sock_diag.h, linux/unix_diag.h and net/tcp_states.h.
const (
	sockDiag       = 4  // NETLINK_SOCK_DIAG
	diagByFamily   = 20 // SOCK_DIAG_BY_FAMILY
	diagShowFile   = 2  // UDIAG_SHOW_VFS
	diagFile       = 1  // UNIX_DIAG_VFS
	diagMessage    = 16 // bytes of struct unix_diag_msg
	stateClosed    = 7
	stateListening = 10
)

// boundSockets lists those in a state; known is false where the kernel does not tell.
func boundSockets(state uint) (all []boundSocket, known bool) {
	fd, err := syscall.Socket(syscall.AF_NETLINK, syscall.SOCK_RAW|syscall.SOCK_CLOEXEC, sockDiag)
	if err != nil {
		return nil, false
	}
	defer func() { _ = syscall.Close(fd) }() // nothing is buffered
	request := struct {
		syscall.NlMsghdr
		family, protocol   uint8
		_                  uint16
		states, file, show uint32
		cookie             [2]uint32
	}{
		NlMsghdr: syscall.NlMsghdr{Type: diagByFamily, Flags: syscall.NLM_F_REQUEST | syscall.NLM_F_DUMP},
		family:   syscall.AF_UNIX, states: 1 << state, show: diagShowFile,
	}
	request.Len = uint32(unsafe.Sizeof(request))
	raw := unsafe.Slice((*byte)(unsafe.Pointer(&request)), unsafe.Sizeof(request))
	if syscall.Sendto(fd, raw, 0, &syscall.SockaddrNetlink{Family: syscall.AF_NETLINK}) != nil {
		return nil, false
	}
	for buffer := make([]byte, 64<<10); ; {
		n, _, err := syscall.Recvfrom(fd, buffer, 0)
		if err != nil {
			return nil, false
		}
		messages, err := syscall.ParseNetlinkMessage(buffer[:n])
		if err != nil {
			return nil, false
		}
		for _, m := range messages {
			switch m.Header.Type {
			case syscall.NLMSG_DONE:
				return all, true
			case diagByFamily:
				if s, named := bound(m.Data); named {
					all = append(all, s)
				}
			default:
				return nil, false
			}
		}
	}
}

// bound reads struct unix_diag_msg and the attributes behind it.
func bound(message []byte) (s boundSocket, named bool) {
	if len(message) < diagMessage || message[1] == syscall.SOCK_DGRAM {
		return s, false
	}
	number := func(raw []byte) uint32 { return *(*uint32)(unsafe.Pointer(&raw[0])) } // they are aligned
	s.socket = number(message[4:])
	for rest := message[diagMessage:]; len(rest) >= 4; {
		size, kind := int(*(*uint16)(unsafe.Pointer(&rest[0]))), *(*uint16)(unsafe.Pointer(&rest[2]))
		if size < 4 || size > len(rest) {
			break
		}
		if kind == diagFile && size >= 12 {
			s.file, named = number(rest[4:]), true
		}
		rest = rest[min((size+3)&^3, len(rest)):]
	}
	return s, named
}
