package bus

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/writbus/writ/schemas"
)

// Next returns the first record of a stream after a sequence, or ErrNotFound.
// It finds a record behind a gap, where Follow refuses to go on.
func (c *Conn) Next(ctx context.Context, s schemas.Stream, after uint64) (schemas.Record, error) {
	record, err := firstOf(ctx, c, s, after+1)
	if err != nil {
		return schemas.Record{}, fmt.Errorf("record after %d of %s: %w", after, s, err)
	}
	return record, nil
}

// Deliver publishes a message that is no event, and returns once a stream has
// stored it. It returns ErrUnavailable where no stream takes the subject, or
// ErrDenied.
func (c *Conn) Deliver(ctx context.Context, subject string, body []byte) error {
	_, err := deliver(ctx, c, subject, body)
	return err
}

// DeliverAfter is [Conn.Deliver] where the last message on the subject is the one at a
// sequence of its stream, 0 for none. It returns the message's own sequence, or
// ErrConflict where another one is last; a stream's duplicate window plays no part, so
// that who repeats asks first what is there ([LastOn]).
func DeliverAfter(ctx context.Context, c *Conn, subject string, body []byte, last uint64) (uint64, error) {
	return deliver(ctx, c, subject, body, jetstream.WithExpectLastSequencePerSubject(last), jetstream.WithRetryAttempts(0))
}

func deliver(ctx context.Context, c *Conn, subject string, body []byte, o ...jetstream.PublishOpt) (uint64, error) {
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	guarded, release := c.guards.watch(ctx, subject)
	defer release()
	ack, err := c.js.PublishMsg(guarded, &nats.Msg{Subject: subject, Data: body}, o...)
	if err != nil {
		return 0, fmt.Errorf("deliver to %s: %w", subject, causeOf(guarded, err))
	}
	return ack.Sequence, nil
}

// LastOn returns what a request for the last message on a subject is answered, where
// the request itself is a subject that leads to a stream's direct reads. It returns
// ErrNotFound, or ErrUnavailable where nobody answers.
func LastOn(ctx context.Context, c *Conn, ask string) (schemas.Record, error) {
	last, _, err := LastAt(ctx, c, ask)
	return last, err
}

// LastAt is LastOn, and when the server stored the message, by the server's clock.
func LastAt(ctx context.Context, c *Conn, ask string) (last schemas.Record, at time.Time, err error) {
	return asked(ctx, c, &nats.Msg{Subject: ask})
}

// NextOn is LastOn of the first message behind a sequence whose subject a pattern takes.
func NextOn(ctx context.Context, c *Conn, ask string, after uint64, pattern string) (schemas.Record, error) {
	body, err := json.Marshal(map[string]any{"seq": after + 1, "next_by_subj": pattern})
	if err != nil {
		return schemas.Record{}, err
	}
	next, _, err := asked(ctx, c, &nats.Msg{Subject: ask, Data: body})
	return next, err
}

// asked sends a request and reads the record in its answer. The library's own requests
// take a message without a body for the server's word that nobody answers, where
// whoever brought it has it bear that header.
func asked(ctx context.Context, c *Conn, m *nats.Msg) (r schemas.Record, at time.Time, err error) {
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	guarded, release := c.guards.watch(ctx, m.Subject)
	defer release()
	m.Reply = c.nc.NewInbox()
	answers := make(chan *nats.Msg, 1)
	sub, err := c.nc.ChanSubscribe(m.Reply, answers)
	if err == nil {
		defer func() { _ = sub.Unsubscribe() }() // the connection is closed otherwise
		err = c.nc.PublishMsg(m)
	}
	if err == nil {
		select {
		case answer := <-answers:
			stored := added(answer, jetstream.TimeStampHeaer) // which a record is without
			if r, err = directRecord("", answer); err == nil {
				at, err = time.Parse(time.RFC3339Nano, stored)
			}
		case <-guarded.Done():
			err = guarded.Err()
		}
	}
	if err != nil {
		return r, at, fmt.Errorf("ask %s: %w", m.Subject, causeOf(guarded, err))
	}
	return r, at, nil
}
