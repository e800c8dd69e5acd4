package daemon

import (
	"context"

	"github.com/writbus/writ/enforcement/session"
	"github.com/writbus/writ/observer/heap"
	"github.com/writbus/writ/retrieval/rulebook"
)

// beginResting lets the daemon rest once the shipped rules are there, and then
// whenever it has nothing to do. stop waits until it no longer does.
func (d *Daemon) beginResting(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		heap.Rest(ctx, d.rules.Imported(), d.restAsked, d.corpus.DropPages, d.rest) // a query brings back a hundred pages at most
	}()
	return func() { cancel(); <-done }
}

// restSoon has the daemon rest without waiting until it is quiet, after
// something that takes much memory once. Who asks may go on.
func (d *Daemon) restSoon() {
	select {
	case d.restAsked <- struct{}{}:
	default: // it is going to
	}
}

// rest gives back what working needs and waiting does not: the shipped rules as
// they were read, sessions, what views keep of committed values, garbage, and pages
// of the program's file. All of it comes back when it is needed.
func (d *Daemon) rest() {
	d.corpus.Pack(d.runtime)
	session.Relax(d.sessions)
	d.runtime.Relax()
	relieve()
	d.corpus.DropPages()
}

// relieve gives back what the process has and not the daemon. It is a variable
// since tests run many daemons in one process, of which each would take from the
// others what they are using.
var relieve = func() {
	rulebook.ForgetShipped()
	heap.Release()
}
