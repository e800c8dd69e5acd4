package worktree

import "github.com/writbus/writ/schemas/gitignore"

// Ignored decides what the .gitignore files of a tree, and its
// .git/info/exclude, leave out, for whoever walks the tree from its root down.
// It is not safe for concurrent use.
type Ignored struct {
	root  string
	rules *ignoring
}

// NewIgnored begins at the root of a tree, absolute. Rules of folders above it
// do not count.
func NewIgnored(root string) *Ignored {
	return &Ignored{root: root, rules: newIgnoring(nil, gitignore.Files{readExclude(root + "/.git")})}
}

// Enter reads the rules of a folder, relative to the root with forward slashes,
// "" for the root itself; names is what is in it. Folders above come first.
func (i *Ignored) Enter(dir string, names []string) { i.rules.enter(i.root, dir, names) }

// Ignores reports whether an entry of a folder that was entered is left out.
func (i *Ignored) Ignores(dir, name string, isDir bool) bool {
	return i.rules.ignores(dir, name, isDir)
}
