package library

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/writbus/writ/retrieval/files"
	"github.com/writbus/writ/schemas/atomicfile"
)

// A saved index whose project is gone is kept for so long, in case that its
// folder comes back: a volume that is not mounted, a folder that was moved. What
// a save that was killed left behind is of no use to anybody.
const (
	keepOrphans = 7 * 24 * time.Hour
	keepUnsaved = time.Hour
	savedSuffix = ".index"
)

// prune removes saved indexes that nobody will ask for again: of
// projects whose folders are gone for a while, and those that this version
// cannot read. All of it can be made again.
func (l *Library) prune() {
	folder := filepath.Dir(l.file(""))
	entries, err := os.ReadDir(folder)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			l.o.Logger.Warn("look for saved indexes that nobody needs", "error", err)
		}
		return
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		file := filepath.Join(folder, e.Name())
		why := l.useless(file, l.o.Now().Sub(info.ModTime()))
		if why == "" {
			continue
		}
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			l.o.Logger.Warn("remove a saved index", "file", file, "error", err)
			continue
		}
		l.o.Logger.Info("removed a saved index", "file", file, "bytes", info.Size(), "why", why)
	}
}

// useless says why a file of this age is not needed, "" where it may be.
// What is not named as saved indexes are is left alone.
func (l *Library) useless(file string, age time.Duration) string {
	name := filepath.Base(file)
	switch {
	case atomicfile.Temporary(name):
		if age > keepUnsaved {
			return "a save that never ended left it"
		}
		return ""
	case !strings.HasSuffix(name, savedSuffix):
		return ""
	}
	root, err := files.SavedRoot(file)
	switch {
	case errors.Is(err, files.ErrSaved):
		return "it is no saved index of this version"
	case err != nil || age < keepOrphans:
		return ""
	case l.file(root) != file:
		return "it is of another project than its name says"
	}
	if info, err := os.Stat(root); errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return "its project " + root + " is gone"
	}
	return ""
}
