package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/writbus/writ/schemas/atomicfile"
	"github.com/writbus/writ/schemas/digest"
)

// Register notes in the data directory that a project is under guard. Where
// its settings file disappears afterwards – deleted, or absent from another
// branch – the project stays under guard with the default settings; only
// Unregister ends it.
func Register(dataDir, root string) error {
	path := registryEntry(dataDir, root)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("config: register %s: %w", root, err)
	}
	if err := atomicfile.Write(path, []byte(root+"\n"), 0o600); err != nil {
		return fmt.Errorf("config: register %s: %w", root, err)
	}
	return nil
}

// Unregister forgets a project. One that is not known is no error.
func Unregister(dataDir, root string) error {
	err := os.Remove(registryEntry(dataDir, root))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("config: unregister %s: %w", root, err)
	}
	return nil
}

// Registered tells whether a project was put under guard on this machine.
func Registered(dataDir, root string) bool {
	_, err := os.Lstat(registryEntry(dataDir, root))
	return err == nil
}

// registryEntry is a project's file, found by its root with links resolved.
func registryEntry(dataDir, root string) string {
	if real, err := filepath.EvalSymlinks(root); err == nil {
		root = real
	}
	return filepath.Join(dataDir, "projects", digest.Name(root))
}

// FindGuarded walks up from an absolute folder to the nearest project that has
// Writ's settings or is registered in the data directory.
func FindGuarded(dataDir, dir string) (root string, found bool) {
	entries, err := os.ReadDir(filepath.Join(dataDir, "projects"))
	if err != nil || len(entries) == 0 {
		return FindProject(dir)
	}
	for {
		if hasProjectFile(dir) || Registered(dataDir, dir) {
			return dir, true
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", false
		}
		dir = parent
	}
}
