package bus

import (
	"context"

	"github.com/writbus/writ/schemas"
)

// Kept is the state of one short aggregate that is always wanted, such as the
// settings that were accepted: it is read once and then read on from where it was.
// The log is the state, this only saves reading it again. Its caller lets one call
// in at a time.
type Kept[S any] struct {
	Conn      *Conn
	Log       *Writer
	Aggregate schemas.Aggregate
	Evolve    func(S, schemas.Event) S

	state S
	seq   uint64
}

// Refresh reads what the log has beyond what is known, and returns the state with
// the sequence of its last record. What does not decode is left to the quarantine
// of the views.
func (k *Kept[S]) Refresh(ctx context.Context) (S, uint64, error) {
	for record, err := range k.Conn.Tail(ctx, k.Aggregate, k.seq) {
		if err != nil {
			return k.state, k.seq, err
		}
		k.seq = record.Seq
		events, err := record.Events()
		if err != nil {
			continue
		}
		for _, e := range events {
			k.state = k.Evolve(k.state, e)
		}
	}
	return k.state, k.seq, nil
}

// Decide decides on the state, appends, and returns the state with that in it, as
// the log has it.
func (k *Kept[S]) Decide(ctx context.Context, actor schemas.Actor, decide func(S) ([]schemas.Payload, error)) (S, error) {
	_, _, err := Decide(ctx, k.Log, k.Refresh, nil, decide, Change{Event: schemas.Event{Aggregate: k.Aggregate, Actor: actor}})
	if err == nil {
		_, _, err = k.Refresh(ctx)
	}
	return k.state, err
}
