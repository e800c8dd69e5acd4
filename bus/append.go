package bus

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/writbus/writ/schemas"
)

// Expect is what an append expects of its aggregate. The zero value expects
// nothing.
type Expect struct {
	checked bool
	whole   bool // of the stream, not of the aggregate
	seq     uint64
}

// Any expects nothing: the event is appended whatever came before. A retry is
// recognised by its id for as long as the stream's duplicate window.
func Any() Expect { return Expect{} }

// LastSeq expects the aggregate's last record to be at a stream sequence; 0
// expects a new aggregate. A retry is recognised whenever it comes.
func LastSeq(seq uint64) Expect { return Expect{checked: true, seq: seq} }

// LastOfStream expects the stream's last record to be at a sequence; 0 expects
// an empty stream. It serialises a decision that looks at all aggregates of
// its kind, such as whether any rule says the same. A retry is recognised
// whenever it comes.
func LastOfStream(seq uint64) Expect { return Expect{checked: true, whole: true, seq: seq} }

// OfStream says that the expectation is of the whole stream.
func (e Expect) OfStream() bool { return e.whole }

// Sequence is the expected sequence, and whether there is one.
func (e Expect) Sequence() (seq uint64, checked bool) { return e.seq, e.checked }

func (e Expect) String() string {
	if !e.checked {
		return "anything"
	}
	if e.whole {
		return fmt.Sprintf("last sequence %d of the stream", e.seq)
	}
	return fmt.Sprintf("last sequence %d", e.seq)
}

// append is Append of the log behind the connection.
func (c *Conn) append(ctx context.Context, main schemas.Event, also []schemas.Payload, e Expect) (schemas.Position, error) {
	message, err := schemas.Encode(main, also...)
	if err != nil {
		return schemas.Position{}, err
	}
	position, err := c.publish(ctx, main.Aggregate, message, e)
	if errors.Is(err, ErrConflict) {
		position, err = c.resolve(ctx, main, e, err)
	}
	if err == nil {
		if err = Synced(ctx, c, position.Stream); err != nil {
			err = fmt.Errorf("%w: stored, and not synced: %w", ErrUnavailable, err)
		}
	}
	if err != nil {
		return schemas.Position{}, fmt.Errorf("append %s to %s: %w", main.Type(), main.Aggregate, err)
	}
	return position, nil
}

// largeBody is the size of an event, in bytes, from which on it is appended over a
// connection of its own within the process.
const largeBody = 1 << 20

func (c *Conn) publish(ctx context.Context, a schemas.Aggregate, message schemas.Message, e Expect) (schemas.Position, error) {
	if err := c.options.Ready(); err != nil {
		return schemas.Position{}, err
	}
	c.appends.RLock()
	defer c.appends.RUnlock()
	if a.Kind.Stream() == ArchivedStream && c.trimming.Load() {
		return schemas.Position{}, fmt.Errorf("%w: its old records left it for the archive, and it could not be put back to take new ones. That is tried again each second", ErrUnavailable)
	}
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	guarded, release := c.guards.watch(ctx, message.Subject)
	defer release()
	stream := a.Kind.Stream()
	options := []jetstream.PublishOpt{jetstream.WithExpectStream(string(stream))}
	switch {
	case e.whole:
		options = append(options, jetstream.WithExpectLastSequence(e.seq))
	case e.checked:
		last, err := c.options.Archive.expected(guarded, c, a, e)
		if err != nil {
			return schemas.Position{}, causeOf(guarded, err)
		}
		options = append(options, jetstream.WithExpectLastSequenceForSubject(last, a.Filter()))
	}
	js := c.js
	if len(message.Body) > largeBody && c.options.Dial != nil {
		// The library keeps room for the largest message that a connection ever sent.
		own, err := Connect(guarded, c.options)
		if err != nil {
			return schemas.Position{}, causeOf(guarded, err)
		}
		defer own.Close()
		js = own.js
	}
	before := c.unanswered.begin()
	ack, err := js.PublishMsg(guarded, &nats.Msg{
		Subject: message.Subject,
		Header:  nats.Header(message.Header),
		Data:    message.Body,
	}, options...)
	if stream == ArchivedStream {
		c.unanswered.end(before, err, js != c.js)
	}
	if err != nil {
		return schemas.Position{}, causeOf(guarded, err)
	}
	return schemas.Position{Stream: stream, Seq: ack.Sequence}, nil
}

// unanswered counts appends that nobody heard of: the server may still store them.
type unanswered struct {
	mu           sync.Mutex
	all, settled uint64
	alone        uint64 // on connections of their own, of which no answer tells
}

// begin is called before an append, for end. The server takes what a connection sends
// in turn: with an answer, nothing from before is on its way.
func (u *unanswered) begin() (before uint64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.all
}

func (u *unanswered) end(before uint64, err error, alone bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	var told *jetstream.APIError
	switch answered := err == nil || errors.As(err, &told); {
	case !answered && alone:
		u.alone++
	case !answered:
		u.all++
	case !alone:
		u.settled = max(u.settled, before)
	}
}

// left is how many there may be at most.
func (u *unanswered) left() uint64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.all - u.settled + u.alone
}

// Synced returns once what a stream holds is as durable as if each record had been
// appended on the connection.
func Synced(ctx context.Context, c *Conn, s schemas.Stream) error {
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	return c.options.Synced(ctx, s)
}

// Hold waits until no append of this connection is on its way and keeps further
// ones back until release is called, which is to be soon: they wait.
func (c *Conn) Hold() (release func()) {
	c.appends.Lock()
	return c.appends.Unlock
}

// resolve tells a retry from a conflict. The server compares sequences before
// ids, so the retry of a stored append looks stale. If it was stored, it was
// stored while its expectation held, hence right after the expected record.
func (c *Conn) resolve(ctx context.Context, main schemas.Event, e Expect, conflict error) (schemas.Position, error) {
	find := func() (schemas.Record, error) {
		if records, err := c.options.Archive.tail(ctx, c, main.Aggregate, e.seq); err != nil || len(records) > 0 {
			return append(records, schemas.Record{})[0], err
		}
		return c.next(ctx, main.Aggregate, e.seq+1)
	}
	if e.whole {
		find = func() (schemas.Record, error) { return c.Get(ctx, main.Aggregate.Kind.Stream(), e.seq+1) }
	}
	next, err := find()
	switch {
	case errors.Is(err, ErrNotFound):
		return schemas.Position{}, conflict
	case err != nil:
		return schemas.Position{}, err
	case next.ID() != main.ID:
		return schemas.Position{}, conflict
	}
	return schemas.Position{Stream: next.Stream, Seq: next.Seq}, nil
}
