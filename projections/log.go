package projections

import (
	"context"

	"github.com/writbus/writ/schemas"
)

// Log is what the runtime needs of the bus.
type Log interface {
	// Bounds returns the first and the last sequence of a stream. Both are 0
	// for a stream that never held a record; an emptied one has first = last+1.
	Bounds(ctx context.Context, s schemas.Stream) (first, last uint64, err error)
	// IDAt returns the id (schemas.Record.ID) of the record at a sequence, and
	// an error that wraps ErrNoEvent where none is.
	IDAt(ctx context.Context, s schemas.Stream, seq uint64) (string, error)
	// Follow hands every record after a sequence to fn, in order, at most
	// maxBatch at a time and without waiting to fill a batch. With untilEnd it
	// returns nil once everything that the stream held at the call was handed
	// over; otherwise it goes on until ctx ends. An error of fn ends it and is
	// returned. The slice may be reused after fn returned, the messages in it
	// may not.
	Follow(ctx context.Context, s schemas.Stream, after uint64, maxBatch int, untilEnd bool, fn func([]schemas.Record) error) error
	// Quarantine appends the record, verbatim, to the quarantine stream. The
	// runtime calls it once per record, unless two runtimes meet the same
	// record at the same moment or an acknowledgement is lost; an event id
	// derived from stream and sequence makes those cases once too.
	Quarantine(ctx context.Context, r schemas.Record, reason string) error
}
