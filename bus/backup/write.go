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
	"strings"
	"time"

	"github.com/writbus/writ/bus/embedded"
	"github.com/writbus/writ/schemas/atomicfile"
	"github.com/writbus/writ/schemas/digest"
	"github.com/writbus/writ/schemas/disk"
)

// Source is the data folder that is copied.
type Source struct {
	Root       string
	Host       string // the machine's name, which may change
	Identity   string // of the log, which stays, though it is restored elsewhere
	Instance   string // of the folder: two copies of one log have two
	Writ       string // version of this program
	DataFormat int
	Log        string                        // folder of the streams, below Root
	Evidence   string                        // folder of what was signed of them, below Root
	Leave      []string                      // patterns (path.Match) of names in Root that are not copied
	Cut        func() (*embedded.Cut, error) // the streams at one moment
	Now        func() time.Time              // at the cut
	// After is when the newest backup of this folder in the place was written, if there
	// is one: this one counts as later, though the clock may have gone back since.
	After time.Time
}

// Backup is a whole backup.
type Backup struct {
	Dir string
	Manifest
	Written int64 // bytes that no earlier backup there had
}

// Stamp is the form of a backup's name: its time in UTC, which sorts.
const Stamp = "20060102T150405.000Z"

// Create writes a backup of a data folder that is in use into a fresh folder in
// dir, named after the time. Files that the newest earlier one there has are not
// copied again where the file system has hard links: they are compared and linked.
// What an interrupted one left there is removed. It
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
	w := &writer{dir: temp, linked: map[string]bool{}}
	w.earlier(dir, s)
	s.After = w.before.Time
	m, err := s.Copy(ctx, w.file)
	if err == nil {
		err = errors.Join(m.write(temp), syncFolders(temp))
	}
	if disk.Full(err) {
		return Backup{}, fmt.Errorf("%w: %w. Make room on the disk of %s, remove old backups there (--keep), or choose another place; nothing of this one is left", ErrPlace, err, dir)
	}
	if err != nil {
		return Backup{}, fmt.Errorf("backup of %s: %w", s.Root, err)
	}
	if _, err := check(temp, w.linked); err != nil {
		return Backup{}, fmt.Errorf("backup of %s: read again: %w", s.Root, err)
	}
	final := filepath.Join(dir, m.Time.Format(Stamp))
	if err := place(temp, final); err != nil {
		return Backup{}, fmt.Errorf("backup of %s: %w", s.Root, err)
	}
	return Backup{Dir: final, Manifest: m, Written: w.written}, nil
}

func (s Source) prepare(dir string) error {
	if Within(s.Root, dir) {
		return fmt.Errorf("%w: %s lies within the data folder %s, and would be lost with it. Choose a folder elsewhere, best on another disk", ErrPlace, dir, s.Root)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("%w: %w. Choose a folder you may write to", ErrPlace, err)
	}
	return Sweep(dir, s.temporary())
}

// Sweep removes what lies in a folder under names that begin with a prefix: what was
// left unfinished.
func Sweep(dir, prefix string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	return err
}

// temporary begins the names of this data folder's unfinished backups.
func (s Source) temporary() string { return ".unfinished-" + digest.Name(s.Instance+s.Root) + "-" }

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

// Keep keeps a file of a backup under its name. write writes its content, the same
// each time where the file does not change meanwhile.
type Keep func(name string, write func(io.Writer) error) (File, error)

// Copy hands over each file of the data folder, and returns the manifest. It copies
// the evidence before the moment of the cut, so that it signs no record that the
// streams lack, and the rest after it, so that no key of a record is missing.
func (s Source) Copy(ctx context.Context, keep Keep) (Manifest, error) {
	c := &copying{ctx: ctx, keep: keep}
	if err := c.tree(s.Root, s.Evidence, nil); err != nil {
		return Manifest{}, err
	}
	cut, err := s.Cut()
	if err != nil {
		return Manifest{}, err
	}
	defer func() { _ = cut.Close() }() // what is left is removed at the next start
	m := Manifest{Format: Format, Writ: s.Writ, DataFormat: s.DataFormat, DataDir: s.Root, Host: s.Host, Identity: s.Identity, Instance: s.Instance, Time: s.time()}
	for _, part := range cut.Parts {
		if err := c.file(path.Join(s.Log, part.Name), part.Copy); err != nil {
			return Manifest{}, err
		}
	}
	if err := c.tree(s.Root, ".", append(slices.Clone(s.Leave), s.Log, s.Evidence)); err != nil {
		return Manifest{}, err
	}
	m.Files = c.files
	m.describe(cut.Streams)
	return m, nil
}

