package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/writbus/writ/bus/embedded"
	"github.com/writbus/writ/schemas/atomicfile"
	"github.com/writbus/writ/schemas/digest"
)

// Source is the data folder that is copied.
type Source struct {
	Root       string
	Writ       string // version of this program
	DataFormat int
	Log        string                        // folder of the streams, below Root
	Evidence   string                        // folder of what was signed of them, below Root
	Leave      []string                      // patterns (path.Match) of names in Root that are not copied
	Cut        func() (*embedded.Cut, error) // the streams at one moment
	Now        func() time.Time              // at the cut
}

// Backup is a whole backup.
type Backup struct {
	Dir string
	Manifest
}

// stamp is the form of a backup's name: its time in UTC, which sorts.
const stamp = "20060102T150405.000Z"

// Create writes a backup of a data folder that is in use into a fresh folder in
// dir, named after the time. What an interrupted one left there is removed. It
// returns ErrPlace for a dir within the data folder. Of one data folder, only one
// backup is to be created at a time.
func Create(ctx context.Context, dir string, s Source) (Backup, error) {
	if err := s.prepare(dir); err != nil {
		return Backup{}, err
	}
	temp, err := os.MkdirTemp(dir, s.temporary()+"*")
	if err != nil {
		return Backup{}, fmt.Errorf("%w: %w", ErrPlace, err)
	}
	defer func() { _ = os.RemoveAll(temp) }() // gone once it is in place
	m, err := s.copyTo(ctx, temp)
	if err != nil {
		return Backup{}, fmt.Errorf("backup of %s: %w", s.Root, err)
	}
	if _, err := Check(temp); err != nil {
		return Backup{}, fmt.Errorf("backup of %s: read again: %w", s.Root, err)
	}
	final := filepath.Join(dir, m.Time.Format(stamp))
	if err := place(temp, final); err != nil {
		return Backup{}, fmt.Errorf("backup of %s: %w", s.Root, err)
	}
	return Backup{Dir: final, Manifest: m}, nil
}

func (s Source) prepare(dir string) error {
	if Within(s.Root, dir) {
		return fmt.Errorf("%w: %s lies within the data folder %s, and would be lost with it. Choose a folder elsewhere, best on another disk", ErrPlace, dir, s.Root)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("%w: %w. Choose a folder you may write to", ErrPlace, err)
	}
	left, err := filepath.Glob(filepath.Join(dir, s.temporary()+"*"))
	for _, path := range left {
		err = errors.Join(err, os.RemoveAll(path))
	}
	return err
}

// temporary begins the names of this data folder's unfinished backups.
func (s Source) temporary() string { return ".unfinished-" + digest.Name(s.Root) + "-" }

// Within says whether a folder, which need not exist, lies in another or is it,
// wherever links lead.
func Within(root, dir string) bool {
	rel, err := filepath.Rel(Resolved(root), Resolved(dir))
	return err == nil && filepath.IsLocal(rel)
}

// Resolved is a path without links, as far as it exists.
func Resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	if parent := filepath.Dir(path); parent != path {
		return filepath.Join(Resolved(parent), filepath.Base(path))
	}
	return path
}

// copyTo copies the evidence before the moment of the cut, so that it signs no
// record that the streams lack, and the rest after it, so that no key of a record
// is missing.
func (s Source) copyTo(ctx context.Context, temp string) (Manifest, error) {
	w := &writer{ctx: ctx, dir: temp}
	if err := w.tree(s.Root, s.Evidence, nil); err != nil {
		return Manifest{}, err
	}
	cut, err := s.Cut()
	if err != nil {
		return Manifest{}, err
	}
	m := Manifest{Format: Format, Writ: s.Writ, DataFormat: s.DataFormat, DataDir: s.Root, Time: s.Now().UTC().Truncate(time.Millisecond)}
	for _, part := range cut.Parts {
		if err := w.file(path.Join(s.Log, part.Name), part.Copy); err != nil {
			return Manifest{}, err
		}
	}
	if err := w.tree(s.Root, ".", append(slices.Clone(s.Leave), s.Log, s.Evidence)); err != nil {
		return Manifest{}, err
	}
	m.Files = w.files
	m.describe(cut.Streams)
	return m, errors.Join(m.write(temp), syncFolders(temp))
}

