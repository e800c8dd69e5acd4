package turn

import (
	"path/filepath"

	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/enforcement/confine/worktree"
	"github.com/writbus/writ/enforcement/project"
)

// repository is what stands to be lost in the project's work tree, nil where
// that cannot be told. A project may be a folder of a larger work tree.
func repository(folder string) *enforcement.Repository {
	root := project.WorkTree(folder)
	below, err := filepath.Rel(root, folder)
	if root == "" || err != nil {
		return nil
	}
	r := worktree.ReadRepository(root)
	if r.Unknown {
		return nil
	}
	known := &enforcement.Repository{Staged: r.Staged, Published: r.Published}
	for _, name := range r.Dirty {
		if rel, err := filepath.Rel(below, filepath.FromSlash(name)); err == nil {
			known.Dirty = append(known.Dirty, filepath.ToSlash(rel))
		}
	}
	return known
}
