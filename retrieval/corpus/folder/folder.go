// Package folder reads the rule files of a folder, as text: what they say is read by
// package corpus.
package folder

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/writbus/writ/schemas"
)

const (
	// MaxRule bounds one rule file, in bytes. A rule is a page; what is larger is
	// something else.
	MaxRule = 256 << 10
	// maxDump bounds a file of many rules, below what one message carries.
	maxDump = 24 << 20
)

// Read reads the rule files at a path, in the order of their names. Paths are kept
// relative to the folder, so that a corpus has one source wherever it lies. It is an
// error if there is none.
func Read(path string) ([]schemas.RuleFile, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New(path + " does not exist")
	}
	if err != nil {
		return nil, err
	}
	root := path
	if !info.IsDir() {
		root = filepath.Dir(path)
	}
	var files []schemas.RuleFile
	err = filepath.WalkDir(path, func(at string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && at != path && strings.HasPrefix(entry.Name(), "."):
			return filepath.SkipDir
		case entry.IsDir() || !isRule(entry.Name()):
			return nil
		}
		file, err := File(root, at)
		files = append(files, file)
		return err
	})
	if err == nil && len(files) == 0 {
		err = errors.New("there is no .md or .cypher file in " + path + ". Rules are Markdown files with front matter; `writ rule show` prints their parts")
	}
	return files, err
}

func isRule(name string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".md":
		return !strings.EqualFold(name, "README.md")
	case ".cypher", ".cql":
		return true
	default:
		return false
	}
}

// Name is how the files at a path are told from those of others: their folder's name.
func Name(path string) string {
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		path = filepath.Dir(path)
	}
	return filepath.Base(path)
}

// File reads one rule file below a root.
func File(root, path string) (schemas.RuleFile, error) {
	info, err := os.Stat(path)
	if err != nil {
		return schemas.RuleFile{}, err
	}
	limit := int64(MaxRule)
	if !strings.EqualFold(filepath.Ext(path), ".md") {
		limit = maxDump
	}
	if info.Size() > limit {
		return schemas.RuleFile{}, fmt.Errorf("%s has %d bytes, such a file has at most %d KiB", path, info.Size(), limit>>10)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return schemas.RuleFile{}, err
	}
	rel, err := filepath.Rel(root, path)
	if err != nil {
		return schemas.RuleFile{}, err
	}
	if !utf8.Valid(raw) {
		return schemas.RuleFile{}, fmt.Errorf("%s:%d: this is not text in UTF-8: save the file as UTF-8, or take it out of the folder", path, 1+bytes.Count(raw[:valid(raw)], []byte{'\n'}))
	}
	return schemas.RuleFile{Path: filepath.ToSlash(rel), Content: string(raw)}, nil
}

// valid is how many bytes come before the first that is no UTF-8.
func valid(raw []byte) (n int) {
	for n < len(raw) {
		r, size := utf8.DecodeRune(raw[n:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		n += size
	}
	return n
}
