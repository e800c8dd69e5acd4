package projections

import (
	"sync"
	"sync/atomic"
	"time"
)

const (
	// firstMost is for how long a build stands still for one that goes first, and
	// firstRest for how long it then goes on in any case.
	firstMost = 30 * time.Millisecond
	firstRest = 10 * time.Millisecond
)

// first are those that builds stand still for.
type first struct {
	mu    sync.Mutex
	count int
	none  chan struct{} // closed when the last has left
	rests time.Time     // until when builds go on in any case
	some  atomic.Bool   // count is not 0
}

// enter counts one in.
func (f *first) enter() (leave func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.count++; f.count == 1 {
		f.none = make(chan struct{})
		f.some.Store(true)
	}
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.count--; f.count == 0 {
			close(f.none)
			f.some.Store(false)
		}
	}
}

// wait stands still while somebody goes first, within bounds.
func (f *first) wait() {
	if !f.some.Load() {
		return
	}
	f.mu.Lock()
	none, rests := f.none, time.Now().Before(f.rests)
	busy := f.count > 0
	f.mu.Unlock()
	if rests || !busy {
		return
	}
	timer := time.NewTimer(firstMost)
	defer timer.Stop()
	select {
	case <-none:
	case <-timer.C:
		f.mu.Lock()
		f.rests = time.Now().Add(firstRest)
		f.mu.Unlock()
	}
}
