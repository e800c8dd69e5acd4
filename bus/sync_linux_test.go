package bus_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/bustest"
	"github.com/writbus/writ/bus/embedded"
)

// TestPowerLossSyncs runs a server in a process in which the kernel refuses
// fsync and fdatasync. With power-loss durability an append is then not
// acknowledged, so every acknowledgement had waited for a sync that succeeded;
// with interval durability it is acknowledged all the same, long before the next
// sync. What the disk does with a sync is beyond this test.
func TestPowerLossSyncs(t *testing.T) {
	// Not in parallel: between fork and exec a child holds the locks of the
	// servers that other tests stop and start.
	for _, c := range []struct {
		role       string
		durability embedded.Durability
		acked      bool
	}{{"nosync", embedded.PowerLoss, false}, {"nosync together", embedded.PowerLoss, false}, {"nosync", embedded.Interval, true}, {"nosync together", embedded.Interval, true}} {
		t.Run(string(c.durability)+" "+c.role, func(t *testing.T) {
			child := startChild(t, c.role, t.TempDir(), c.durability)
			result := child.says(t, "append")
			if strings.HasPrefix(result, "skip") {
				t.Skip(result)
			}
			if got := result == "acknowledged"; got != c.acked {
				t.Fatalf("without syncs the append was: %s", result)
			}
			t.Log(result)
			if got := child.says(t, "streams"); !strings.Contains(got, unix.EIO.Error()) {
				t.Errorf("without syncs the streams were synced: %s", got)
			}
		})
	}
}

// appendWithoutSync is the child's part: it says what became of an append that
// could not be synced, and whether the streams' descriptions were to be.
func appendWithoutSync(server *embedded.Server, c *bus.Conn) error {
	ctx := context.Background()
	if err := c.EnsureStreams(ctx, bus.Retention{}); err != nil {
		return err
	}
	if _, err := c.Append(ctx, bustest.Event("s", "before", "p"), nil, bus.Any()); err != nil {
		return err
	}
	if err := refuseSyncs(); err != nil {
		fmt.Println("append skip: system calls cannot be filtered here:", err)
		return nil
	}
	limit := time.Minute
	if os.Getenv(childSyncs) == string(embedded.PowerLoss) { // a store that ended does not answer
		limit = 3 * time.Second
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	_, err := c.Append(ctx, bustest.Event("s", "after", "p"), nil, bus.Any())
	switch {
	case err == nil:
		fmt.Println("append acknowledged")
	case errors.Is(err, bus.ErrStorage), errors.Is(err, bus.ErrUnavailable):
		fmt.Println("append refused:", err)
	default:
		return err
	}
	fmt.Println("streams", server.SyncStreams())
	return nil
}

// refuseSyncs has the kernel answer EIO to fsync and fdatasync in every thread
// of this process, for good.
func refuseSyncs() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	const (
		numberOffset = 0 // of struct seccomp_data
		allow        = 0x7fff0000
		refuse       = 0x00050000 | uint32(unix.EIO)
		filterMode   = 1
		allThreads   = 1
	)
	program := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: numberOffset},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_FSYNC, Jt: 1},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_FDATASYNC, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: refuse},
		{Code: unix.BPF_RET | unix.BPF_K, K: allow},
	}
	filter := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, filterMode, allThreads, uintptr(unsafe.Pointer(&filter)))
	runtime.KeepAlive(program)
	if errno != 0 {
		return errno
	}
	return nil
}
