//go:build unix

package relocate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestAFormerPlaceThatNeverAnswers: whether a folder is a copy of one on a network that
// is gone is not waited for, and said to be unknown with each start.
func TestAFormerPlaceThatNeverAnswers(t *testing.T) {
	within := answerWithin
	t.Cleanup(func() { answerWithin = within })
	answerWithin = time.Millisecond
	dead, dir := t.TempDir(), t.TempDir()
	for _, folder := range []string{dead, dir} {
		if err := os.Mkdir(filepath.Join(folder, "run"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	never := filepath.Join(dead, "run", "path")
	if err := unix.Mkfifo(never, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // lets go of who reads it
		if file, err := os.OpenFile(never, os.O_RDWR, 0); err == nil {
			_ = file.Close()
		}
	})
	if err := os.WriteFile(filepath.Join(dir, "run", "path"), []byte(dead), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if original, err := Original(dir); original != "" || err == nil || !strings.Contains(err.Error(), dead+", where it lay, does not answer") {
			t.Fatalf("%q, %v", original, err)
		}
	}
}
