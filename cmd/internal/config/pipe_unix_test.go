//go:build unix

package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestSettingsThatAreNoFile: to open a pipe that somebody put in the place of the
// settings would be to wait for ever, with every hook behind it.
func TestSettingsThatAreNoFile(t *testing.T) {
	root := t.TempDir()
	path := filepath.Join(root, ProjectFile)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadProject(root); !errors.Is(err, ErrSettings) || !strings.Contains(err.Error(), "no regular file") {
		t.Errorf("a pipe: %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Repeat("# much\n", maxSettings/6)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadProject(root); !errors.Is(err, ErrSettings) || !strings.Contains(err.Error(), "too large") {
		t.Errorf("too much: %v", err)
	}
}
