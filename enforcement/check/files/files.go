// Package files reads what is to be checked: files and folders by name, or the files
// of a git work tree with the lines that differ from a commit.
//
// What is longer than a person writes, or no text, is left out.
package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/writbus/writ/projections/audit/gitcommit"
	"github.com/writbus/writ/schemas"
)

// maxFile is the longest file that is checked, in bytes; what is longer was made by
// a program.
const maxFile = 2 << 20

// Tree is a folder, from which files are named, and the environment of git in it.
type Tree struct {
	Dir string
	Env []string
}

func (t Tree) absolute(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(t.Dir, path)
}

// Named reads files and the files of folders, leaving out what version control and
// dependencies keep there.
func (t Tree) Named(paths []string) (files []schemas.CheckFile, err error) {
	for _, path := range paths {
		path = t.absolute(path)
		err := filepath.WalkDir(path, func(at string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && at != path && foreign(entry.Name()):
				return filepath.SkipDir
			case !entry.Type().IsRegular():
				return nil
			}
			file, ok, err := t.read(at)
			if ok {
				files = append(files, file)
			}
			return err
		})
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s does not exist: name files or folders from the folder you are in, or say --diff for what changed", path)
		}
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

func foreign(dir string) bool {
	return strings.HasPrefix(dir, ".") || dir == "node_modules" || dir == "vendor" || dir == "__pycache__" || dir == "target"
}

// read reads a file unless it is too long or no text.
func (t Tree) read(path string) (file schemas.CheckFile, ok bool, err error) {
	info, err := os.Stat(path)
	if err != nil || info.Size() > maxFile {
		return file, false, err
	}
	content, err := os.ReadFile(path)
	if err != nil || bytes.IndexByte(content[:min(len(content), 8<<10)], 0) >= 0 {
		return file, false, err
	}
	name := path
	if rel, err := filepath.Rel(t.Dir, path); err == nil && filepath.IsLocal(rel) {
		name = rel
	}
	return schemas.CheckFile{Path: filepath.ToSlash(name), Content: string(content)}, true, nil
}

// Changed asks git what differs from a commit, HEAD where none is given, or what is
// staged, and adds files that git does not know yet whole. Paths limit it.
func (t Tree) Changed(ctx context.Context, paths []string, base string, staged bool) (files []schemas.CheckFile, diff string, err error) {
	r := gitcommit.Repository{Dir: t.Dir, Env: t.Env}
	top, err := r.Git(ctx, "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, "", err
	}
	args := []string{"diff", "--unified=0", "--no-color", "--no-ext-diff", "--no-textconv", "--src-prefix=a/", "--dst-prefix=b/"}
	switch {
	case staged:
		args = append(args, "--cached")
	case base != "":
		args = append(args, base)
	default:
		if _, err := r.Git(ctx, "rev-parse", "--verify", "--quiet", "HEAD"); err == nil {
			args = append(args, "HEAD")
		}
	}
	names, err := r.Git(ctx, append(append(append([]string{}, args...), "--name-only", "-z", "--diff-filter=d", "--"), paths...)...)
	if err != nil {
		return nil, "", err
	}
	if diff, err = r.Git(ctx, append(append(args, "--"), paths...)...); err != nil {
		return nil, "", err
	}
	for _, name := range listed(names) {
		var file schemas.CheckFile
		var ok bool
		if staged {
			file.Content, err = r.Output(ctx, "show", ":"+name)
			ok = len(file.Content) <= maxFile
		} else {
			file, ok, err = t.read(filepath.Join(top, filepath.FromSlash(name)))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, "", err
		}
		if file.Path = name; ok && err == nil {
			files = append(files, file)
		}
	}
	if staged {
		return files, diff, nil
	}
	names, err = r.Git(ctx, append([]string{"ls-files", "--others", "--exclude-standard", "-z", "--"}, paths...)...)
	if err != nil {
		return nil, "", err
	}
	for _, name := range listed(names) {
		file, ok, err := t.read(t.absolute(filepath.FromSlash(name)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, "", err
		}
		if ok {
			files = append(files, file)
		}
	}
	return files, diff, nil
}

func listed(names string) []string {
	return strings.FieldsFunc(names, func(r rune) bool { return r == 0 })
}
