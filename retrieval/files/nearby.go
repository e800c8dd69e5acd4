package files

import (
	"io/fs"
	"os"
	"path"
)

// opener opens files by their paths.
type opener interface {
	OpenFile(name string, flag int, perm fs.FileMode) (*os.File, error)
}

// nearby opens files of a project as its root does, which goes the way through
// all folders with every file. It stays in the folder of the last one, where in
// the order of their paths most others are.
type nearby struct {
	root   *os.Root
	folder string
	at     *os.Root // nil where the folder is not open
}

// OpenFile opens a file of the project. Whatever cannot be opened from its folder
// is left to the root: a link may lead to another one.
func (n *nearby) OpenFile(name string, flag int, perm fs.FileMode) (*os.File, error) {
	folder, base := path.Split(name)
	if folder != n.folder {
		n.Close()
		if at, err := n.root.OpenRoot(path.Clean(folder)); err == nil {
			n.folder, n.at = folder, at
		}
	}
	if n.at != nil {
		if f, err := n.at.OpenFile(base, flag, perm); err == nil {
			return f, nil
		}
	}
	return n.root.OpenFile(name, flag, perm)
}

// Close lets go of the folder.
func (n *nearby) Close() {
	if n.at != nil {
		_ = n.at.Close()
	}
	n.folder, n.at = "", nil
}
