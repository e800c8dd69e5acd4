package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// quiet is how long nothing may happen before an update, and patience how
	// long an update is put off while things go on happening.
	quiet    = 40 * time.Millisecond
	patience = 200 * time.Millisecond
	// manyPaths is from where all files are looked at, which is then faster.
	manyPaths = 500
	// retryAfter is how long an update that failed is put off.
	retryAfter = time.Second
)

// ErrUnwatched is returned where the system does not tell of changes to a
// project's files; its text says why. Whoever searches has to look first.
var ErrUnwatched = errors.New("files: the files cannot be watched")

// Watch keeps the index up to the files until the context ends, or returns
// [ErrUnwatched]. It begins with an update. report, if not nil, hears of each
// update, or of what kept one from ending well; the next change tries again.
func (p *Project) Watch(ctx context.Context, report func(Built, error)) error {
	if far := remote(p.Root()); far != "" {
		return fmt.Errorf("%w: %s is %s, which tells nothing of what other machines write", ErrUnwatched, p.Root(), far)
	}
	watcher, err := fsnotify.NewBufferedWatcher(1 << 14)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnwatched, err)
	}
	defer func() { _ = watcher.Close() }()
	return newWatch(p, watcher, report).run(ctx)
}

func newWatch(p *Project, watcher *fsnotify.Watcher, report func(Built, error)) *watch {
	w := &watch{project: p, watcher: watcher, report: report, dirty: map[string]bool{}, all: true, folders: map[string]bool{}}
	if w.report == nil {
		w.report = func(Built, error) {}
	}
	return w
}

// watch is a running Watch.
type watch struct {
	project *Project
	watcher *fsnotify.Watcher
	report  func(Built, error)

	dirty   map[string]bool // paths that may have changed
	all     bool            // anything may have
	folders map[string]bool // that are watched, absolute
	entered map[string]bool // by the update that runs
	refused error           // a folder that cannot be watched
}

func (w *watch) run(ctx context.Context) error {
	defer func() { w.project.options.Watches.give(len(w.folders)) }()
	wait := time.NewTimer(0)
	defer wait.Stop()
	var since time.Time // when the first change came that no update has
	for {
		select {
		case <-ctx.Done():
			return nil
		case event, open := <-w.watcher.Events:
			if !open {
				return nil
			}
			if !w.note(event) {
				continue
			}
		case err, open := <-w.watcher.Errors:
			if !open {
				return nil
			}
			// What was lost nobody knows: the queue ran over, or worse.
			w.all = true
			if !errors.Is(err, fsnotify.ErrEventOverflow) {
				w.report(Built{}, fmt.Errorf("files: watch %s: %w", w.project.Root(), err))
			}
		case <-wait.C:
			since = time.Time{}
			done := w.update(ctx)
			if w.refused != nil {
				return w.refused
			}
			if !done {
				since = w.project.options.Now()
				wait.Reset(retryAfter)
			}
			continue
		}
		now := w.project.options.Now()
		if since.IsZero() {
			since = now
		}
		wait.Reset(max(min(quiet, patience-now.Sub(since)), 0))
	}
}

// note takes a change down, and says whether it matters.
func (w *watch) note(event fsnotify.Event) bool {
	rel, err := filepath.Rel(w.project.Root(), event.Name)
	if err != nil {
		return false
	}
	name, outside := filepath.Base(rel), !filepath.IsLocal(rel)
	if outside && name == ".gitignore" || name == excludeFile && filepath.Base(filepath.Dir(event.Name)) == "info" {
		w.all = true
		return true
	}
	if outside || vcsNames[name] {
		return false
	}
	if rel == "." || len(w.dirty) >= manyPaths {
		w.all = true
		return true
	}
	w.dirty[filepath.ToSlash(rel)] = true
	return true
}

// update brings the index up to what was noted. It says no where that has to
// be tried again.
func (w *watch) update(ctx context.Context) bool {
	u := Update{enter: w.enter}
	if !w.all {
		u.Paths = make([]string, 0, len(w.dirty))
		for path := range w.dirty {
			u.Paths = append(u.Paths, path)
		}
	}
	w.entered = map[string]bool{}
	built, err := w.project.Update(ctx, u)
	switch {
	case ctx.Err() != nil:
		return true
	case err != nil:
		w.all = true
		w.report(built, err)
		return false
	}
	clear(w.dirty)
	w.all = false
	if built.Whole {
		w.forget()
	}
	w.report(built, nil)
	return true
}

// enter watches a folder before it is read, so that nothing that comes into it
// later is missed.
func (w *watch) enter(dir string) {
	w.entered[dir] = true
	if w.refused != nil {
		return
	}
	if !w.folders[dir] && !w.project.options.Watches.take() {
		w.refused = fmt.Errorf("%w: more folders than may be watched, which is a part of what the system lets one user watch", ErrUnwatched)
		return
	}
	w.folders[dir] = true
	switch err := w.watcher.Add(dir); {
	case errors.Is(err, syscall.ENOSPC): // the system speaks of space, and means watches
		w.refused = fmt.Errorf("%w: the system lets this user watch no more folders; a larger fs.inotify.max_user_watches does", ErrUnwatched)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission): // nothing in it can be read, and that it can be is told by the folder above
	case err != nil:
		w.refused = fmt.Errorf("%w: %s: %w", ErrUnwatched, dir, err)
	}
}

// forget no longer watches the folders that the last walk did not enter: they
// are gone, or left out.
func (w *watch) forget() {
	for dir := range w.folders {
		if !w.entered[dir] {
			_ = w.watcher.Remove(dir) // of a folder that is gone nothing is watched
			delete(w.folders, dir)
			w.project.options.Watches.give(1)
		}
	}
}
