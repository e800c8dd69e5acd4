package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/writbus/writ/enforcement/confine/worktree"
	"github.com/writbus/writ/schemas/atomicfile"
	"github.com/writbus/writ/schemas/digest"
)

// Register notes in the data directory that a project is under guard. Where
// its settings file disappears afterwards – deleted, or absent from another
// branch – the project stays under guard with the default settings; only
// Unregister ends it.
func Register(dataDir, root string) error {
	own, _, _ := strings.Cut(root, "\n")
	path := registryEntry(dataDir, own)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("config: register %s: %w", root, err)
	}
	if err := atomicfile.Write(path, []byte(root+"\n"), 0o600); err != nil {
		return fmt.Errorf("config: register %s: %w", root, err)
	}
	return nil
}

// RegisterShared notes that a work tree has the guard of another one: it stays
// under guard as long as that one is.
func RegisterShared(dataDir, root, from string) error {
	both := root + "\n" + from
	return Register(dataDir, both+"\n"+digest.Hex(both))
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
	raw, err := os.ReadFile(registryEntry(dataDir, root))
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	own, rest, shared := strings.Cut(strings.TrimSpace(string(raw)), "\n")
	from, sum, summed := strings.Cut(rest, "\n")
	if !shared || hasProjectFile(from) || summed && sum != digest.Hex(own+"\n"+from) {
		return true // what is damaged guards
	}
	_, err = os.Lstat(registryEntry(dataDir, from))
	return err == nil
}

// NoteOpen notes in the data directory whether a person accepted that hooks of a
// project let pass what nobody judged: the daemon cannot be asked then, and the
// settings file may be anybody's.
func NoteOpen(dataDir, root string, open bool) error {
	path := registryEntry(dataDir, root) + ".open"
	if MayOpen(dataDir, root) == open {
		return nil
	}
	err := os.Remove(path)
	if open {
		if err = os.MkdirAll(filepath.Dir(path), 0o700); err == nil {
			err = atomicfile.Write(path, []byte(root+"\n"), 0o600)
		}
	}
	if err != nil {
		return fmt.Errorf("config: note how %s fails: %w", root, err)
	}
	return nil
}

// MayOpen tells what NoteOpen noted.
func MayOpen(dataDir, root string) bool {
	_, err := os.Lstat(registryEntry(dataDir, root) + ".open")
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
	root, found = findRoot(dir, func(dir string) bool { return hasProjectFile(dir) || Registered(dataDir, dir) })
	if !found {
		root, _, found = findRegistered(dataDir, entries, dir)
	}
	return root, found
}

// findRegistered finds the guard of a linked work tree whose repository has its git
// folder apart from the tree that it was made with: git does not say where that one
// is, and the data directory knows it.
func findRegistered(dataDir string, entries []os.DirEntry, dir string) (root, from string, found bool) {
	for tree := dir; ; tree = filepath.Dir(tree) {
		if common := worktree.Common(tree); common != "" {
			for _, e := range entries {
				raw, err := os.ReadFile(filepath.Join(dataDir, "projects", e.Name()))
				own, _, _ := strings.Cut(strings.TrimSpace(string(raw)), "\n")
				if err == nil && own != tree && worktree.Common(own) == common && Registered(dataDir, own) {
					return tree, own, true
				}
			}
		}
		if tree == filepath.Dir(tree) {
			return "", "", false
		}
	}
}

// SettingsRootIn is SettingsRoot, or the registered work tree of the same repository
// that has settings.
func SettingsRootIn(dataDir, root string) string {
	at := SettingsRoot(root)
	if hasProjectFile(at) {
		return at
	}
	entries, _ := os.ReadDir(filepath.Join(dataDir, "projects")) // none are known of one that cannot be read
	if tree, from, found := findRegistered(dataDir, entries, root); found && tree == root && hasProjectFile(from) {
		return from
	}
	return at
}