// time orders backups: the oldest are removed, and the newest is restored.
func (s Source) time() time.Time {
	now := s.Now().UTC().Truncate(time.Millisecond)
	if !now.After(s.After) {
		return s.After.Add(time.Millisecond)
	}
	return now
}

// copying is one copy of a data folder.
type copying struct {
	ctx   context.Context
	keep  Keep
	files []File
}

func (c *copying) file(name string, write func(io.Writer) error) error {
	if err := c.ctx.Err(); err != nil {
		return err
	}
	f, err := c.keep(name, write)
	c.files = append(c.files, f)
	return err
}

// writer keeps files in the folder of a backup.
type writer struct {
	dir     string
	before  Backup          // an earlier one there, none where it has no folder
	had     map[string]File // its files, by name
	linked  map[string]bool // the files that are its
	written int64           // bytes of the others
}

// earlier finds the newest backup of the same data folder in dir.
func (w *writer) earlier(dir string, s Source) {
	all, _ := List(dir)
	for _, b := range all {
		if b.of(s) {
			w.before = b
		}
	}
	w.had = map[string]File{}
	for _, f := range w.before.Files {
		w.had[f.Name] = f
	}
}

// link takes a file from the earlier backup, where it is what would be written, and
// is so on the disk too.
func (w *writer) link(name string, write func(io.Writer) error) (f File, done bool) {
	f, had := w.had[name]
	if !had {
		return f, false
	}
	hash := sha256.New()
	if write(hash) != nil || hex.EncodeToString(hash.Sum(nil)) != f.SHA256 || f.problem(w.before.Dir) != "" {
		return f, false
	}
	to := f.in(w.dir)
	if os.MkdirAll(filepath.Dir(to), 0o700) != nil || os.Link(f.in(w.before.Dir), to) != nil {
		return f, false
	}
	w.linked[name] = true
	return f, true
}

func (w *writer) file(name string, write func(io.Writer) error) (File, error) {
	if f, done := w.link(name, write); done {
		return f, nil
	}
	f := File{Name: name}
	size, sum, err := put(f.in(w.dir), write)
	f.Size, f.SHA256 = size, sum
	w.written += size
	return f, err
}

// tree copies what lies below a name in root, but for some names.
func (c *copying) tree(root, name string, leave []string) error {
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
		return c.copy(filepath.Join(root, filepath.FromSlash(at)), at)
	})
}

func left(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { ok, err := path.Match(p, name); return ok && err == nil })
}

// copy copies one file; a link is followed to the file it leads to.
func (c *copying) copy(from, name string) error {
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
	f, err := os.Open(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // read only
	return c.file(name, func(to io.Writer) error {
		_, err := f.Seek(0, io.SeekStart)
		if err == nil {
			_, err = io.Copy(to, f)
		}
		return err
	})
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
		if _, err := time.Parse(Stamp, e.Name()); err != nil {
			continue
		}
		path := filepath.Join(dir, e.Name())
		if m, err := Read(path); err == nil {
			all = append(all, Backup{Dir: path, Manifest: m})
		}
	}
	return all, err
}

// Old are the oldest of a data folder's backups beyond the newest keep ones, which
// is at least 1; all are in the order of their times. Those of a copy of the log, at the
// same path of another machine, are that one's to remove.
func Old(all []Backup, s Source, keep int) []Backup {
	all = slices.DeleteFunc(slices.Clone(all), func(b Backup) bool {
		return !b.of(s) || b.Instance != "" && s.Instance != "" && b.Instance != s.Instance
	})
	return all[:max(0, len(all)-max(keep, 1))]
}

// Prune removes the oldest backups of a data folder beyond the newest keep ones,
// which is at least 1, and returns what it removed. Backups of other data folders
// stay.
func Prune(dir string, s Source, keep int) (removed []string, err error) {
	all, err := List(dir)
	for _, b := range Old(all, s, keep) {
		// Where the removal is cut off it is no backup any more, and the next one sweeps it away.
		gone := filepath.Join(dir, s.temporary()+filepath.Base(b.Dir))
		if err := os.Rename(b.Dir, gone); err != nil {
			return removed, err
		}
		if err := os.RemoveAll(gone); err != nil {
			return removed, err
		}
		removed = append(removed, b.Dir)
	}
	return removed, err
}
