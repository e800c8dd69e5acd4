package library

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/writbus/writ/retrieval/files"
)

// mostWatched bounds the projects that are watched: those used last. The files
// of others are looked at before a search.
const mostWatched = 16

// freshness is what keeps an index up to its files; guarded by the project.
type freshness struct {
	watching  *watching
	unwatched string // why the files are not watched, "" where they are or may be
	told      map[string]bool
	telling   chan struct{} // closed once what was told is in the index; nil while nothing is told
	looking   chan struct{} // closed once the files were looked at; nil while nobody looks
}

// watching is one run of a watch.
type watching struct {
	stop  context.CancelFunc
	ended chan struct{}
}

// watch keeps a project's index up to its files as long as it is in memory. anew
// begins again, since other files are looked at.
func (l *Library) watch(p *project, anew bool) {
	if l.running.Err() != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.fresh.watching
	if p.left || before != nil && !anew || p.fresh.unwatched != "" && !anew {
		return
	}
	if before != nil {
		before.stop()
	}
	ctx, cancel := context.WithCancel(l.running)
	now := &watching{stop: cancel, ended: make(chan struct{})}
	p.fresh.watching, p.fresh.unwatched = now, ""
	l.wait.Go(func() {
		defer close(now.ended)
		if before != nil {
			<-before.ended
		}
		err := l.follow(ctx, p)
		cancel()
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.fresh.watching != now {
			return
		}
		p.fresh.watching = nil
		if errors.Is(err, files.ErrUnwatched) {
			p.fresh.unwatched = strings.TrimPrefix(err.Error(), files.ErrUnwatched.Error()+": ")
			l.o.Logger.Info("the files of a project are looked at before each search", "project", p.id, "why", p.fresh.unwatched)
		}
	})
}

// follow watches a project's files and takes down what comes of it.
func (l *Library) follow(ctx context.Context, p *project) error {
	var said string
	return p.Watch(ctx, func(built files.Built, err error) {
		p.ended(built, err, false)
		if err == nil {
			l.embed(p)
		} else if err.Error() != said {
			said = err.Error()
			l.o.Warn(said)
		}
	})
}

// unwatch ends the watching of a project; what is closed once it has ended is
// nil where nothing watched.
func (p *project) unwatch() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.fresh.watching
	if w == nil {
		return nil
	}
	w.stop()
	p.fresh.watching = nil
	return w.ended
}

// keepWatched watches a project that is used, and no more those that were not
// for the longest time where there are too many.
func (l *Library) keepWatched(p *project) {
	l.watch(p, false)
	l.mu.Lock()
	defer l.mu.Unlock()
	watched := slices.DeleteFunc(slices.Collect(maps.Values(l.projects)), func(o *project) bool { return o == p || !o.isWatched() })
	slices.SortFunc(watched, func(a, b *project) int { return a.lastUsed().Compare(b.lastUsed()) })
	for len(watched) >= mostWatched {
		watched[0].unwatch()
		watched = watched[1:]
	}
}

func (p *project) isWatched() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fresh.watching != nil
}

// Began looks over the files of a project in which a session begins. Where it has
// no index, index says that one is made. Nobody waits for it.
func (l *Library) Began(root string, index bool) {
	p := l.loaded(root, index)
	if p == nil {
		return // it is being loaded or made, which looks at all files
	}
	p.mu.Lock()
	p.fresh.unwatched = "" // folders may be fewer now, or others no longer watched
	p.mu.Unlock()
	l.keepWatched(p)
	l.look(p)
}

// unasked makes the index of a project that has none, once its session has begun
// and unless that was given up before. A folder without version control may be
// anything, such as somebody's downloads, and one that holds the home folder is no
// project.
func (l *Library) unasked(p *project) {
	home, err := os.UserHomeDir()
	if rel, _ := filepath.Rel(p.id, resolved(home)); err == nil && filepath.IsLocal(rel) || !files.Versioned(p.id) {
		return
	}
	if within(l.running, l.o.Waits.Quiet, nil); l.running.Err() != nil {
		return
	}
	p.mu.Lock()
	skip := p.exists || p.building != nil || p.declined != ""
	p.mu.Unlock()
	if _, forgotten := l.forgotten.Load(p.id); !skip && !forgotten {
		l.o.Logger.Info("an index is made of a project that had none", "project", p.id)
		<-l.begin(p, files.Update{Unasked: true})
	}
}

// Wrote hears of files that an agent wrote, by their absolute paths. The next
// search finds what is in them.
func (l *Library) Wrote(paths []string) {
	if l.running == nil || l.running.Err() != nil {
		return
	}
	l.mu.Lock()
	open := slices.Collect(maps.Values(l.projects))
	l.mu.Unlock()
	for _, p := range open {
		if !p.isOpen() || p.Current() == nil {
			continue // an index that is loaded later is up to its files then
		}
		var own []string
		for _, path := range paths {
			rel, err := filepath.Rel(p.id, resolvedParent(path))
			if rel = filepath.ToSlash(rel); err == nil && rel != "." && rel != ".." && !strings.HasPrefix(rel, "../") {
				own = append(own, rel)
			}
		}
		if len(own) > 0 {
			l.tell(p, own)
		}
	}
}

// tell has an index brought up to some paths, and returns what is closed once
// it is.
func (l *Library) tell(p *project, paths []string) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fresh.told == nil {
		p.fresh.told = map[string]bool{}
	}
	for _, path := range paths {
		p.fresh.told[path] = true
	}
	if p.fresh.telling == nil {
		done := make(chan struct{})
		p.fresh.telling = done
		l.wait.Go(func() {
			defer close(done)
			for paths := p.takeTold(); paths != nil; paths = p.takeTold() {
				built, err := p.Update(l.running, files.Update{Paths: paths, Some: true})
				p.ended(built, err, false)
			}
			l.embed(p)
		})
	}
	return p.fresh.telling
}

// takeTold takes the paths that were told; nil, and nothing is being told any
// more, where there are none.
func (p *project) takeTold() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.fresh.told) == 0 {
		p.fresh.telling = nil
		return nil
	}
	paths := slices.Sorted(maps.Keys(p.fresh.told))
	clear(p.fresh.told)
	return paths
}

// look has an index brought up to all files, unless that goes on, and returns
// what is closed once it is.
func (l *Library) look(p *project) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fresh.looking == nil && l.running.Err() == nil {
		done, began := make(chan struct{}), l.o.Now()
		p.checked, p.fresh.looking = began, done
		l.wait.Go(func() {
			defer close(done)
			built, err := p.Update(l.running, files.Update{})
			p.ended(built, err, false)
			l.embed(p)
			p.mu.Lock()
			defer p.mu.Unlock()
			p.comparing, p.fresh.looking = l.o.Now().Sub(began), nil
		})
	}
	return p.fresh.looking
}

// settle waits, for a while, until an index has what it was told, and what a
// look finds where nothing watches its files.
func (l *Library) settle(ctx context.Context, p *project) {
	l.keepWatched(p)
	p.mu.Lock()
	telling := p.fresh.telling
	p.mu.Unlock()
	if telling != nil {
		within(ctx, l.o.Waits.Compare, telling)
	}
	if p.due(l.o.Now()) {
		within(ctx, l.o.Waits.Compare, l.look(p))
	}
}
