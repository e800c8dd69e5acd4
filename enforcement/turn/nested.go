package turn

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/enforcement/confine"
	"github.com/writbus/writ/enforcement/confine/worktree"
)

// Settings of agents in a folder below the project's root rule whoever starts there.
// Where such folders are is known from the work tree alone: what stands in one before
// a command is held as the project's own settings are, and what a command made is
// taken away when it has ended.

// nestedSettings are the protected files below the root that a work tree has.
func (t turn) nestedSettings(tree *worktree.Tree) (paths []string) {
	if tree == nil {
		return nil
	}
	for _, p := range tree.Below("/.") {
		if nested(p) && t.classOf(p) == enforcement.ClassProtected {
			paths = append(paths, p)
		}
	}
	return paths
}

// nested tells whether a path is not that of the project's own settings.
func nested(p string) bool { return strings.Contains(p, "/") && !strings.HasPrefix(p, ".") }

func (t turn) classOf(p string) string {
	return enforcement.Classify(t.project.Layout, filepath.ToSlash(filepath.Join(t.project.Root, filepath.FromSlash(p)))).Class
}

// withoutNested takes away the settings below the root that a command made, and
// leaves out what was taken.
func (t *turn) withoutNested(found []worktree.Change) []worktree.Change {
	var kept []worktree.Change
	for _, change := range found {
		if change.Change != confine.Created || !nested(change.Path) || t.classOf(change.Path) != enforcement.ClassProtected {
			kept = append(kept, change)
			continue
		}
		gone := confine.Restored{Path: change.Path, Change: confine.Created, Err: removeIn(t.project.Root, change.Path)}
		t.restored = append(t.restored, enforcement.Restored{Path: gone.Path, Change: gone.Change, Told: gone.String(), Failed: gone.Err != nil})
	}
	return kept
}

// removeIn removes a file of a folder, through no link that leads out of it.
func removeIn(dir, name string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // nothing is buffered
	return root.Remove(filepath.FromSlash(name))
}
