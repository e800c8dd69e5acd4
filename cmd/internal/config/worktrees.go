package config

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/writbus/writ/enforcement/confine"
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
	return OtherTrees(tree)
}

// OtherTrees are the other work trees of the repository that a folder is a work
// tree of, the one that they were made from first.
func OtherTrees(tree string) []string {
	dot := filepath.Join(tree, ".git")
	common := ""
	var err error
	if folders := confine.GitFolders(tree); len(folders) > 0 {
		common = folders[len(folders)-1]
	} else if common, err = filepath.EvalSymlinks(dot); err != nil {
		return nil
	}
	var trees []string
	add := func(other string) {
		if real, err := filepath.EvalSymlinks(other); err == nil && real != tree {
			trees = append(trees, real)
		}
	}
	if filepath.Base(common) == ".git" {
		add(filepath.Dir(common))
	}
	if raw, err := os.ReadFile(filepath.Join(common, "config")); err == nil {
		for line := range strings.Lines(string(raw)) {
			key, value, _ := strings.Cut(line, "=")
			if value = strings.Trim(strings.TrimSpace(value), `"`); strings.EqualFold(strings.TrimSpace(key), "worktree") {
				add(joined(common, value))
			}
		}
	}
	links, _ := filepath.Glob(filepath.Join(common, "worktrees", "*", "gitdir"))
	for _, link := range links {
		if raw, err := os.ReadFile(link); err == nil {
			add(filepath.Dir(joined(filepath.Dir(link), strings.TrimSpace(string(raw)))))
		}
	}
	return trees
}

func joined(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
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
