package projections

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/schemas"
)

// OnBus is a log that is read through a connection; what nobody understands is
// recorded through a writer.
func OnBus(conn *bus.Conn, log *bus.Writer) Log {
	return busLog{conn, log, &tails{conn: conn, of: map[schemas.Stream]*tail{}}}
}

// busLog is the log as the bus has it.
type busLog struct {
	conn  *bus.Conn
	log   *bus.Writer
	tails *tails
}

// Bounds returns the first and last sequence a stream holds.
func (l busLog) Bounds(ctx context.Context, s schemas.Stream) (first, last uint64, err error) {
	state, err := l.conn.State(ctx, s)
	return state.First, state.Last, err
}

// IDAt returns the id of the event at a sequence, or ErrNoEvent.
func (l busLog) IDAt(ctx context.Context, s schemas.Stream, seq uint64) (string, error) {
	r, err := l.conn.Get(ctx, s, seq)
	if errors.Is(err, bus.ErrNotFound) {
		return "", fmt.Errorf("%w: %s %d", ErrNoEvent, s, seq)
	}
	if err != nil {
		return "", err
	}
	return r.ID(), nil
}

// Follow hands a stream's records to fn in batches, in order, without a gap.
func (l busLog) Follow(ctx context.Context, s schemas.Stream, after uint64, maxBatch int, untilEnd bool, fn func([]schemas.Record) error) error {
	o := bus.FollowOptions{MaxBatch: maxBatch, UntilEnd: untilEnd, Unparsed: true, InTurn: untilEnd}
	if untilEnd {
		return l.conn.Follow(ctx, s, after, o, fn)
	}
	return l.tails.follow(ctx, s, after, o, fn)
}

// Quarantine keeps a record that nobody understands. The event's id comes from
// the record's place, so that it is kept once.
func (l busLog) Quarantine(ctx context.Context, r schemas.Record, reason string) error {
	_, err := bus.Record(ctx, l.log, schemas.Event{
		ID:        "quarantine-" + string(r.Stream) + "-" + strconv.FormatUint(r.Seq, 10),
		Aggregate: schemas.Aggregate{Kind: schemas.KindQuarantine, ID: string(r.Stream)},
		Actor:     schemas.Writ("quarantine"),
		Data: schemas.MessageQuarantined{
			Stream: r.Stream, Seq: r.Seq, Subject: r.Message.Subject,
			Header: r.Message.Header, Body: r.Message.Body, Reason: reason,
		},
	})
	return err
}
