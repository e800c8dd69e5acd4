// Package admission decides which of the hooks that call at once are answered, in which order, and which are
// refused at once: each session has a lane, and the lanes take turns.
//
// It knows neither hooks nor decisions: a session is a name, a payload a number of bytes.
package admission

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/writbus/writ/schemas"
)

// What is admitted of hooks. Those of one session are decided one after the other,
// so that more of them at once would only hold the places of others.
const (
	mostBusy         = 64
	mostBusyOfOne    = 8
	mostWaiting      = 448
	mostWaitingOfOne = 224
	mostBytes        = 256 << 20 // of payloads that are read, wait, or are answered
	// Concurrency is how many calls are taken from the bus at once: more than
	// are busy or wait, so that one too many is refused and waits for nobody.
	Concurrency = 2 * (mostBusy + mostWaiting)
)

// Queue lets the hooks of sessions take turns: a session waits for at most one
// hook of each other one, however many those have. What could not be answered in
// time is refused at once.
//
// Invariants:
//  1. busy and waiting are the sums of what the lanes have.
//  2. A lane is in lanes while it has a hook that is busy or waits, and in turns
//     while it has one that waits.
//  3. While a hook waits, all places are taken, or those of its session.
type Queue struct {
	patience time.Duration // for a turn

	mu            sync.Mutex
	bytes         int
	busy, waiting int
	lanes         map[string]*lane
	turns         []*lane // the first is next
}

// lane is a session of which hooks are busy or wait.
type lane struct {
	session string
	busy    int
	waiting []chan error // oldest first; each is told once: nil for its turn
}

// New makes a queue in which each waits for at most some time.
func New(patience time.Duration) *Queue {
	return &Queue{patience: patience, lanes: map[string]*lane{}}
}

func overloaded(format string, args ...any) error {
	return schemas.Faultf(schemas.CodeOverloaded, "the daemon has more to do than it can answer in time: "+format, args...)
}

// Hold counts the bytes of a payload until it is released, and refuses it where
// those at hand are too many.
func (a *Queue) Hold(n int) (release func(), err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.bytes > 0 && a.bytes+n > mostBytes {
		return nil, overloaded("the hooks that it has have %d MB, and this one %d MB", a.bytes>>20, n>>20)
	}
	a.bytes += n
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.bytes -= n
	}, nil
}

// Enter waits until a hook of a session may be answered; leave is to be called
// after that. It returns a fault with CodeOverloaded where too many wait already,
// or its patience ends.
func (a *Queue) Enter(ctx context.Context, session string) (leave func(), err error) {
	a.mu.Lock()
	l := a.lanes[session]
	if l == nil {
		l = &lane{session: session}
	}
	leave = func() { a.leave(l) }
	if len(l.waiting) == 0 && l.busy < mostBusyOfOne && a.busy < mostBusy {
		a.start(l)
		a.mu.Unlock()
		return leave, nil
	}
	if len(l.waiting) >= mostWaitingOfOne {
		a.mu.Unlock()
		return nil, overloaded("%d hooks of this session wait already", mostWaitingOfOne)
	}
	if a.waiting >= mostWaiting {
		a.turnAway(l)
	}
	if a.waiting >= mostWaiting {
		a.mu.Unlock()
		return nil, overloaded("%d hooks wait already", mostWaiting)
	}
	if len(l.waiting) == 0 {
		a.turns = append(a.turns, l)
	}
	turn := make(chan error, 1)
	a.lanes[session], l.waiting, a.waiting = l, append(l.waiting, turn), a.waiting+1
	a.mu.Unlock()

	timer := time.NewTimer(a.patience)
	defer timer.Stop()
	select {
	case err = <-turn:
	case <-timer.C:
		err = a.giveUp(l, turn, overloaded("this one waited %s for its turn", a.patience))
	case <-ctx.Done():
		err = a.giveUp(l, turn, context.Cause(ctx))
	}
	if err != nil {
		return nil, err
	}
	return leave, nil
}

// giveUp returns why a hook waits no longer, nil where its turn has come meanwhile.
func (a *Queue) giveUp(l *lane, turn chan error, why error) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	i := slices.Index(l.waiting, turn)
	if i < 0 {
		return <-turn
	}
	a.take(l, i)
	return why
}

// turnAway makes room for a session that has fewer waiting than another.
func (a *Queue) turnAway(l *lane) {
	most := slices.MaxFunc(a.turns, func(a, b *lane) int { return len(a.waiting) - len(b.waiting) })
	if last := len(most.waiting) - 1; last > len(l.waiting) {
		a.take(most, last) <- overloaded("%d hooks wait already, and %d of them are of this session", mostWaiting, last+1)
	}
}

// start gives a session's hook a place.
func (a *Queue) start(l *lane) {
	a.lanes[l.session] = l
	l.busy, a.busy = l.busy+1, a.busy+1
}

// take removes a hook from those that wait.
func (a *Queue) take(l *lane, i int) chan error {
	turn := l.waiting[i]
	l.waiting, a.waiting = slices.Delete(l.waiting, i, i+1), a.waiting-1
	if len(l.waiting) == 0 {
		a.turns = slices.DeleteFunc(a.turns, func(o *lane) bool { return o == l })
	}
	a.forget(l)
	return turn
}

func (a *Queue) forget(l *lane) {
	if l.busy == 0 && len(l.waiting) == 0 {
		delete(a.lanes, l.session)
	}
}

// leave gives a place back, and to whoever is next.
func (a *Queue) leave(l *lane) {
	a.mu.Lock()
	defer a.mu.Unlock()
	l.busy, a.busy = l.busy-1, a.busy-1
	a.forget(l)
	for a.busy < mostBusy {
		i := slices.IndexFunc(a.turns, func(l *lane) bool { return l.busy < mostBusyOfOne })
		if i < 0 {
			return
		}
		next := a.turns[i]
		a.turns = append(slices.Delete(a.turns, i, i+1), next) // its next one is behind the other sessions'
		a.start(next)
		a.take(next, 0) <- nil
	}
}
