package pebblestore

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

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
	return errors.Join(fmt.Errorf("%w: %w", projections.ErrCorruptStore, err), s.condemn(err.Error()))
}

// openError tells damage from other reasons not to open, such as a lock that
// another process holds.
func openError(err error) error {
	if pebble.IsCorruptionError(err) && !errors.Is(err, projections.ErrCorruptStore) {
		return fmt.Errorf("%w: %w", projections.ErrCorruptStore, err)
	}
	return err
}

// fatal is what Pebble's call to Fatalf becomes: it must not return, and must
// not end the process.
type fatal struct{ message string }

// guard runs f and turns a fatal error of Pebble into an error. The database
// may be left locked then, so nothing uses it afterwards.
func (s *Store) guard(f func() error) (err error) {
	if broken := s.broken.Load(); broken != nil {
		return *broken
	}
	defer func() {
		switch p := recover().(type) {
		case nil:
		case fatal:
			err = errors.New("pebblestore: " + p.message)
			s.broken.Store(&err)
		default:
			panic(p)
		}
	}()
	return s.named(f())
}

// logger passes Pebble's errors on and drops its news.
type logger struct{ write func(string) }

func (l *logger) Infof(string, ...any) {}

func (l *logger) Errorf(format string, args ...any) {
	if l.write != nil {
		l.write(strings.TrimSpace(fmt.Sprintf(format, args...)))
	}
}

func (l *logger) Fatalf(format string, args ...any) {
	l.Errorf(format, args...)
	panic(fatal{strings.TrimSpace(fmt.Sprintf(format, args...))})
}
