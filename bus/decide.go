package bus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/writbus/writ/schemas"
)

// DefaultTries is how often Decide decides before it gives up, where its
// options name no other number.
const DefaultTries = 8

// Writer is the way into the log: Decide and Record append through it. It is
// safe for concurrent use.
type Writer struct {
	append Append
	o      WriterOptions
}

// WriterOptions are what the events of one program have in common.
type WriterOptions struct {
	Source string           // of events that name none
	Now    func() time.Time // when events without a time happened; nil is time.Now
	// Redact takes secrets out of a payload before it is folded and stored. It
	// must answer the same for the same, and change nothing of its own answer.
	// nil stores payloads as they are.
	Redact func(schemas.Payload) schemas.Payload
}

// Append stores an event, with others of the same decision in the same
// message, and returns its position once it is as durable as the server's
// setting says. An append that was already stored, recognised by the event's
// id, returns the position it has.
//
// It returns ErrConflict, ErrUnavailable (unknown whether stored: repeat with
// the same event), ErrTooLarge, ErrDiskFull, ErrStorage, ErrDenied, or what
// schemas.Encode returns.
type Append func(ctx context.Context, main schemas.Event, also []schemas.Payload, e Expect) (schemas.Position, error)

// Writer returns the way into the log behind the connection.
func (c *Conn) Writer(o WriterOptions) *Writer { return NewWriter(c.append, o) }

// NewWriter returns the way into a log that is not behind a connection, such as
// the one of package bustest.
func NewWriter(to Append, o WriterOptions) *Writer {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Writer{append: to, o: o}
}

// Change says what a decision is about.
type Change struct {
	// Event is what the events of the decision share: the aggregate, the actor,
	// the correlation. An id, a time and a source that it lacks are filled in.
	Event schemas.Event
	// Tries is how often to decide, each time on what others appended meanwhile.
	// 0 is DefaultTries.
	Tries int
	// OfStream says that the decision looks at all aggregates of the stream: the
	// sequence that load returns is the stream's.
	OfStream bool
	// Await returns when the views that the caller reads next have the position;
	// nil waits for none. It is not called where nothing was appended.
	Await func(context.Context, schemas.Position) error
	// Appending is called before each append, and what it returns after it. nil
	// is called never.
	Appending func(context.Context) func(schemas.Position, error)
}

// Decide changes an aggregate. It loads the state with the sequence of the last
// event in it, decides, takes the secrets out of what was decided, appends it
// right after that event, and returns the state with the decision folded in and
// the decision's position: the state is what the log gives when it is read.
//
// If somebody else appended in between, it loads and decides anew: load then
// has to look at the log again, and decide must have no effect but its answer.
// After the last try it returns ErrConflict. Where decide refuses, or decides
// that nothing is to be recorded, the log stays as it is; the position is zero
// and the state is the one that was decided on. evolve may be nil for those who
// read the state from a view: it is then returned as it was loaded.
//
// Errors of load and decide are returned as they are, those of the append as
// Append says, and those of Await after the decision was stored.
func Decide[S any](
	ctx context.Context, w *Writer,
	load func(context.Context) (state S, seq uint64, err error),
	evolve func(S, schemas.Event) S,
	decide func(S) ([]schemas.Payload, error),
	o Change,
) (S, schemas.Position, error) {
	main := o.Event
	w.name(&main)
	tries := o.Tries
	if tries <= 0 {
		tries = DefaultTries
	}
	var err error
	for range tries {
		state, seq, fault := load(ctx)
		if fault != nil {
			return state, schemas.Position{}, fault
		}
		record, fault := decide(state)
		if fault != nil || len(record) == 0 {
			return state, schemas.Position{}, fault
		}
		expect := LastSeq(seq)
		if o.OfStream {
			expect = LastOfStream(seq)
		}
		e, also := w.entry(main, record)
		var ended func(schemas.Position, error)
		if o.Appending != nil {
			ended = o.Appending(ctx)
		}
		var position schemas.Position
		position, err = w.store(ctx, e, also, expect)
		if ended != nil {
			ended(position, err)
		}
		switch {
		case errors.Is(err, ErrConflict):
			continue
		case err != nil:
			return state, schemas.Position{}, err
		}
		if evolve != nil && position.Seq > seq { // else it was stored before, and the state that was loaded has it
			state = fold(state, evolve, e, also, position)
		}
		if o.Await != nil {
			err = o.Await(ctx, position)
		}
		return state, position, err
	}
	var none S
	return none, schemas.Position{}, fmt.Errorf("%d tries, and each time somebody else was first: %w", tries, err)
}

// Record appends facts that depend on nothing in the log, in one message: main
// is the first, the others share all with it but their data. An id, a time and
// a source that main lacks are filled in. It returns what Append returns but
// ErrConflict.
func Record(ctx context.Context, w *Writer, main schemas.Event, also ...schemas.Payload) (schemas.Position, error) {
	w.name(&main)
	e, also := w.entry(main, append([]schemas.Payload{main.Data}, also...))
	return w.store(ctx, e, also, Any())
}

// name fills in what an event lacks but its time.
func (w *Writer) name(e *schemas.Event) {
	if e.ID == "" {
		e.ID = NewID()
	}
	e.Source = cmp.Or(e.Source, w.o.Source)
}

// entry is what is stored of a decision: without secrets, at a time.
func (w *Writer) entry(main schemas.Event, record []schemas.Payload) (schemas.Event, []schemas.Payload) {
	if main.Time.IsZero() {
		main.Time = w.o.Now()
	}
	if w.o.Redact != nil {
		clean := make([]schemas.Payload, len(record))
		for i, p := range record {
			if p != nil {
				clean[i] = w.o.Redact(p)
			}
		}
		record = clean
	}
	main.Data = record[0]
	return main, record[1:]
}

// store appends, and where it is unknown whether the event was stored, once
// more: the same event is stored once.
func (w *Writer) store(ctx context.Context, main schemas.Event, also []schemas.Payload, e Expect) (schemas.Position, error) {
	position, err := w.append(ctx, main, also, e)
	if errors.Is(err, ErrUnavailable) && ctx.Err() == nil {
		if position, err = w.append(ctx, main, also, e); err != nil && !errors.Is(err, ErrUnavailable) && !errors.Is(err, ErrConflict) {
			err = fmt.Errorf("%w; whether it was stored before that is unknown: %w", err, ErrUnavailable)
		}
	}
	return position, err
}

// fold folds in the events of a message as they are read from the log.
func fold[S any](state S, evolve func(S, schemas.Event) S, main schemas.Event, also []schemas.Payload, at schemas.Position) S {
	id := main.ID
	main.Time, main.Position = main.Time.UTC(), at
	for part := 0; ; part++ {
		main.StoredVersion, main.Position.Part = main.Type().Version(), part
		if part > 0 {
			main.ID = id + "/" + strconv.Itoa(part)
		}
		state = evolve(state, main)
		if part == len(also) {
			return state
		}
		main.Data = also[part]
	}
}
