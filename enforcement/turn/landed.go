package turn

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/enforcement/confine"
	"github.com/writbus/writ/enforcement/confine/runner"
	"github.com/writbus/writ/enforcement/confine/worktree"
	"github.com/writbus/writ/enforcement/host"
	"github.com/writbus/writ/enforcement/project"
	"github.com/writbus/writ/schemas"
)

// landings remembers where the files lay that tools were allowed to write: a
// link that is put in the way afterwards leads the write elsewhere. It is kept in
// memory only: without it a write is where its path leads.
type landings struct {
	gitTime time.Duration

	mu    sync.Mutex
	byKey map[string]judged
	order []string
}

// judged are the writes of one call as they were judged.
type judged struct {
	at      time.Time
	targets []schemas.Target
	was     []string // SHA-256 of what each held, "" for nothing
}

// keptLandings bounds the calls that are remembered.
const keptLandings = 128

// clockStep is how far the time of a file may be behind the clock.
const clockStep = 50 * time.Millisecond

func (l *landings) keep(t turn, meant []schemas.Target, now time.Time) {
	if t.ToolUseID == "" || len(t.Writes) == 0 {
		return
	}
	j := judged{at: now.Add(-clockStep), targets: meant}
	for _, target := range meant {
		state, _ := t.project.FileState(target.Path)
		j.was = append(j.was, state.SHA256)
	}
	key := t.contentKey("")
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.byKey == nil {
		l.byKey = map[string]judged{}
	}
	if _, had := l.byKey[key]; !had {
		l.order = append(l.order, key)
	}
	l.byKey[key] = j
	if len(l.order) > keptLandings {
		delete(l.byKey, l.order[0])
		l.order = l.order[1:]
	}
}

func (l *landings) take(t turn) (judged, bool) {
	key := t.contentKey("")
	l.mu.Lock()
	defer l.mu.Unlock()
	j, found := l.byKey[key]
	if found {
		delete(l.byKey, key)
		l.order = slices.DeleteFunc(l.order, func(k string) bool { return k == key })
	}
	return j, found
}

// landing is a write that ended in another file than the one that was judged.
type landing struct {
	write host.Write
	meant schemas.Target
	at    schemas.Target
}

// found compares where a tool's content is with where it was judged to be. Where
// code is closed, a content that is there may be elsewhere as well: in a folder that
// commands may write, one may lead the write away and put a copy in its place.
func (l *landings) found(t turn, closed bool) []landing {
	j, known := l.take(t)
	if !known || len(j.targets) != len(t.Writes) {
		return nil
	}
	var all []landing
	for i, w := range t.Writes {
		meant := j.targets[i]
		at := t.project.Target(w.Path, t.Dir)
		if at.Path != meant.Path {
			if landed(w, at.Path, meant.Result, j.at) {
				all = append(all, landing{w, meant, at})
			}
			continue
		}
		for _, path := range t.sameFile(meant.Path) {
			all = append(all, landing{w, meant, enforcement.Classify(t.project.Layout, filepath.ToSlash(path))})
		}
		is, _ := t.project.FileState(meant.Path)
		missing := is.SHA256 == j.was[i] && meant.Result != j.was[i]
		copied := closed && (meant.Class == enforcement.ClassScratch || meant.Class == enforcement.ClassTest)
		if meant.Result == "" || !missing && !copied {
			continue
		}
		if path := t.search(w, meant, j.at); path != "" {
			all = append(all, landing{w, meant, enforcement.Classify(t.project.Layout, filepath.ToSlash(path))})
		}
	}
	return all
}

// landed reports whether a file was written since, with what a call writes.
func landed(w host.Write, path, result string, since time.Time) bool {
	info, err := os.Stat(path)
	if err != nil || info.ModTime().Before(since) {
		return false
	}
	content, err := project.ReadFile(path)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	if result != "" && enforcement.Hash(content) == result {
		return true
	}
	return w.Content == nil && !slices.ContainsFunc(w.Edits, func(e host.Edit) bool { return !strings.Contains(string(content), e.New) })
}

// maxSearched bounds the files among which a content is searched for.
const maxSearched = 50_000

// search finds another file of the project that was written since with what was
// meant for one.
func (t turn) search(w host.Write, meant schemas.Target, since time.Time) (found string) {
	t.walk(func(path string, info fs.FileInfo) bool {
		if path != meant.Path && !info.ModTime().Before(since) && landed(w, path, meant.Result, since) {
			found = path
		}
		return found == ""
	})
	return found
}

// sameFile are other names in the project of a file: to write one is to write all.
func (t turn) sameFile(path string) (found []string) {
	is, err := os.Lstat(path)
	if err != nil || !is.Mode().IsRegular() || project.Names(is) < 2 {
		return nil
	}
	t.walk(func(other string, info fs.FileInfo) bool {
		if other != path && os.SameFile(is, info) {
			found = append(found, other)
		}
		return len(found) < project.Names(is)-1
	})
	return found
}

