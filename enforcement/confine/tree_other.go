//go:build !linux

package confine

import (
	"io/fs"
	"os"
	"path/filepath"
)

// folder visits a folder and what is in it.
func (w *walker) folder(dir string, ignored bool) error {
	entries, err := os.ReadDir(filepath.Join(w.root, filepath.FromSlash(dir)))
	if err != nil && dir == "" {
		return err
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	w.tree.ignore.enter(w.root, dir, names)
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			continue
		}
		into, below, err := w.visit(dir, e.Name(), stampFrom(info), ignored)
		if err != nil {
			return err
		}
		if into != "" {
			if err := w.folder(into, below); err != nil {
				return err
			}
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
