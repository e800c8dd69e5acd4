package schemas

import (
	"fmt"
	"time"
)

// Payload is the body of an event. Every payload is a struct of this package,
// passed by value, and names its own type.
type Payload interface {
	// EventType is constant for a Go type.
	EventType() Type
}

// Checker is implemented by payloads with required fields. Check returns an
// error that wraps ErrInvalid and names the field.
type Checker interface {
	Check() error
}

// Event is one fact of the log.
type Event struct {
	ID        string    // UUIDv7; also Nats-Msg-Id, so a retried publish is stored once
	Time      time.Time // when it happened, UTC, nanoseconds
	Source    string    // URI reference of who recorded it, such as "/writ/daemon"
	Aggregate Aggregate
	Actor     Actor // who did it
	// CausationID is the id of the event that directly led to this one, or "".
	CausationID string
	// CorrelationID ties together what belongs to one conversation turn, or "".
	CorrelationID string
	Data          Payload

	// Position is where the event stands in the log. Zero before it is
	// appended; Encode ignores it.
	Position Position
	// StoredVersion is the schema version the body had in the log. Encode
	// ignores it: it always writes the current version.
	StoredVersion int
}

// Position is a place in the log.
type Position struct {
	Stream Stream `json:"stream"`
	Seq    uint64 `json:"seq"`            // stream sequence, from 1
	Part   int    `json:"part,omitempty"` // place within a message of several events, from 0
}

// Type is the event's type, "" without data.
func (e Event) Type() Type {
	if e.Data == nil {
		return ""
	}
	return e.Data.EventType()
}

// Check returns ErrInvalid (or ErrUnknownType, ErrIDTooLong) for an event that
// must not be appended.
func (e Event) Check() error {
	def, known := definitions()[e.Type()]
	switch {
	case e.Data == nil:
		return fmt.Errorf("%w: no data", ErrInvalid)
	case !known:
		return fmt.Errorf("%w: %q", ErrUnknownType, e.Type())
	case !plainID(e.ID):
		return fmt.Errorf("%w: %s: event id %.60q must be 1 to 128 visible ASCII characters", ErrInvalid, e.Type(), e.ID)
	case e.Time.IsZero():
		return fmt.Errorf("%w: %s without a time", ErrInvalid, e.Type())
	case e.Aggregate.Kind != def.kind:
		return fmt.Errorf("%w: %s belongs to a %s, not to a %s", ErrInvalid, e.Type(), def.kind, e.Aggregate.Kind)
	}
	if err := e.Aggregate.Check(); err != nil {
		return err
	}
	if c, ok := e.Data.(Checker); ok {
		if err := c.Check(); err != nil {
			return fmt.Errorf("%s: %w", e.Type(), err)
		}
	}
	return nil
}

// plainID says whether an id can stand in a header as it is.
func plainID(id string) bool {
	for i := range len(id) {
		if !plainAttributeByte(id[i]) {
			return false
		}
	}
	return id != "" && len(id) <= 128
}

// require returns ErrInvalid naming the first empty field of name/value pairs.
func require(pairs ...string) error {
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			return fmt.Errorf("%w: %s is required", ErrInvalid, pairs[i])
		}
	}
	return nil
}
