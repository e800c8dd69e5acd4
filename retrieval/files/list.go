package files

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/writbus/writ/retrieval/artifact/describe"
)

// Entry is a file that is looked at, as its folder says.
type Entry struct {
	Path    string
	Size    int64
	ModTime time.Time
	changed int64 // when anything of it last did, Unix nanoseconds; 0 where no system tells
	wanted  bool  // also if it was generated
}

func byPath(a, b Entry) int { return strings.Compare(a.Path, b.Path) }

// Problem is a file or folder that could not be indexed as it should.
type Problem struct{ Path, Why string }

// listing is what a walk found.
type listing struct {
	entries  []Entry // by path
	left     map[Reason]int
	problems []Problem
}

func (l *listing) leave(r Reason) { l.left[r]++ }

// list walks a project. enter, if not nil, is called with each folder before it
// is read, and with those outside the project in which rules for it lie.
func (s *selection) list(ctx context.Context, enter func(dir string)) (*listing, error) {
	l := &listing{left: map[Reason]int{}}
	if _, err := os.ReadDir(s.root); err != nil {
		return nil, fmt.Errorf("artifacts: the project %s: %w", s.root, err)
	}
	for _, dir := range s.beside {
		if enter != nil {
			enter(dir)
		}
	}
	if err := s.walk(ctx, s.top(), l, enter); err != nil {
		return nil, err
	}
	slices.SortFunc(l.entries, byPath)
	return l, nil
}

func (s *selection) walk(ctx context.Context, in folder, l *listing, enter func(dir string)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	dir := filepath.Join(s.root, filepath.FromSlash(in.path))
	if enter != nil {
		enter(dir)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		l.unreadable(in.path, err)
		return nil
	}
	for _, e := range entries {
		v := s.judge(in, e.Name(), e.IsDir())
		if v.reason != "" {
			l.leave(v.reason)
			if v.reason == BadName {
				l.problems = append(l.problems, Problem{Path: path.Join(in.path, e.Name()), Why: v.detail})
			}
			continue
		}
		file := path.Join(in.path, e.Name())
		if e.IsDir() {
			if err := s.walk(ctx, s.with(in, file, v), l, enter); err != nil {
				return err
			}
			continue
		}
		info, err := e.Info()
		if err != nil {
			l.unreadable(file, err)
			continue
		}
		if found := s.judgeKind(file, info, v.wanted); found.reason != "" {
			l.leave(found.reason)
			continue
		}
		l.entries = append(l.entries, Entry{Path: file, Size: info.Size(), ModTime: info.ModTime(), changed: changedAt(info), wanted: v.wanted})
	}
	return nil
}

// unreadable notes what the system refused. What is gone was deleted meanwhile.
func (l *listing) unreadable(file string, err error) {
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	l.leave(Unreadable)
	l.problems = append(l.problems, Problem{Path: cmp.Or(file, "."), Why: reasonOf(err)})
}

// reasonOf is an error of the system without the path, which is named beside it.
func reasonOf(err error) string {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return at.Err.Error()
	}
	return strings.TrimPrefix(err.Error(), "artifacts: ")
}

// Explanation says why a path is in the index, or is not.
type Explanation struct {
	Path    string
	Indexed bool
	Reason  Reason // "" where it is
	Detail  string // one sentence
}

// explain goes the way to a path, as the walk does.
func (s *selection) explain(file string) Explanation {
	e := Explanation{Path: file}
	in := s.top()
	parts := strings.Split(file, "/")
	var last verdict
	for i, name := range parts {
		at := path.Join(in.path, name)
		info, err := os.Lstat(filepath.Join(s.root, filepath.FromSlash(at)))
		if err != nil {
			e.Reason, e.Detail = Missing, fmt.Sprintf("there is no %s", at)
			if !errors.Is(err, fs.ErrNotExist) {
				e.Reason, e.Detail = Unreadable, at+": "+reasonOf(err)
			}
			return e
		}
		isFolder := info.IsDir()
		last = s.judge(in, name, isFolder)
		if found := s.judgeKind(at, info, last.wanted); !isFolder && (last.reason == "" || i < len(parts)-1) {
			last.reason, last.detail = found.reason, found.detail
		}
		if last.reason != "" {
			e.Reason, e.Detail = last.reason, last.detail
			if i < len(parts)-1 {
				e.Detail = "the folder " + at + " is left out: " + e.Detail
			}
			return e
		}
		switch {
		case i == len(parts)-1 && isFolder:
			e.Indexed, e.Detail = true, "it is a folder; what in it the globs select is indexed"
			return e
		case isFolder:
			in = s.with(in, at, last)
		}
	}
	return s.explainContent(e, last.wanted)
}

func (s *selection) explainContent(e Explanation, wanted bool) Explanation {
	root, err := os.OpenRoot(s.root)
	if err != nil {
		e.Reason, e.Detail = Unreadable, reasonOf(err)
		return e
	}
	defer func() { _ = root.Close() }()
	r, err := readFile(root, e.Path, new([]byte))
	switch {
	case err != nil:
		e.Reason, e.Detail = Unreadable, reasonOf(err)
	case r.left != "":
		e.Reason, e.Detail = r.left, r.detail
	default:
		v := judgeContent(e.Path, r.bytes, wanted)
		e.Reason, e.Detail = v.reason, v.detail
	}
	if e.Reason == "" {
		e.Indexed, e.Detail = true, "it is text that a glob selects and no rule leaves out"
	}
	return e
}

// judgeContent says what a file's bytes say.
func judgeContent(file string, raw []byte, wanted bool) verdict {
	switch {
	case describe.Binary(raw):
		return verdict{reason: Binary, detail: "it is not text"}
	case !wanted && describe.Generated(file, raw):
		return verdict{reason: Generated, detail: "a program wrote it; !" + file + " in .writignore takes it in"}
	}
	return verdict{}
}
