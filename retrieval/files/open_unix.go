//go:build unix

package files

import "syscall"

// nonBlocking keeps opening a pipe from waiting for its other end.
const nonBlocking = syscall.O_NONBLOCK
