//go:build !linux

package worktree

import (
	"io/fs"
	"os"
	"path/filepath"
)

// folder visits a folder and what is in it.
func (w *walker) folder(at subfolder) error {
	dir := at.path
	entries, err := os.ReadDir(filepath.Join(w.root, filepath.FromSlash(dir)))
	if err != nil && dir == "" {
		return err
	}
	f := &folder{}
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			f.names, f.stamps = append(f.names, e.Name()), append(f.stamps, stampFrom(info))
		}
	}
	w.tree.ignore.enter(w.root, dir, f.names)
	into, err := w.decide(at, f)
	if err != nil {
		return err
	}
	w.keep(dir, f)
	for _, next := range into {
		if err := w.folder(next); err != nil {
			return err
		}
	}
	return nil
}

func stampOf(path string) (stamp, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return stamp{}, err
	}
	return stampFrom(info), nil
}

func stampFrom(info fs.FileInfo) stamp {
	return stamp{size: info.Size(), mtime: info.ModTime().UnixNano(), mode: info.Mode() & (fs.ModeType | fs.ModePerm)}
}
