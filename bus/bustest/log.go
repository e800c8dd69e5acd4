// Package bustest holds an in-memory log for tests of what is built on the
// bus, and the suite of promises that it and the real one both keep.
//
// The fake keeps order, expectations, retries and readers like a server. It
// has no durability, no roles, and remembers event ids for ever.
package bustest

import (
	"context"
	"iter"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/schemas"
)

// Log is the part of bus.Conn that the suite covers, with the append that is
// below Decide and Record.
type Log interface {
	EnsureStreams(ctx context.Context, r bus.Retention) error
	Append(ctx context.Context, main schemas.Event, also []schemas.Payload, e bus.Expect) (schemas.Position, error)
	Tail(ctx context.Context, a schemas.Aggregate, after uint64) iter.Seq2[schemas.Record, error]
	LastOf(ctx context.Context, a schemas.Aggregate) (schemas.Record, error)
	Get(ctx context.Context, s schemas.Stream, seq uint64) (schemas.Record, error)
	State(ctx context.Context, s schemas.Stream) (bus.StreamState, error)
	Follow(ctx context.Context, s schemas.Stream, after uint64, o bus.FollowOptions, fn func([]schemas.Record) error) error
}

var _ Log = (*Memory)(nil)
