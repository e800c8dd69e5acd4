package turn

import (
	"container/list"
	"errors"
	"sync"
	"time"

	"github.com/writbus/writ/schemas"
)

var errNoAnswer = errors.New("turn: the first call of this hook ended without an answer")

// keptReplies bounds the memory of answers; a host repeats a call within
// moments or not at all.
const keptReplies = 1024

// sideBySide is how far apart the processes of one event begin, at most: a host
// starts all its hooks for it together.
const sideBySide = time.Second

// replies remembers what recent hook calls were answered. A host that loads
// Writ's hooks twice – from a plugin and from its settings, or another agent's
// settings beside its own – sends each call twice; the second gets the first
// one's verdict and is not counted again.
type replies struct {
	mu    sync.Mutex
	calls map[string]*list.Element
	order *list.List // of *reply, oldest first
}

type reply struct {
	called
	done chan struct{}
	answers
	err error
}

// called is what tells one call from another.
type called struct {
	key string // "" where the host gives nothing to tell by
	// unnamed says that the host gives such a call no id: the like of it may come
	// again, later.
	unnamed bool
	// began is when the hook's process did, in nanoseconds since 1970, 0 where
	// that is not known. One that asks again began when it did.
	began int64
}

// again says that a call is one that was made before, by a process or by
// another one beside it.
func (c called) again(first called) bool {
	if !c.unnamed {
		return true
	}
	apart := time.Duration(c.began - first.began)
	return c.began != 0 && first.began != 0 && max(apart, -apart) <= sideBySide
}

// answers to a call: whole is for the process that asked, repeated for another
// one that reports the same; it holds the verdict and tells nothing anew.
type answers struct {
	whole, repeated schemas.HookReply
	late            bool // nobody waited for it: the same may be said once more, and is another call
}

func (a answers) to(c, first called) schemas.HookReply {
	if c.began != first.began {
		return a.repeated
	}
	return a.whole
}

func newReplies() *replies {
	return &replies{calls: map[string]*list.Element{}, order: list.New()}
}

// once runs compute for a call, or waits for whoever does. A call without a key
// is always computed; a failure is forgotten, and what came late.
func (r *replies) once(c called, compute func() (answers, error)) (schemas.HookReply, error) {
	if c.key == "" {
		a, err := compute()
		return a.whole, err
	}
	r.mu.Lock()
	if e, known := r.calls[c.key]; known {
		first := e.Value.(*reply)
		if c.again(first.called) {
			r.mu.Unlock()
			<-first.done
			return first.to(c, first.called), first.err
		}
		r.order.Remove(e)
	}
	mine := &reply{called: c, done: make(chan struct{})}
	e := r.order.PushBack(mine)
	r.calls[c.key] = e
	if r.order.Len() > keptReplies {
		oldest := r.order.Front()
		delete(r.calls, oldest.Value.(*reply).key)
		r.order.Remove(oldest)
	}
	r.mu.Unlock()
	// Whoever waits must not take a computation that panicked for a pass.
	mine.err = errNoAnswer
	defer func() {
		if mine.err != nil || mine.late {
			r.forget(e)
		}
		close(mine.done)
	}()
	mine.answers, mine.err = compute()
	return mine.whole, mine.err
}

func (r *replies) forget(e *list.Element) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if key := e.Value.(*reply).key; r.calls[key] == e {
		delete(r.calls, key)
		r.order.Remove(e)
	}
}
