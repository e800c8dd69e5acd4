package bus

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/nats-io/nats.go"
)

// guards connect what the client library reports apart from any call – a
// permission violation, a lost connection – with the calls it concerns: they
// would otherwise wait until their time is up.
type guards struct {
	mu      sync.Mutex
	waiting map[*guard]struct{}
}

type guard struct {
	subject string // exact, or a prefix ending in ">"
	cancel  context.CancelCauseFunc
}

// watch returns a context that ends with ErrDenied when the server refuses a
// publish to the subject, and with ErrUnavailable when the connection is lost, or ErrClosed when it is closed. Call release when the call is over.
func (g *guards) watch(ctx context.Context, subject string) (guarded context.Context, release func()) {
	guarded, cancel := context.WithCancelCause(ctx)
	entry := &guard{subject, cancel}
	g.mu.Lock()
	if g.waiting == nil {
		g.waiting = map[*guard]struct{}{}
	}
	g.waiting[entry] = struct{}{}
	g.mu.Unlock()
	return guarded, func() {
		g.mu.Lock()
		delete(g.waiting, entry)
		g.mu.Unlock()
		cancel(nil)
	}
}

// violationSubject is how the server words a refused publish or subscription
// (nats-server, client.go).
var violationSubject = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:Publish|Subscription) to "([^"]+)"`)
})

// violated tells the calls that wait about a violation, and whether there were
// any.
func (g *guards) violated(err error) (told bool) {
	if !errors.Is(err, nats.ErrPermissionViolation) {
		return false
	}
	match := violationSubject().FindStringSubmatch(err.Error())
	if match == nil {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for entry := range g.waiting {
		if entry.covers(match[1]) {
			entry.cancel(fmt.Errorf("%w: %s", ErrDenied, match[1]))
			told = true
		}
	}
	return told
}

// lost tells the calls that wait that their answer cannot arrive any more.
func (g *guards) lost(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for entry := range g.waiting {
		entry.cancel(err)
	}
}

func (e *guard) covers(subject string) bool {
	if prefix, open := strings.CutSuffix(e.subject, ">"); open {
		return strings.HasPrefix(subject, prefix)
	}
	return e.subject == subject
}

// causeOf is the error of a guarded call: the refusal or the loss of the
// connection where that ended it, else the call's own.
func causeOf(guarded context.Context, err error) error {
	if err == nil {
		return nil
	}
	if cause := context.Cause(guarded); errors.Is(cause, ErrDenied) || errors.Is(cause, ErrUnavailable) || errors.Is(cause, ErrClosed) {
		return cause
	}
	return translate(err)
}

// roundTrip sends a request and waits for its answer.
func (c *Conn) roundTrip(ctx context.Context, m *nats.Msg) (*nats.Msg, error) {
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	guarded, release := c.guards.watch(ctx, m.Subject)
	defer release()
	answer, err := c.ask(guarded, m)
	if err != nil {
		return nil, causeOf(guarded, err)
	}
	return answer, nil
}

// writtenAtOnce is the size of a request, in bytes, below which it fits into what
// the system keeps of a connection whose other end reads nothing. The library
// writes larger ones where they are published.
const writtenAtOnce = 31 << 10

// ask heeds the context while a request is written, too: where that may take
// long, somebody else does it.
func (c *Conn) ask(ctx context.Context, m *nats.Msg) (*nats.Msg, error) {
	if len(m.Data) <= writtenAtOnce {
		return c.nc.RequestMsgWithContext(ctx, m)
	}
	type result struct {
		answer *nats.Msg
		err    error
	}
	done := make(chan result, 1)
	go func() {
		answer, err := c.nc.RequestMsgWithContext(ctx, m)
		done <- result{answer, err}
	}()
	select {
	case r := <-done:
		return r.answer, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