// walk goes through the files of the project, as long as it is told to.
func (t turn) walk(each func(path string, info fs.FileInfo) bool) {
	seen := 0
	_ = filepath.WalkDir(t.project.Root, func(path string, entry fs.DirEntry, err error) error {
		if seen++; seen > maxSearched {
			return fs.SkipAll
		}
		switch {
		case err != nil:
			return nil //nolint:nilerr // what cannot be read holds nothing that was written
		case entry.IsDir() && (entry.Name() == "node_modules" || path == filepath.Join(t.project.Root, ".git", "objects")):
			return fs.SkipDir
		case !entry.Type().IsRegular():
			return nil
		}
		if info, err := entry.Info(); err == nil && !each(path, info) {
			return fs.SkipAll
		}
		return nil
	})
}

// astray refuses, after the fact, what a tool wrote elsewhere than was judged: it
// is recorded, put back where what stood there is known, and told.
func (v *Service) astray(ctx context.Context, t turn, session string, parent *enforcement.State) (enforcement.Decision, error) {
	var all enforcement.Decision
	state, err := v.Sessions.Peek(ctx, session)
	if err != nil {
		return all, err
	}
	closed := runner.ClosesCode(t.bound(state, parent))
	for _, l := range v.landings.found(t, closed) {
		check := enforcement.CheckTree{ToolUseID: t.ToolUseID, Meant: l.meant, Changes: []enforcement.TreeChange{{Target: l.at, Change: confine.Changed}}}
		d, err := v.afterwards.judge(ctx, t, session, parent, check)
		if err != nil {
			if closed { // it is owed to the log, and has no business there meanwhile
				err = fmt.Errorf("%w. %s", err, v.landings.undo(ctx, t, l))
			}
			return all, err
		}
		if len(d.Record) > 0 {
			undone := v.landings.undo(ctx, t, l)
			d.Context, d.Notice = join(d.Context, undone), join(d.Notice, undone)
		}
		all.Context, all.Notice = join(all.Context, d.Context), join(all.Notice, d.Notice)
		all.Record = append(all.Record, d.Record...)
	}
	return all, nil
}

// undo puts a file back as it was: as the host says that it was, without the
// call's own edits, or as git knows it. One that git does not know, and that holds
// what the call wrote and nothing else, is removed.
func (l *landings) undo(ctx context.Context, t turn, at landing) string {
	path := at.at.Path
	could := func(err error) string {
		if err != nil {
			return fmt.Sprintf("It could not be undone: %v.", err)
		}
		return "It was undone: " + path + " is as it was."
	}
	is, err := project.ReadFile(path)
	if err == nil && enforcement.Resolve(filepath.ToSlash(path), "", "", project.Readlink) != filepath.ToSlash(path) {
		err = errors.New("links on its way changed")
	}
	if err != nil {
		return could(err)
	}
	if t.Made || t.Was != nil {
		if t.Made {
			return could(os.Remove(path))
		}
		return could(putBack(t.project.Root, at.at, []byte(*t.Was)))
	}
	if before, known := withoutEdits(at.write, string(is)); known {
		return could(putBack(t.project.Root, at.at, []byte(before)))
	}
	if at.at.Rel != "" {
		ctx, cancel := context.WithTimeout(ctx, l.gitTime)
		defer cancel()
		if before, known := worktree.Staged(ctx, t.project.Root, at.at.Rel); known {
			return could(putBack(t.project.Root, at.at, before))
		}
	}
	if at.write.Content != nil && len(is) > 0 && string(is) == *at.write.Content {
		return could(os.Remove(path))
	}
	return could(errors.New("what stood there is not known"))
}

// putBack writes a file by a way that a link cannot lead elsewhere meanwhile: out
// of the project, or of the folder of a file outside.
func putBack(project string, at schemas.Target, content []byte) error {
	dir, rel := project, filepath.FromSlash(at.Rel)
	if at.Rel == "" {
		dir, rel = filepath.Split(filepath.FromSlash(at.Path))
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	if is, err := root.Lstat(rel); err != nil || !is.Mode().IsRegular() {
		return errors.Join(err, errors.New("it is no file any more"))
	}
	return root.WriteFile(rel, content, 0o600)
}

// withoutEdits is a content before a call's edits, where each can be told.
func withoutEdits(w host.Write, content string) (string, bool) {
	for _, e := range slices.Backward(w.Edits) {
		if e.New == "" || strings.Count(content, e.New) != 1 {
			return "", false
		}
		content = strings.Replace(content, e.New, e.Old, 1)
	}
	return content, w.Content == nil && len(w.Edits) > 0
}
