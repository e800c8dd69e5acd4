package library

import (
	"cmp"
	"context"
	"errors"
	"runtime/debug"

	"github.com/writbus/writ/retrieval/files"
	"github.com/writbus/writ/schemas"
)

// manyRead is from how many files on an update is kept for the next process at
// once; after smaller ones that waits for the end.
const manyRead = 256

// begin starts an update unless one runs, and returns what is closed when that
// one ends. An update that was asked for with other globs, or with force, waits
// its turn. All of them wait until the project is open; where that fails, nothing
// is updated.
func (l *Library) begin(p *project, u files.Update) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.building
	if before != nil && u.Globs == nil && !u.Force {
		return before
	}
	done := make(chan struct{})
	p.building = done
	l.wait.Go(func() {
		if before != nil {
			<-before
		}
		var built files.Built
		if <-p.opened; p.closed == nil {
			var err error
			built, err = l.update(p, u)
			p.ended(built, err)
			l.embed(p)
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.building == done {
			p.building = nil
		}
		close(done)
		if built.Read > manyRead {
			l.wait.Go(func() {
				l.save(p)
				if l.running.Err() == nil {
					debug.FreeOSMemory() // what such an update throws away is several times what it keeps
				}
			})
		}
	})
	return done
}

// update brings an index up to its files. All of them are mostly looked at here,
// which takes much memory for a moment.
func (l *Library) update(p *project, u files.Update) (files.Built, error) {
	defer l.o.Lean()()
	return p.Update(l.running, u)
}

// ended takes down how an update ended.
func (p *project) ended(built files.Built, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failed = err; err == nil {
		p.exists, p.last = true, &built
	}
}

// watch keeps a project's index up to its files until the lease ends.
func (l *Library) watch(p *project, anew bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lease = l.o.Now().Add(schemas.WatchLease)
	if p.watching != nil && !anew {
		return
	}
	if p.watching != nil {
		p.watching()
	}
	ctx, cancel := context.WithCancel(l.running)
	p.watching = cancel
	var said string
	l.wait.Go(func() { l.keepLease(ctx, p) })
	l.wait.Go(func() {
		_ = p.Watch(ctx, func(built files.Built, err error) {
			if built.At.IsZero() {
				p.ended(built, cmp.Or(err, errors.New("the update ended early")))
			} else {
				p.ended(built, nil)
				l.embed(p)
			}
			if err != nil && err.Error() != said {
				said = err.Error()
				l.o.Warn(said)
			}
		})
	})
}

// keepLease stops watching when nobody asked for it again in time.
func (l *Library) keepLease(ctx context.Context, p *project) {
	for left := schemas.WatchLease; ctx.Err() == nil; {
		within(ctx, left, nil)
		p.mu.Lock()
		if left = p.lease.Sub(l.o.Now()); left <= 0 && ctx.Err() == nil {
			p.watching()
			p.watching = nil
		}
		p.mu.Unlock()
	}
}
