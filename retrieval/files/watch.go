package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
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
	// polling is how often the files are looked at where the platform does not
	// tell of their changes.
	polling = 5 * time.Second
	// retryAfter is how long an update that failed is put off.
	retryAfter = time.Second
)

// Watch keeps the index up to the files until the context ends. It begins with
// an update. report, if not nil, hears of each update, or of what kept one from
// ending well; the next change tries again.
func (p *Project) Watch(ctx context.Context, report func(Built, error)) error {
	w := &watch{project: p, report: report, dirty: map[string]bool{}, all: true}
	if w.report == nil {
		w.report = func(Built, error) {}
	}
	var err error
	if w.watcher, err = fsnotify.NewBufferedWatcher(1 << 14); err != nil {
		w.report(Built{}, fmt.Errorf("artifacts: the platform does not tell of changes: %w: looking every %s", err, polling))
		return w.poll(ctx)
	}
	defer func() { _ = w.watcher.Close() }()
	return w.run(ctx)
}

// watch is a running Watch.
type watch struct {
	project *Project
	watcher *fsnotify.Watcher
	report  func(Built, error)

	dirty   map[string]bool // paths that may have changed
	all     bool            // anything may have
	refused error           // a folder that cannot be watched
}

func (w *watch) run(ctx context.Context) error {
	wait := time.NewTimer(0)
	defer wait.Stop()
	var since time.Time // when the first change came that no update has
	look := time.NewTicker(polling)
	defer look.Stop()
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
				w.report(Built{}, fmt.Errorf("artifacts: watch %s: %w", w.project.Root(), err))
			}
		case <-look.C:
			if w.refused == nil {
				continue
			}
			w.all = true
		case <-wait.C:
			since = time.Time{}
			if !w.update(ctx) {
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
	if vcsNames[filepath.Base(rel)] {
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
	w.refused = nil
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
	w.report(built, w.refused)
	return true
}

// enter watches a folder before it is read, so that nothing that comes into it
// later is missed.
func (w *watch) enter(dir string) {
	err := w.watcher.Add(dir)
	if err == nil || errors.Is(err, fs.ErrNotExist) || w.refused != nil {
		return
	}
	w.refused = fmt.Errorf("artifacts: %s cannot be watched: %w: looking every %s instead", dir, err, polling)
}

// poll looks at all files every so often.
func (w *watch) poll(ctx context.Context) error {
	tick := time.NewTicker(polling)
	defer tick.Stop()
	for {
		w.update(ctx)
		w.all = true
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}
