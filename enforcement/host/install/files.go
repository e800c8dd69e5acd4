package install

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/writbus/writ/schemas/atomicfile"
)

// Problem is why nothing was done, for a person.
type Problem struct{ What, Why, Todo string }

func (p *Problem) Error() string { return p.What + ": " + p.Why + ". " + p.Todo }

// change is one file as it shall be.
type change struct {
	path    string // absolute
	content []byte
	mode    fs.FileMode // of a new file; an existing one keeps its own
}

// staged is a set of changes that are on the disk under temporary names.
type staged struct {
	files []*atomicfile.File
	dirs  []string // created, outermost first
}

// stage writes all changes beside their places, so that whatever can fail has
// failed before the first file changes.
func stage(changes []change) (*staged, error) {
	s := &staged{}
	for _, c := range changes {
		if err := s.add(c); err != nil {
			s.discard()
			return nil, err
		}
	}
	return s, nil
}

func (s *staged) add(c change) error {
	dir := filepath.Dir(c.path)
	if err := s.makeDir(dir); err != nil {
		return cannotWrite(dir, err)
	}
	file, err := c.write()
	if err != nil {
		return err
	}
	s.files = append(s.files, file)
	return nil
}

// write writes a change beside its place.
func (c change) write() (*atomicfile.File, error) {
	file, err := atomicfile.Create(c.path, atomicfile.Options{Mode: c.mode, Keep: true})
	if err != nil {
		return nil, cannotWrite(c.path, err)
	}
	if _, err = file.Write(c.content); err == nil {
		err = file.Finish()
	}
	if err != nil {
		file.Discard()
		return nil, cannotWrite(c.path, err)
	}
	return file, nil
}

// rewrite replaces a change that has been staged.
func (s *staged) rewrite(at int, c change) error {
	s.files[at].Discard()
	file, err := c.write()
	if err == nil {
		s.files[at] = file
	}
	return err
}

func (s *staged) makeDir(dir string) error {
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		return fmt.Errorf("%s is not a folder", dir)
	}
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := s.makeDir(filepath.Dir(dir)); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	s.dirs = append(s.dirs, dir)
	return nil
}

// commit puts every change in its place, in order.
func (s *staged) commit(changes []change) error {
	for i, c := range changes {
		if err := s.files[i].Commit(); err != nil {
			s.discard()
			if i > 0 {
				return &Problem{"write " + c.path, err.Error(), fmt.Sprintf("Make room for it and run this again: %d of %d files are written.", i, len(changes))}
			}
			return cannotWrite(c.path, err)
		}
	}
	return nil
}

// discard removes what stage made.
func (s *staged) discard() {
	for _, file := range s.files {
		file.Discard()
	}
	for _, dir := range slices.Backward(s.dirs) {
		_ = os.Remove(dir)
	}
}

func cannotWrite(path string, err error) error {
	todo := "Nothing was changed."
	if errors.Is(err, fs.ErrPermission) {
		todo = "Make it writable for you and run this again; nothing was changed."
	}
	if at, ok := errors.AsType[*fs.PathError](err); ok && at.Path == path {
		err = at.Err // the path is said already
	}
	return &Problem{"write " + path, err.Error(), todo}
}

// read returns the content of a project's file. A file or folder on the way
// that is a link is refused: replacing it would cut the link, writing through
// it would change a file elsewhere.
func read(root, rel string) (content []byte, exists bool, err error) {
	at, parts := root, strings.Split(rel, "/")
	for i, part := range parts {
		at = filepath.Join(at, part)
		info, err := os.Lstat(at)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, false, nil
		}
		if err != nil {
			return nil, false, &Problem{"read " + at, err.Error(), "Nothing was changed."}
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			target, _ := os.Readlink(at)
			return nil, false, &Problem{
				at + " is a symbolic link to " + target, "Writ does not change files through links",
				"Replace the link with the file or folder itself, or install Writ where it points to; nothing was changed.",
			}
		}
		if i == len(parts)-1 && !info.Mode().IsRegular() {
			return nil, false, &Problem{"read " + at, "it is not a file", "Move it away; nothing was changed."}
		}
	}
	path := at
	content, err = os.ReadFile(path)
	if err != nil {
		return nil, false, &Problem{"read " + path, err.Error(), "Nothing was changed."}
	}
	return content, true, nil
}
