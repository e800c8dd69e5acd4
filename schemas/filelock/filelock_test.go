package filelock

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// childVariable has a copy of the test's program hold the lock that it names.
const childVariable = "WRIT_TEST_FILELOCK"

func TestMain(m *testing.M) {
	if path := os.Getenv(childVariable); path != "" {
		if _, err := Take(path); err != nil {
			os.Exit(1)
		}
		_, _ = os.Stdout.WriteString("held\n")
		select {}
	}
	os.Exit(m.Run())
}

func TestOneHolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	if Held(path) {
		t.Error("a lock without a file counts as held")
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a look makes a file")
	}
	for range 2 {
		lock, err := Take(path)
		if err != nil {
			t.Fatal(err)
		}
		if left, err := os.ReadFile(path); err != nil || len(left) > 0 {
			t.Errorf("an earlier holder says %q, %v", left, err)
		}
		if err := os.WriteFile(path, []byte("reading"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Take(path); !errors.Is(err, ErrHeld) {
			t.Errorf("a second holder: %v", err)
		}
		if !Held(path) {
			t.Error("it does not count as held")
		}
		waited := make(chan error)
		go func() {
			second, err := Wait(path)
			if err == nil {
				second.Release()
			}
			waited <- err
		}()
		lock.Release()
		if err := <-waited; err != nil {
			t.Error(err)
		}
		if Held(path) {
			t.Error("it still counts as held")
		}
	}
	if _, err := Take(filepath.Join(t.TempDir(), "none", "lock")); err == nil || errors.Is(err, ErrHeld) {
		t.Errorf("without a folder: %v", err)
	}
}

// TestItEndsWithItsHolder: a holder that is killed leaves nothing to clear away.
func TestItEndsWithItsHolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command(self)
	child.Env = append(os.Environ(), childVariable+"="+path)
	says, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := says.Read(make([]byte, 8)); err != nil {
		t.Fatal(err)
	}
	if _, err := Take(path); !errors.Is(err, ErrHeld) {
		t.Errorf("another process holds it: %v", err)
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait()
	lock, err := Take(path)
	if err != nil {
		t.Fatal(err)
	}
	lock.Release()
}
