package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Find is the backup in a folder: the folder itself, or the newest of those in
// it. It returns ErrBad where there is none.
func Find(dir string) (string, error) { return FindAt(dir, time.Time{}) }

// FindAt is Find, but of several backups the oldest that reaches to a moment; the
// zero moment is any.
func FindAt(dir string, at time.Time) (string, error) {
	if _, err := os.Lstat(filepath.Join(dir, ManifestFile)); err == nil {
		return dir, nil
	}
	all, err := List(dir)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrBad, err)
	}
	if len(all) == 0 {
		return "", fmt.Errorf("%w: there is no whole backup in %s: neither it nor a folder in it has a sound %s", ErrBad, dir, ManifestFile)
	}
	chosen, err := Reaching(all, at)
	return chosen.Dir, err
}

// Reaching is the oldest of some backups that reaches to a moment, the newest for
// the zero moment. It returns ErrBad where none does, and where they are of several data
// folders: which of them is meant, nothing tells.
func Reaching(all []Backup, at time.Time) (Backup, error) {
	newest := all[len(all)-1]
	for _, b := range slices.Backward(all) {
		if !b.of(newest.source()) && !newest.of(b.source()) {
			return newest, fmt.Errorf("%w: there are backups of several data folders. Name one, such as %s of %s on %q, or %s of %s on %q", ErrBad,
				newest.Dir, newest.DataDir, newest.Host, b.Dir, b.DataDir, b.Host)
		}
	}
	if at.IsZero() {
		return newest, nil
	}
	for _, b := range all {
		if !b.Time.Before(at) {
			return b, nil
		}
	}
	return newest, fmt.Errorf("%w: the newest backup is of %s, and nothing tells what happened until %s. Leave --at out to restore what there is", ErrBad, newest.Time.Local().Format(time.DateTime), at.Local().Format(time.DateTime))
}

// Content is the copied data folder within a backup.
func Content(dir string) string { return filepath.Join(dir, contentDir) }

// Restore puts a backup whose data folder has at most a format into a folder that
// is empty or missing, and returns its manifest. Every file is compared with its
// digest before anything is written, and again while it is. note adds to the folder
// before it has its name, nil nothing: cut off at any moment, a restore is done or is
// begun anew, and what an earlier one left beside the folder is removed. It returns
// ErrBad for a backup that is not whole and ErrPlace for a folder that does not do;
// nothing is changed then.
func Restore(ctx context.Context, dir, to string, dataFormat int, note func(m Manifest, temp string) error) (Manifest, error) {
	m, err := Check(dir)
	if err != nil {
		return m, err
	}
	if m.DataFormat > dataFormat {
		return m, fmt.Errorf("%w: it is of a data folder of format %d, and this program knows none above %d: a newer Writ, %s, wrote it. Install that version", ErrBad, m.DataFormat, dataFormat, m.Writ)
	}
	if err := empty(to); err != nil {
		return m, err
	}
	parent := filepath.Dir(to)
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return m, fmt.Errorf("%w: %w", ErrPlace, err)
	}
	unfinished := "." + filepath.Base(to) + ".restoring-"
	if err := Sweep(parent, unfinished); err != nil {
		return m, fmt.Errorf("%w: %w", ErrPlace, err)
	}
	temp, err := os.MkdirTemp(parent, unfinished+"*")
	if err != nil {
		return m, fmt.Errorf("%w: %w", ErrPlace, err)
	}
	defer func() { _ = os.RemoveAll(temp) }() // gone once it is in place
	if err := m.copyOut(ctx, dir, temp); err != nil {
		return m, fmt.Errorf("restore %s: %w", dir, err)
	}
	if note != nil {
		if err := note(m, temp); err != nil {
			return m, fmt.Errorf("restore %s: note what it is: %w", dir, err)
		}
	}
	if err := syncFolders(temp); err != nil { // what note removed, too
		return m, fmt.Errorf("restore %s: %w", dir, err)
	}
	return m, putBack(temp, to)
}

// empty returns ErrPlace for anything but a missing or an empty folder.
func empty(to string) error {
	entries, err := os.ReadDir(to)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("%w: %w", ErrPlace, err)
	case len(entries) > 0:
		return fmt.Errorf("%w: %s is not empty, it has %s. Move the folder away first, or restore into another one (--to) and set WRIT_HOME to it", ErrPlace, to, entries[0].Name())
	}
	return nil
}

func (m *Manifest) copyOut(ctx context.Context, dir, temp string) error {
	for _, f := range m.Files {
		if err := ctx.Err(); err != nil {
			return err
		}
		size, sum, err := put(filepath.Join(temp, filepath.FromSlash(f.Name)), f.copyFrom(dir))
		if err != nil {
			return err
		}
		if size != f.Size || sum != f.SHA256 {
			return fmt.Errorf("%w: %s changed while it was copied", ErrBad, f.Name)
		}
	}
	return nil
}

func (f File) copyFrom(dir string) func(io.Writer) error {
	return func(to io.Writer) error {
		from, err := os.Open(f.in(dir))
		if err != nil {
			return err
		}
		defer func() { _ = from.Close() }() // read only
		_, err = io.Copy(to, from)
		return err
	}
}

// putBack takes the empty folder's place.
func putBack(temp, to string) error {
	if err := os.Remove(to); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %w", ErrPlace, err)
	}
	return place(temp, to)
}
