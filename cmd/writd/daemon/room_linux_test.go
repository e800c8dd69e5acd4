package daemon

import (
	"errors"
	"log/slog"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/schemas/disk"
)

// TestTooSmallADisk has no daemon begin where the views of a first start would run
// into the end of the disk; the same folder serves once there is room.
func TestTooSmallADisk(t *testing.T) {
	data := t.TempDir()
	if err := unix.Mount("tmpfs", data, "tmpfs", 0, "size=24m"); err != nil {
		t.Skipf("no small file system can be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(data, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	settings := config.DefaultSettings()
	settings.DataDir = data
	err := Run(t.Context(), settings, slog.New(slog.DiscardHandler), func(string) { t.Error("it serves") })
	if !errors.Is(err, disk.ErrFull) || !strings.Contains(err.Error(), data+", with") || !strings.Contains(err.Error(), "needs 72.0 MiB") {
		t.Fatalf("a disk of 24 MiB: %v", err)
	}
	if err := unix.Mount("tmpfs", data, "tmpfs", unix.MS_REMOUNT, "size=256m"); err != nil {
		t.Fatal(err)
	}
	if err := start(t, data, newProject(t, "mode: work\n")).stop(); err != nil {
		t.Error(err)
	}
}
