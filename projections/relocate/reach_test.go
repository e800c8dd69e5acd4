package relocate

import (
	"os"
	"path/filepath"
	"testing"
)

// TestAnIDIsDrawnOnce keeps a daemon's id over its starts, and draws another where
// it cannot be read.
func TestAnIDIsDrawnOnce(t *testing.T) {
	dir := t.TempDir()
	first, err := DaemonID(dir)
	again, err2 := DaemonID(dir)
	if err != nil || err2 != nil || first != again || len(first) != 16 {
		t.Fatalf("%q %q, %v %v", first, again, err, err2)
	}
	if err := os.WriteFile(filepath.Join(dir, "run", "daemon-id"), []byte("a.>"), 0o600); err != nil {
		t.Fatal(err)
	}
	if other, err := DaemonID(dir); err != nil || other == first || len(other) != 16 {
		t.Errorf("%q, %v", other, err)
	}
}
