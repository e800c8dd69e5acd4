package agent

import (
	"context"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/schemas"
)

// entry is what the events of an aggregate of agents share.
func entry(a schemas.Aggregate, by schemas.Actor) schemas.Event {
	e := schemas.Event{Aggregate: a, Actor: by}
	if a.Kind == schemas.KindAgent && len(a.ID) <= 128 {
		e.CorrelationID = a.ID
	}
	return e
}

// record appends facts in one message.
func record(ctx context.Context, log *bus.Writer, e schemas.Event, payloads []schemas.Payload) error {
	e.Data = payloads[0]
	_, err := bus.Record(ctx, log, e, payloads[1:]...)
	return err
}

// Claim appends to an aggregate what only the first may append right after a
// sequence; 0 is that of a new aggregate. It returns bus.ErrConflict where
// somebody else was first.
func Claim(ctx context.Context, log *bus.Writer, seq uint64, a schemas.Aggregate, by schemas.Actor, payloads ...schemas.Payload) error {
	return claim(ctx, log, seq, entry(a, by), payloads...)
}

func claim(ctx context.Context, log *bus.Writer, seq uint64, e schemas.Event, payloads ...schemas.Payload) error {
	at := func(context.Context) (none struct{}, _ uint64, _ error) { return none, seq, nil }
	_, _, err := bus.Decide(ctx, log, at, nil,
		func(struct{}) ([]schemas.Payload, error) { return payloads, nil }, bus.Change{Event: e, Tries: 1})
	return err
}

// Views shows what the log amounts to. It is safe for concurrent use.
type Views interface {
	// Read runs fn on a view that has everything appended so far.
	Read(ctx context.Context, view string, fn func(projections.Reader) error) error
}
