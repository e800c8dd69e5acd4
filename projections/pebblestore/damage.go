package pebblestore

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/writbus/writ/projections"
)

// OpenOrReset opens a folder like Open. A damaged one is moved aside, to
// "<dir>.corrupt-N" with the first N that is free, and an empty one takes its
// place: the runtime then builds every view from the log. moved is the folder's
// new name, "" if it was sound.
func OpenOrReset(dir string, opt Options) (s *Store, moved string, err error) {
	s, err = Open(dir, opt)
	if !errors.Is(err, projections.ErrCorruptStore) {
		return s, "", err
	}
	files := opt.FS
	if files == nil {
		files = vfs.Default
	}
	damage := err
	for n := 1; ; n++ {
		moved = fmt.Sprintf("%s.corrupt-%d", dir, n)
		if _, err := files.Stat(moved); errors.Is(err, fs.ErrNotExist) {
			break
		} else if err != nil {
			return nil, "", fmt.Errorf("pebblestore: reset %s: %w", dir, err)
		}
	}
	if err := files.Rename(dir, moved); err != nil {
		return nil, "", fmt.Errorf("pebblestore: move %s aside: %w (%w)", dir, err, damage)
	}
	s, err = Open(dir, opt)
	return s, moved, err
}

// condemned is the file that tells the next run that this folder is damaged,
// where opening it would not notice. Persisted; never change.
func condemned(files vfs.FS, dir string) string { return files.PathJoin(dir, "WRIT-DAMAGED") }

// condemn leaves the mark in the folder.
func (s *Store) condemn(why string) error {
	mark, err := s.fs.Create(condemned(s.fs, s.dir), vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = io.WriteString(mark, why+"\n")
	return errors.Join(err, mark.Sync(), mark.Close())
}

// named gives damage its name, and leaves the mark of it.
func (s *Store) named(err error) error {
	if err == nil || errors.Is(err, projections.ErrCorruptStore) || !pebble.IsCorruptionError(err) {
		return err
	}
	return errors.Join(fmt.Errorf("%w: %w. Nothing is lost: `writ down` and `writ up --detach` build the views anew from the log", projections.ErrCorruptStore, err), s.condemn(err.Error()))
}

// inspect finds damage that Pebble would open without a word: the mark of an
// earlier run, and data without the manifest that it belongs to, of which
// Pebble would take the latest commits only.
func inspect(files vfs.FS, dir string) error {
	names, err := files.List(dir)
	if err != nil {
		return err
	}
	data, manifest := "", false
	for _, name := range names {
		switch {
		case name == files.PathBase(condemned(files, dir)):
			return fmt.Errorf("%w: found damaged by an earlier run", projections.ErrCorruptStore)
		case strings.HasPrefix(name, "marker.manifest."):
			manifest = true
		case strings.HasSuffix(name, ".sst"), strings.HasSuffix(name, ".log"):
			data = name
		}
	}
	if data != "" && !manifest {
		return fmt.Errorf("%w: %s without a manifest", projections.ErrCorruptStore, data)
	}
	return nil
}

// openError gives errors of opening their name. Pebble marks but some of the
// damages it finds; what else the operating system did not report is about the
// content of the files, and so is a file that is missing from a folder that is
// there.
func openError(err error) error {
	var system syscall.Errno
	switch {
	case err == nil, errors.Is(err, projections.ErrCorruptStore):
		return err
	case pebble.IsCorruptionError(err), errors.Is(err, fs.ErrNotExist), !errors.As(err, &system):
		return fmt.Errorf("%w: %w", projections.ErrCorruptStore, err)
	}
	return err
}

// logger passes Pebble's errors on and drops its news.
type logger struct{ write func(string) }

func (l *logger) Infof(string, ...any) {}

func (l *logger) Errorf(format string, args ...any) {
	if l.write != nil {
		l.write(strings.TrimSpace(fmt.Sprintf(format, args...)))
	}
}

// Fatalf must not return. Pebble calls it, or panics with its locks held, when
// its log or manifest cannot be written.
func (l *logger) Fatalf(format string, args ...any) {
	l.Errorf(format, args...)
	panic("pebblestore: " + strings.TrimSpace(fmt.Sprintf(format, args...)))
}
