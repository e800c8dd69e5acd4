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

// TestACopyBesideItsOriginalIsTold tells a directory that was copied from one that was
// moved, restored, or is looked at by another name.
func TestACopyBesideItsOriginalIsTold(t *testing.T) {
	above, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	in := func(name string) string { return filepath.Join(above, name) }
	is := func(dir, want string) {
		t.Helper()
		if got, err := Original(in(dir)); err != nil || got != want {
			t.Errorf("%s is a copy of %q, %v, want %q", dir, got, err, want)
		}
	}
	began := func(dir, key string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(in(dir), "audit"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(in(dir), "audit", "key.pub"), []byte(key), 0o600); err != nil {
			t.Fatal(err)
		}
		is(dir, "")
	}
	copied := func(from, to string) {
		t.Helper()
		if err := os.CopyFS(in(to), os.DirFS(in(from))); err != nil {
			t.Fatal(err)
		}
	}
	began("a", "one")
	is("a", "")
	copied("a", "b")
	is("b", in("a"))
	is("b", in("a")) // each start tells it
	is("a", "")
	if err := os.Symlink(in("a"), in("link")); err != nil {
		t.Log("there are no links here: ", err)
	} else {
		is("link", "")
	}
	copied("a", "other")
	began("other", "another") // begun anew
	if err := os.Rename(in("a"), in("moved")); err != nil {
		t.Fatal(err)
	}
	is("moved", "")
	is("b", "") // it is the only one at any place that it knows
	began("a", "one")
	is("moved", "")
}
