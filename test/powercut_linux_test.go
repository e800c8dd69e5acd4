package test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/writbus/writ/schemas/filelock"
	"github.com/writbus/writ/test/programs"
)

// TestPowerCut cuts the power of a disk under hooks, start included: what the kernel
// was not made to write is gone. Another daemon goes on with it each time, and has all
// that was told with power-loss, all but the end with interval. The disk is a file
// system of its own in a file, so it needs root and a loop device. WRIT_POWER_CUTS sets
// how many cuts there are with each durability.
func TestPowerCut(t *testing.T) {
	t.Parallel()
	cuts := fromEnv(t, "WRIT_POWER_CUTS", 0)
	if cuts == 0 {
		t.Skip("WRIT_POWER_CUTS says how many")
	}
	for durability, loses := range map[string]time.Duration{"power-loss": 0, "interval": 100 * time.Millisecond} {
		t.Run(durability, func(t *testing.T) {
			t.Parallel()
			d := newDisk(t)
			k := newKilledDaemon(t, d.mounted, durability)
			defer k.kill()
			k.end, k.loses = func() { d.cut(k) }, loses
			random := rand.New(rand.NewPCG(uint64(fromEnv(t, "WRIT_KILL_SEED", 1)), 1)) //nolint:gosec // chooses moments
			for round := range cuts {
				k.round(round, 1+random.IntN(200), random)
				t.Logf("cut %d", round+1)
			}
			k.must("up", "--detach")
			k.compare(cuts)
		})
	}
}

// disk is a file system that loses its power.
type disk struct {
	t              *testing.T
	image, mounted string
}

func newDisk(t *testing.T) *disk {
	t.Helper()
	d := &disk{t: t, image: filepath.Join(t.TempDir(), "image"), mounted: t.TempDir()}
	if err := errors.Join(os.WriteFile(d.image, nil, 0o600), os.Truncate(d.image, 1<<30)); err != nil {
		t.Fatal(err)
	}
	for _, line := range [][]string{{"mkfs.ext4", "-q", "-m", "0", d.image}, {"mount", "-o", "loop", d.image, d.mounted}} {
		if out, err := exec.Command(line[0], line[1:]...).CombinedOutput(); err != nil {
			t.Skipf("no disk to cut off: %v: %v: %s", line, err, out)
		}
	}
	t.Cleanup(func() { d.unmount() })
	return d
}

func (d *disk) unmount() {
	for exec.Command("umount", d.mounted).Run() != nil { // until the last process that has a file open has ended
		if !d.isMounted() {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

func (d *disk) isMounted() bool { return exec.Command("mountpoint", "-q", d.mounted).Run() == nil }

// halt has a process tell nothing more: without power nobody does, while a sync that the
// shutdown overtakes may return as if it had been done.
func halt(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Error(err)
	}
	tasks := fmt.Sprintf("/proc/%d/task/*/stat", pid)
	for runs := true; runs; {
		stats, err := filepath.Glob(tasks)
		runs = err == nil && slices.ContainsFunc(stats, func(stat string) bool {
			raw, _ := os.ReadFile(stat) // a thread that has ended runs no more
			_, state, _ := strings.Cut(string(raw), ") ")
			return strings.HasPrefix(state, "R") || strings.HasPrefix(state, "S")
		})
	}
}

// cut drops what no sync covered, the journal's end too, ends the daemon, and mounts
// what is left.
func (d *disk) cut(k *killedDaemon) {
	daemon, err := programs.Announced(k.data())
	if err != nil {
		d.t.Error(err)
		return
	}
	const shutdown, withoutJournal = 0x8004587d, 2 // EXT4_IOC_SHUTDOWN, EXT4_GOING_FLAGS_NOLOGFLUSH
	flags := uint32(withoutJournal)
	root, err := os.Open(d.mounted)
	if err != nil {
		d.t.Error(err)
		return
	}
	halt(d.t, daemon.PID)
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, root.Fd(), shutdown, uintptr(unsafe.Pointer(&flags))) //nolint:gosec // the call takes it so
	if err := errors.Join(root.Close(), syscall.Kill(daemon.PID, syscall.SIGKILL)); errno != 0 || err != nil {
		d.t.Error("cut the power: ", errno, err)
	}
	for filelock.Held(filepath.Join(k.data(), "daemon.lock")) {
		time.Sleep(time.Millisecond)
	}
	d.unmount()
	if out, err := exec.Command("mount", "-o", "loop", d.image, d.mounted).CombinedOutput(); err != nil {
		d.t.Errorf("%v: %s", err, out)
	}
}
