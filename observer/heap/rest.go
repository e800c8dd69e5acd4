package heap

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// A program rests when it has allocated next to nothing for some looks in a row,
// and much since it last did.
const (
	restEvery   = 5 * time.Second
	restLooks   = 4       // 20 s: an agent at work asks more often
	restQuiet   = 1 << 20 // bytes between two looks; a hook takes as much
	restLeast   = 8 << 20 // bytes since the last rest; or, where that is more:
	restPortion = 4       // one part in so many of what is in use, of which all is looked at
)

// resting tells when a program may rest.
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

// Rest calls rest when work has come to an end: once what starting brings in is
// there, which needs more memory than serving, whenever asked is filled, and
// whenever the program has next to nothing to do. Between them it calls look from
// time to time. It returns when ctx ends.
func Rest(ctx context.Context, started, asked <-chan struct{}, look, rest func()) {
	select {
	case <-ctx.Done():
		return
	case <-started:
	}
	rest()
	tick := time.NewTicker(restEvery)
	defer tick.Stop()
	var state resting
	for {
		select {
		case <-ctx.Done():
			return
		case <-asked:
			rest()
			continue
		case <-tick.C:
		}
		look()
		if state.due(allocated()) {
			rest()
		}
	}
}

// Release gives garbage, and pages of the program's own file, back to the system.
func Release() {
	start(false)
	debug.FreeOSMemory()
	dropFilePages()
}

// allocated are the bytes that were allocated since the start of the process,
// and those in use after the last collection.
func allocated() (total, live uint64) {
	read := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}, {Name: "/gc/heap/live:bytes"}}
	metrics.Read(read)
	return read[0].Value.Uint64(), read[1].Value.Uint64()
}
