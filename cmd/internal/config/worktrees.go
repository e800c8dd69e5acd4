package config

import (
	"os"
	"path/filepath"

	"github.com/writbus/writ/enforcement/confine/worktree"
)

// findShared finds the guard of a folder's repository, where the folder itself
// lies in a work tree without settings of its own: another work tree of the same
// repository has them, or a folder above that one. root is the folder of this
// work tree that corresponds to the guarded one, and from is the guarded one.
func findShared(dir string, find func(string) (string, bool)) (root, from string, found bool) {
	for tree := dir; ; tree = filepath.Dir(tree) {
		for _, other := range linkedTrees(tree) {
			below, err := filepath.Rel(tree, dir)
			if err != nil {
				continue
			}
			from, found := find(filepath.Join(other, below))
			if !found {
				continue
			}
			if rel, err := filepath.Rel(other, from); err == nil && filepath.IsLocal(rel) {
				return filepath.Join(tree, rel), from, true
			}
			return tree, from, true
		}
		if tree == filepath.Dir(tree) {
			return "", "", false
		}
	}
}

// linkedTrees are the other work trees of the repository of which a folder is a
// linked work tree or a submodule; none where it is none.
func linkedTrees(tree string) []string {
	if info, err := os.Lstat(filepath.Join(tree, ".git")); err != nil || info.IsDir() {
		return nil
	}
	return worktree.Others(tree)
}

// SettingsRoot is the root whose settings rule a project: its own, or where it
// has none those of its repository.
func SettingsRoot(root string) string {
	if hasProjectFile(root) {
		return root
	}
	if _, from, found := findShared(root, findAbove(hasProjectFile)); found {
		return from
	}
	return root
}