// writer copies files into a backup, each with its digest.
type writer struct {
	ctx   context.Context
	dir   string
	files []File
}

// tree copies what lies below a name in root, but for some names.
func (w *writer) tree(root, name string, leave []string) error {
	folder, err := os.OpenRoot(root)
	if err != nil {
		return err
	}
	defer func() { _ = folder.Close() }() // read only
	return fs.WalkDir(folder.FS(), name, func(at string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // it was there when the folder was listed
		case err != nil:
			return err
		case left(leave, at) && e.IsDir():
			return fs.SkipDir
		case left(leave, at) || atomicfile.Temporary(at) || e.IsDir():
			return nil
		}
		return w.copy(filepath.Join(root, filepath.FromSlash(at)), at)
	})
}

func left(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { ok, err := path.Match(p, name); return ok && err == nil })
}

// copy copies one file; a link is followed to the file it leads to.
func (w *writer) copy(from, name string) error {
	info, err := os.Stat(from)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.IsDir():
		return fmt.Errorf("%w: %s is a link to a folder, which is not followed. Put the folder itself there", ErrPlace, from)
	case !info.Mode().IsRegular():
		return nil // a socket or pipe of a running program
	}
	return w.file(name, func(to io.Writer) error {
		f, err := os.Open(from)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }() // read only
		_, err = io.Copy(to, f)
		return err
	})
}

func (w *writer) file(name string, write func(io.Writer) error) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	f := File{Name: name}
	size, sum, err := put(f.in(w.dir), write)
	f.Size, f.SHA256 = size, sum
	w.files = append(w.files, f)
	return err
}

// put writes and syncs a file, and returns its size and digest.
func put(path string, write func(io.Writer) error) (size int64, sum string, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return 0, "", err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, "", err
	}
	hash := sha256.New()
	err = errors.Join(write(io.MultiWriter(f, hash)), f.Sync())
	size, seekErr := f.Seek(0, io.SeekCurrent)
	return size, hex.EncodeToString(hash.Sum(nil)), errors.Join(err, seekErr, f.Close())
}

// syncFolders makes the names below a folder durable.
func syncFolders(dir string) error {
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return err
		}
		return atomicfile.Sync(path)
	})
}

// place gives a finished folder its name, durably.
func place(from, to string) error {
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %s is there already", ErrPlace, to)
	}
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return atomicfile.Sync(filepath.Dir(to))
}

// List returns the backups in a folder, the oldest first. What has another name
// or no sound manifest is none.
func List(dir string) (all []Backup, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries { // by name, which is by time
		if _, err := time.Parse(stamp, e.Name()); err != nil {
			continue
		}
		path := filepath.Join(dir, e.Name())
		if m, err := Read(path); err == nil {
			all = append(all, Backup{Dir: path, Manifest: m})
		}
	}
	return all, err
}

// Prune removes the oldest backups of a data folder beyond the newest keep ones,
// which is at least 1, and returns what it removed. Backups of other data folders
// stay.
func Prune(dir, root string, keep int) (removed []string, err error) {
	all, err := List(dir)
	all = slices.DeleteFunc(all, func(b Backup) bool { return b.DataDir != root })
	for _, b := range all[:max(0, len(all)-max(keep, 1))] {
		// Without its manifest it is no backup, wherever the removal is cut off.
		if err := errors.Join(os.Remove(filepath.Join(b.Dir, manifestFile)), os.RemoveAll(b.Dir)); err != nil {
			return removed, err
		}
		removed = append(removed, b.Dir)
	}
	return removed, err
}
