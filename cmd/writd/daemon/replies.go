package daemon

import (
	"container/list"
	"errors"
	"sync"

	"github.com/writbus/writ/schemas"
)

var errNoAnswer = errors.New("daemon: the first call of this hook ended without an answer")

// keptReplies bounds the memory of answers; a host repeats a call within
// moments or not at all.
const keptReplies = 1024

// replies remembers what recent hook calls were answered. A host that loads
// Writ's hooks twice – from a plugin and from its settings, or another agent's
// settings beside its own – sends each call twice; the second gets the first
// one's answer and is not counted again.
type replies struct {
	mu    sync.Mutex
	calls map[string]*list.Element
	order *list.List // of *reply, oldest first
}

type reply struct {
	key  string
	done chan struct{}
	hook schemas.HookReply
	err  error
}

func newReplies() *replies {
	return &replies{calls: map[string]*list.Element{}, order: list.New()}
}

// once runs compute for a key, or waits for whoever does, and returns the same
// answer to both. An empty key is always computed; a failure is forgotten.
func (r *replies) once(key string, compute func() (schemas.HookReply, error)) (schemas.HookReply, error) {
	if key == "" {
		return compute()
	}
	r.mu.Lock()
	if e, known := r.calls[key]; known {
		r.mu.Unlock()
		first := e.Value.(*reply)
		<-first.done
		return first.hook, first.err
	}
	mine := &reply{key: key, done: make(chan struct{})}
	e := r.order.PushBack(mine)
	r.calls[key] = e
	if r.order.Len() > keptReplies {
		oldest := r.order.Front()
		delete(r.calls, oldest.Value.(*reply).key)
		r.order.Remove(oldest)
	}
	r.mu.Unlock()
	// Whoever waits must not take a computation that panicked for a pass.
	mine.err = errNoAnswer
	defer func() {
		if mine.err != nil {
			r.forget(e)
		}
		close(mine.done)
	}()
	mine.hook, mine.err = compute()
	return mine.hook, mine.err
}

func (r *replies) forget(e *list.Element) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if key := e.Value.(*reply).key; r.calls[key] == e {
		delete(r.calls, key)
		r.order.Remove(e)
	}
}
