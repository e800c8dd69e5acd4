//go:build amd64 || arm64

package confine

import (
	"runtime"
	"syscall"
	"testing"
)

// TestAKeeperIsDesertedOnceNobodyIsLeft: a keeper ends once the last of what it
// serves has, and not before.
func TestAKeeperIsDesertedOnceNobodyIsLeft(t *testing.T) {
	if abi, why := Supported(); abi == 0 {
		t.Skip(why)
	}
	listener, goes, ended := make(chan uintptr), make(chan bool), make(chan bool)
	go func() {
		defer close(ended)
		onThreadThatEnds(func() {
			fd, ok := uintptr(0), prctl(prSetNoNewPrivs, 1) == nil
			if ok {
				fd, ok = install(filter(true), true)
			}
			if !ok {
				fd = 0
			}
			listener <- fd
			<-goes
		})
	}()
	fd := <-listener
	if fd == 0 {
		t.Skip("no filter can be laid here")
	}
	defer func() { _ = syscall.Close(int(fd)) }()
	k := &keeper{listener: fd}
	if k.deserted() {
		t.Error("a thread has the filter, and it is deserted")
	}
	close(goes)
	<-ended
	for !k.deserted() { // the thread ends a moment after what it ran
		runtime.Gosched()
	}
}
