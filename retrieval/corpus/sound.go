package corpus

import (
	"fmt"
	"io/fs"
	"strings"

	"github.com/writbus/writ/schemas"
)

// shownOfGroup is how many problems of a kind an error names.
const shownOfGroup = 3

// Rules reads the rules of a folder in any format that an import reads. It fails
// where problems keep one of them out.
func Rules(fsys fs.FS) ([]schemas.Rule, error) {
	files, problems := LoadAny(fsys, nil)
	var refused []Problem
	for _, p := range problems {
		if p.Kind == KindInvalid || p.Kind == KindDuplicate {
			refused = append(refused, p)
		}
	}
	if len(refused) > 0 {
		var lines []string
		for _, g := range Groups(refused) {
			lines = append(lines, g.Line(shownOfGroup))
		}
		return nil, fmt.Errorf("the corpus has problems:\n  %s", strings.Join(lines, "\n  "))
	}
	return rulesIn(files), nil
}

// EmbeddedRules are those that are shipped.
func EmbeddedRules() ([]schemas.Rule, error) {
	files, err := Embedded()
	return rulesIn(files), err
}

func rulesIn(files []File) []schemas.Rule {
	rules := make([]schemas.Rule, 0, len(files))
	for _, f := range files {
		rules = append(rules, f.Rule)
	}
	return rules
}

// Only is a folder of which one file is seen.
func Only(fsys fs.FS, name string) fs.FS { return oneFile{fsys, name} }

type oneFile struct {
	fs.FS
	name string
}

// ReadDir lists the file.
func (f oneFile) ReadDir(string) ([]fs.DirEntry, error) {
	info, err := fs.Stat(f.FS, f.name)
	if err != nil {
		return nil, err
	}
	return []fs.DirEntry{fs.FileInfoToDirEntry(info)}, nil
}
