package worktree

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/writbus/writ/enforcement/confine"
)

// Others are the other work trees of the repository that a folder is a work
// tree of, the one that they were made from first.
func Others(tree string) []string {
	dot := filepath.Join(tree, ".git")
	common := Common(tree)
	if common == "" {
		var err error
		if common, err = filepath.EvalSymlinks(dot); err != nil {
			return nil
		}
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
	links, _ := fs.Glob(os.DirFS(common), "worktrees/*/gitdir") // the pattern is sound
	for _, link := range links {
		link = filepath.Join(common, filepath.FromSlash(link))
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

// Common is the git folder that all work trees of a repository share, "" for a
// folder that is none of them or has it within.
func Common(tree string) string {
	if folders := confine.GitFolders(tree); len(folders) > 0 {
		return folders[len(folders)-1]
	}
	return ""
}
