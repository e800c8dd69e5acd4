package agents

import (
	"context"
	"errors"
	"time"

	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/schemas"
)

// ErrConflict is returned by a Log for an expectation that does not hold.
var ErrConflict = errors.New("agents: somebody else was first")

// Entry is what goes into the log together.
type Entry struct {
	Aggregate schemas.Aggregate
	Payloads  []schemas.Payload // at least one
	Actor     schemas.Actor
	// Expect is the sequence of the aggregate's last event, nil for any.
	Expect *uint64
	Time   time.Time // when it happened; the zero value is now
}

// Log stores events. It is safe for concurrent use.
type Log interface {
	// Append stores the events in one message, durable when it returns. It
	// returns ErrConflict where the expectation does not hold.
	Append(ctx context.Context, e Entry) error
}

// Views shows what the log amounts to. It is safe for concurrent use.
type Views interface {
	// Read runs fn on a view that has everything appended so far.
	Read(ctx context.Context, view string, fn func(projections.Reader) error) error
}
