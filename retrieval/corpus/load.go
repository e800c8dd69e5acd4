package corpus

import (
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/writbus/writ/schemas"
)

//go:embed rules
var embedded embed.FS

// File is a node and the file it came from.
type File struct {
	Path string // within the folder that was loaded, slashes
	Hash string // SHA-256 of the file's bytes, hex
	Rule schemas.Rule
	// Content is the file's bytes, to be kept with [Keep] and written back by
	// an export.
	Content []byte
}

// Embedded returns the corpus that ships with the program, sorted by id. An
// error wraps [ErrInvalid] and means that the build is broken.
func Embedded() ([]File, error) {
	sub, err := fs.Sub(embedded, "rules")
	if err != nil {
		return nil, fmt.Errorf("corpus: open the embedded rules: %w", err)
	}
	files, problems := Load(sub)
	if len(problems) > 0 {
		return nil, &Error{Problems: problems}
	}
	return files, nil
}

// Load reads every rule of a folder: the *.md files in it and below it, except
// README.md and what lies under a name that begins with a dot. It returns the
// sound ones sorted by id and every problem sorted by path and line. Of two
// files with one id the first by path is kept. A claim of battle-tested, which
// only outcomes can grant, is lowered to production-validated.
func Load(fsys fs.FS) ([]File, []Problem) {
	l := loader{fsys: fsys, first: map[string]string{}}
	if err := fs.WalkDir(fsys, ".", l.visit); err != nil {
		l.problems = append(l.problems, Problem{Path: ".", Kind: KindInvalid, Reason: fmt.Sprintf("cannot walk the folder: %v", err)})
	}
	l.checkEdges()
	files := make([]File, len(l.loaded))
	for i, d := range l.loaded {
		files[i] = d.file
	}
	slices.SortFunc(files, func(a, b File) int { return cmp.Compare(a.Rule.ID, b.Rule.ID) })
	slices.SortStableFunc(l.problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line))
	})
	return files, l.problems
}

type loadedFile struct {
	file File
	doc  *document
}

type loader struct {
	fsys     fs.FS
	loaded   []loadedFile
	first    map[string]string // id to the path that brought it
	problems []Problem
}

func (l *loader) visit(name string, entry fs.DirEntry, err error) error {
	if err != nil {
		l.problems = append(l.problems, Problem{Path: name, Kind: KindInvalid, Reason: fmt.Sprintf("cannot read: %v", err)})
		return nil
	}
	base := path.Base(name)
	switch {
	case name != "." && strings.HasPrefix(base, "."):
		if entry.IsDir() {
			return fs.SkipDir
		}
	case !entry.IsDir() && strings.EqualFold(path.Ext(base), ".md") && !strings.EqualFold(base, "README.md"):
		l.read(name)
	}
	return nil
}

func (l *loader) read(name string) {
	src, err := readBounded(l.fsys, name)
	if err != nil {
		l.problems = append(l.problems, Problem{Path: name, Kind: KindInvalid, Reason: fmt.Sprintf("cannot read: %v", err)})
		return
	}
	d := parseFile(name, src)
	if len(d.problems) > 0 {
		l.problems = append(l.problems, d.problems...)
		return
	}
	if first, taken := l.first[d.rule.ID]; taken {
		l.problems = append(l.problems, Problem{
			Path: name, Line: d.line("id"), Kind: KindDuplicate, ID: d.rule.ID,
			Reason: fmt.Sprintf("id %s is taken by %s: give one of them another id", d.rule.ID, first),
		})
		return
	}
	l.first[d.rule.ID] = name
	if d.rule.Confidence == "battle-tested" {
		d.rule.Confidence = "production-validated"
		l.problems = append(l.problems, Problem{
			Path: name, Line: d.line("confidence"), Kind: KindDowngraded, ID: d.rule.ID,
			Reason: "battle-tested is granted by recorded outcomes only: taken as production-validated",
		})
	}
	sum := sha256.Sum256(src)
	l.loaded = append(l.loaded, loadedFile{File{Path: name, Hash: hex.EncodeToString(sum[:]), Rule: d.rule, Content: src}, d})
}

// readBounded reads one byte past the limit at most, so that Parse can say
// that the file is too large without all of it being read.
func readBounded(fsys fs.FS, name string) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	src, err := io.ReadAll(io.LimitReader(f, MaxSize+1))
	return src, cmp.Or(err, f.Close())
}

// checkEdges reports targets that no file here defines, and known ones of a
// type that the edge does not join.
func (l *loader) checkEdges() {
	types := map[string]schemas.NodeType{}
	for _, f := range l.loaded {
		types[f.file.Rule.ID] = f.file.Rule.Type
	}
	for _, f := range l.loaded {
		for i, e := range f.doc.rule.Edges {
			p := Problem{Path: f.file.Path, Line: f.doc.edgeLine(i), ID: f.doc.rule.ID, Target: e.Target}
			if to, known := types[e.Target]; known {
				p.Kind, p.Reason = KindWrongEndpoint, CheckEdge(e, f.doc.rule.Type, to)
			} else {
				p.Kind = KindUnknownTarget
				p.Reason = fmt.Sprintf("edge %s points to %s, which no file here defines: correct the id, or add that rule", e.Type, e.Target)
			}
			if p.Reason != "" {
				l.problems = append(l.problems, p)
			}
		}
	}
}
