package library

import (
	"errors"
	"runtime/debug"

	"github.com/writbus/writ/retrieval/files"
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
			built, err = p.Update(l.running, u)
			p.ended(built, err, true)
			l.embed(p)
			if err == nil {
				l.watch(p, u.Globs != nil)
				l.trim(p)
			}
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.building == done {
			p.building = nil
		}
		close(done)
		if built.Read > manyRead {
			l.wait.Go(func() {
				undo := l.o.Lean()
				l.save(p)
				undo()
				if l.running.Err() == nil {
					debug.FreeOSMemory() // what such an update throws away is several times what it keeps
				}
			})
		}
	})
	return done
}

// ended takes down how an update ended. One that nobody asked for and that changed
// nothing does not hide what the one before it did.
func (p *project) ended(built files.Built, err error, asked bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if errors.Is(err, files.ErrUnasked) {
		p.declined = plainly(err)
		return
	}
	if p.failed = err; err != nil {
		return
	}
	p.exists = true
	if asked || p.last == nil || built.Added+built.Changed+built.Renamed+built.Removed > 0 {
		p.last = &built
	}
}
