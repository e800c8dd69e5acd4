package tools_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/writbus/writ/cmd/writd/tools"
)

// TestMisplaced names what of a data directory is of another kind, leads nowhere, or
// cannot be written by who is to write it.
func TestMisplaced(t *testing.T) {
	for name, breaks := range map[string]func(path string) error{
		"is no folder":      func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"cannot be reached": func(path string) error { return os.Symlink(path+".gone", path) },
		"cannot be written": func(path string) error { return os.Mkdir(path, 0o500) },
		"":                  func(path string) error { return os.Mkdir(path, 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "archive")
			if err := breaks(path); err != nil {
				t.Fatal(err)
			}
			told := make(chan error)
			go func() {
				if os.Geteuid() == 0 && name == "cannot be written" { // modes say nothing to root
					runtime.LockOSThread()                                                                                                 // which ends with this goroutine, and the thread with it
					if err := errors.Join(os.Chmod(filepath.Dir(dir), 0o755), os.Chmod(dir, 0o755), syscall.Setfsuid(65534)); err != nil { //nolint:gosec // empty
						t.Error(err)
					}
				}
				told <- tools.Misplaced(dir)
			}()
			err := <-told
			if name == "" {
				if left, readErr := os.ReadDir(path); err != nil || readErr != nil || len(left) > 0 {
					t.Errorf("a sound folder: %v, with %v in it, %v", err, left, readErr)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), path+" "+name) {
				t.Errorf("told %v", err)
			}
		})
	}
}

// TestAFullDiskSaysWhatToDo writes to a file that is always full.
func TestAFullDiskSaysWhatToDo(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = full.Close() }()
	t.Setenv("WRIT_HOME", t.TempDir())
	var told strings.Builder
	if code := tools.Run(t.Context(), []string{"model", "list", "--json"}, full, &told); code != 1 || !strings.Contains(told.String(), "Make room on that disk") {
		t.Errorf("%d, %q", code, told.String())
	}
}
