package files

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestNearbyOpensWhatTheRootDoes(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	write := func(folder, name string) {
		file := filepath.Join(folder, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(name), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	names := []string{"a", "b/c", "b/d", "b/e/f", "g/h"}
	for _, name := range names {
		write(dir, name)
	}
	write(outside, "secret")
	for link, to := range map[string]string{"b/up": "../a", "out": outside, "b/out": filepath.Join(outside, "secret"), "again": "b"} {
		if err := os.Symlink(to, filepath.Join(dir, filepath.FromSlash(link))); err != nil {
			t.Skip(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	near := &nearby{root: root}
	defer near.Close()
	read := func(from opener, name string) (string, error) {
		f, err := from.OpenFile(name, os.O_RDONLY, 0)
		if err != nil {
			return "", err
		}
		defer func() { _ = f.Close() }()
		raw, err := io.ReadAll(f)
		return string(raw), err
	}
	names = append(names, "b/c", "b/up", "out/secret", "b/out", "again/c", "b/none", "none/c", "b/c/d", "b/e/f", "a")
	for _, name := range names {
		want, wantErr := read(root, name)
		got, err := read(near, name)
		var path, wantPath *fs.PathError
		errors.As(err, &path)
		errors.As(wantErr, &wantPath)
		if got != want || (err == nil) != (wantErr == nil) || err != nil && (path == nil || wantPath == nil || *path != *wantPath) {
			t.Errorf("%s: %q, %v; the root says %q, %v", name, got, err, want, wantErr)
		}
	}
}
