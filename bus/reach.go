package bus

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go"

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
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	guarded, release := c.guards.watch(ctx, subject)
	defer release()
	if _, err := c.js.PublishMsg(guarded, &nats.Msg{Subject: subject, Data: body}); err != nil {
		return fmt.Errorf("deliver to %s: %w", subject, causeOf(guarded, err))
	}
	return nil
}
