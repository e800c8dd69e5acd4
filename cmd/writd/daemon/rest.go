package daemon

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// A daemon rests when it has allocated next to nothing for some looks in a row,
// and much since it last did.
const (
	restEvery   = 5 * time.Second
	restLooks   = 4       // 20 s: an agent at work asks more often
	restQuiet   = 1 << 20 // bytes between two looks; a hook takes as much
	restLeast   = 8 << 20 // bytes since the last rest; or, where that is more:
	restPortion = 4       // one part in so many of what is in use, of which all is looked at
)

// resting tells when a daemon may rest.
type resting struct {
	seen   uint64 // bytes allocated at the last look
	rested uint64 // at the last rest
	quiet  int    // looks in a row that found next to nothing allocated
}

// due says whether to rest now, with so many bytes allocated since the start
// and so many in use.
func (r *resting) due(allocated, live uint64) bool {
	if allocated-r.seen < restQuiet {
		r.quiet++
	} else {
		r.quiet = 0
	}
	r.seen = allocated
	if r.quiet < restLooks || allocated-r.rested < max(restLeast, live/restPortion) {
		return false
	}
	r.rested = allocated
	return true
}

// beginResting lets the daemon rest once the shipped rules are there, since
// starting needs more memory than serving, and then whenever it has nothing to
// do. stop waits until it no longer does.
func (d *Daemon) beginResting(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-ctx.Done():
			return
		case <-d.imported:
		}
		d.rest()
		tick := time.NewTicker(restEvery)
		defer tick.Stop()
		var state resting
		for {
			select {
			case <-ctx.Done():
				return
			case <-d.spent:
				d.rest()
				continue
			case <-tick.C:
			}
			d.corpus.dropPages() // a query brings back a hundred at most
			if state.due(allocations()) {
				d.rest()
			}
		}
	}()
	return func() { cancel(); <-done }
}

// restSoon has the daemon rest without waiting until it is quiet, after
// something that takes much memory once. Who asks may go on.
func (d *Daemon) restSoon() {
	select {
	case d.spent <- struct{}{}:
	default: // it is going to
	}
}

// allocations are the bytes that were allocated since the start of the process,
// and those in use after the last collection.
func allocations() (total, live uint64) {
	read := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}, {Name: "/gc/heap/live:bytes"}}
	metrics.Read(read)
	return read[0].Value.Uint64(), read[1].Value.Uint64()
}

// rest gives back what working needs and waiting does not: the shipped rules as
// they were read, what views keep of committed values, garbage, and pages of the
// program's file. All of it comes back when it is needed.
func (d *Daemon) rest() {
	d.keepPacked()
	d.runtime.Relax()
	relieve()
	d.corpus.dropPages()
}

// relieve gives back what the process has and not the daemon. It is a variable
// since tests run many daemons in one process, of which each would take from the
// others what they are using.
var relieve = func() {
	shipped.forget()
	debug.FreeOSMemory()
	dropFilePages()
}
