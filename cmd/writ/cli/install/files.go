package install

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
	temps []string
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
	temp, err := os.CreateTemp(dir, "."+filepath.Base(c.path)+".writ-*")
	if err != nil {
		return cannotWrite(dir, err)
	}
	s.temps = append(s.temps, temp.Name())
	mode := c.mode
	if info, err := os.Stat(c.path); err == nil {
		mode = info.Mode().Perm()
	}
	_, err = temp.Write(c.content)
	err = errors.Join(err, temp.Chmod(mode), temp.Sync(), temp.Close())
	if err != nil {
		return cannotWrite(c.path, err)
	}
	return nil
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
		if err := os.Rename(s.temps[i], c.path); err != nil {
			s.temps = s.temps[i:]
			s.discard()
			return cannotWrite(c.path, err)
		}
	}
	return nil
}

// discard removes what stage made.
func (s *staged) discard() {
	for _, temp := range s.temps {
		_ = os.Remove(temp)
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

func digest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}
