package bus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"github.com/writbus/writ/schemas"
)

const (
	// DefaultBatch is how many records Follow hands over at most by default.
	DefaultBatch = 1000
	// DefaultBatchBytes bounds the bodies of a batch; one larger record makes
	// a batch of its own.
	DefaultBatchBytes = 8 << 20

	followWindow    = 4096             // records the server may send ahead
	followHeartbeat = 5 * time.Second  // silence after which the server is asked again
	followExpiry    = 30 * time.Second // of one request for more
	// The same of a server in this process. It cannot be lost alone, and every beat of
	// a reader wakes eight goroutines.
	withinHeartbeat = 30 * time.Second
	withinExpiry    = 90 * time.Second
	followInactive  = 2 * time.Minute        // after which the server forgets a lost reader
	followIdle      = 2 * time.Second        // silence after which UntilEnd looks whether the rest is there
	followLinger    = 20 * time.Millisecond  // wait for records announced to be on their way
	followBackoff   = 100 * time.Millisecond // first pause after a failure, doubled up to:
	followPause     = 2 * time.Second
)

// FollowOptions tune Follow. The zero value is usable.
type FollowOptions struct {
	MaxBatch int // records a batch may hold; 0 is DefaultBatch
	MaxBytes int // bytes of bodies a batch may hold; 0 is DefaultBatchBytes
	// UntilEnd stops, with nil, at the stream's end as it was at the start.
	UntilEnd bool
	// Unparsed may leave the records' headers in schemas.Message.Block, which
	// saves most of the work where few of them are looked at. A record keeps
	// some of its neighbours in memory then.
	Unparsed bool
	// InTurn reads the next batch when fn has returned. Nothing is read ahead, which
	// takes longer, and leaves other processors to others.
	InTurn bool
}

// Follow hands over every record of a stream after a sequence, in order and
// without a gap but for records that were given up ([Conn.Lost]): first what is there, in full batches, then what comes, as it
// comes. Batches and their records belong to fn. The next batch is handed over
// when fn has returned; meanwhile the server waits.
//
// It goes on through restarts of the server and lost connections, and ends
// with fn's error, the context's, or with ErrBeyondEnd, ErrGap, ErrNotFound or
// ErrDenied. If the server cannot be reached at the start it returns
// ErrUnavailable.
func (c *Conn) Follow(ctx context.Context, s schemas.Stream, after uint64, o FollowOptions, fn func([]schemas.Record) error) error {
	if o.MaxBatch <= 0 {
		o.MaxBatch = DefaultBatch
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = DefaultBatchBytes
	}
	f := &follower{conn: c, stream: s, options: o, fn: fn, cursor: after, end: math.MaxUint64}
	err := f.run(ctx)
	if err == nil || f.failed != nil {
		return err
	}
	return fmt.Errorf("follow %s after %d: %w", s, f.cursor, err)
}

// follower is the state of one Follow across connections.
type follower struct {
	conn    *Conn
	stream  schemas.Stream
	options FollowOptions
	fn      func([]schemas.Record) error
	failed  error // fn's

	cursor uint64 // last record handed over
	end    uint64 // sequence to stop at, with UntilEnd
}

var errDone = errors.New("bus: the end was reached")

func (f *follower) run(ctx context.Context) error {
	state, err := f.check(ctx)
	if err != nil {
		return cmp.Or(context.Cause(ctx), err)
	}
	if f.options.UntilEnd {
		f.end = state.Last
	}
	pause := followBackoff
	for {
		before, lost := f.cursor, f.conn.nextReconnect()
		err := f.session(ctx, lost)
		if err != nil && f.cursor == before && f.conn.nc.IsConnected() && f.step(ctx) {
			continue
		}
		switch {
		case f.failed != nil:
			return f.failed
		case errors.Is(err, errDone):
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case !errors.Is(err, ErrUnavailable) && !errors.Is(err, errInterrupted) && !f.disturbed(lost):
			return err
		}
		if f.cursor > before {
			pause = followBackoff
		}
		if err := f.rest(ctx, lost, pause); err != nil {
			return err
		}
		pause = min(2*pause, followPause)
	}
}

// step hands over the one record behind the cursor, as its stream's leader has it. The
// library takes a message without a body for the server's word where it bears such a
// header: what anybody brings would end each session anew.
func (f *follower) step(ctx context.Context) bool {
	if f.failed != nil || f.cursor >= f.end || ctx.Err() != nil {
		return false
	}
	record, err := f.conn.lookupAtLeader(ctx, f.stream, query{Seq: f.cursor + 1})
	if err != nil {
		return false
	}
	if f.failed = f.fn([]schemas.Record{record}); f.failed == nil {
		f.cursor = record.Seq
	}
	return f.failed == nil
}

// disturbed says that the log was not whole during a session, so that what the
// session found missing may be there.
func (f *follower) disturbed(lost <-chan struct{}) bool {
	select {
	case <-lost:
		return true
	default:
		return f.conn.options.Ready() != nil
	}
}

// rest waits before the next session: not at all after a reconnect.
func (f *follower) rest(ctx context.Context, reconnected <-chan struct{}, pause time.Duration) error {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-reconnected:
	case <-timer.C:
	}
	return nil
}

// check compares the cursor with the stream, which may have lost its tail
// while the server was away.
func (f *follower) check(ctx context.Context) (StreamState, error) {
	state, err := Stored(ctx, f.conn, f.stream)
	if err != nil {
		return StreamState{}, err
	}
	if f.cursor > state.Last {
		return StreamState{}, fmt.Errorf("%w: it ends at %d", ErrBeyondEnd, state.Last)
	}
	return state, nil
}

// session reads until something fails: the context, the connection, the server
// or fn.
func (f *follower) session(ctx context.Context, reconnected <-chan struct{}) error {
	state, err := f.check(ctx)
	if err != nil {
		return err
	}
	if err := f.fromArchive(ctx, state.First); err != nil {
		return err
	}
	if f.options.UntilEnd && (f.cursor >= f.end || state.First > f.end) {
		return errDone
	}
	if state, err = f.bulk(ctx, state); err != nil {
		return err
	}
	if f.options.UntilEnd && f.cursor >= f.end {
		return errDone
	}
	consumer, err := f.consumer(ctx)
	if err != nil {
		return err
	}
	heartbeat, expiry := followHeartbeat, followExpiry
	if f.conn.options.Dial != nil {
		heartbeat, expiry = withinHeartbeat, withinExpiry
	}
	in := newIntake()
	reading, err := consumer.Consume(in.put,
		jetstream.PullMaxMessagesWithBytesLimit(followWindow, f.window()),
		jetstream.PullHeartbeat(heartbeat),
		jetstream.PullExpiry(expiry),
		jetstream.ConsumeErrHandler(func(_ jetstream.ConsumeContext, err error) { in.fail(err) }))
	if err != nil {
		return translate(err)
	}
	defer f.release(ctx, consumer.CachedInfo().Name)
	defer reading.Stop()
	defer in.close()
	return f.pump(ctx, in, reconnected)
}

// window is how many bytes the server may send ahead: any one message must fit.
func (f *follower) window() int { return int(f.conn.nc.MaxPayload()) + 64<<10 }

func (f *follower) consumer(ctx context.Context) (jetstream.Consumer, error) {
	ctx, cancel := f.conn.bounded(ctx)
	defer cancel()
	guarded, release := f.conn.guards.watch(ctx, "$JS.API.CONSUMER.CREATE.>")
	defer release()
	consumer, err := f.conn.js.CreateConsumer(guarded, string(f.stream), jetstream.ConsumerConfig{
		Name:              "follow-" + nuid.Next(),
		DeliverPolicy:     jetstream.DeliverByStartSequencePolicy,
		OptStartSeq:       f.cursor + 1,
		AckPolicy:         jetstream.AckNonePolicy,
		InactiveThreshold: followInactive,
		MemoryStorage:     true,
		Replicas:          1,
	})
	return consumer, causeOf(guarded, err)
}

// release removes the server's side of a reader. It may fail: the server
// forgets the reader by itself.
func (f *follower) release(ctx context.Context, name string) {
	if !f.conn.nc.IsConnected() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), f.conn.timeout)
	defer cancel()
	_ = f.conn.js.DeleteConsumer(ctx, string(f.stream), name)
}

// pump hands over what arrives.
func (f *follower) pump(ctx context.Context, in *intake, reconnected <-chan struct{}) error {
	for expect := uint64(1); ; {
		batch, pending, err := f.gather(ctx, in, reconnected, &expect)
		if len(batch) > 0 {
			last := batch[len(batch)-1].Seq
			if err := f.fn(batch); err != nil {
				f.failed = err
				return err
			}
			f.cursor = last
		}
		switch {
		case f.cursor >= f.end:
			return errDone
		case err != nil:
			return err
		case f.options.UntilEnd && len(batch) > 0 && pending == 0:
			// The server has no more, short of the end it had told.
			if err := f.explain(ctx, f.cursor, f.end+1); err != nil {
				return err
			}
			return errDone
		}
	}
}

// gather collects one batch. It waits for the first record without limit, and
// for others only while the server has announced them. A batch that was begun
// is returned together with the error that ended it.
func (f *follower) gather(ctx context.Context, in *intake, reconnected <-chan struct{}, expect *uint64) (batch []schemas.Record, pending uint64, err error) {
	var idle <-chan time.Time
	if f.options.UntilEnd {
		timer := time.NewTimer(followIdle)
		defer timer.Stop()
		idle = timer.C
	}
	var (
		linger  <-chan time.Time
		bytes   int
		cursor  = f.cursor
		message jetstream.Msg
	)
	for len(batch) < f.options.MaxBatch && bytes < f.options.MaxBytes && cursor < f.end {
		if len(batch) > 0 && pending == 0 {
			select {
			case message = <-in.messages:
			default:
				return batch, pending, nil
			}
		} else {
			select {
			case message = <-in.messages:
			case <-linger:
				return batch, pending, nil
			case <-idle:
				return batch, pending, f.stalled(ctx, cursor)
			case err := <-in.failures:
				return batch, pending, err
			case <-reconnected:
				return batch, pending, errInterrupted
			case <-ctx.Done():
				return batch, pending, context.Cause(ctx)
			}
		}
		record, left, err := f.accept(ctx, message, cursor, expect)
		if err != nil {
			return batch, pending, err
		}
		batch, pending, cursor = append(batch, record), left, record.Seq
		bytes += len(record.Message.Body)
		if linger == nil {
			timer := time.NewTimer(followLinger)
			defer timer.Stop()
			linger = timer.C
		}
	}
	return batch, pending, nil
}

// errInterrupted ends a session that lost messages on their way; the next one
// reads them again.
var errInterrupted = errors.New("bus: interrupted")

// accept turns a delivered message into a record, if it is the next one.
func (f *follower) accept(ctx context.Context, m jetstream.Msg, cursor uint64, expect *uint64) (schemas.Record, uint64, error) {
	meta, err := m.Metadata()
	if err != nil {
		return schemas.Record{}, 0, fmt.Errorf("message without a place in the log: %w", err)
	}
	if err := f.verify(ctx, place{meta.Sequence.Stream, meta.Sequence.Consumer}, cursor, expect); err != nil {
		return schemas.Record{}, 0, err
	}
	record := newRecord(f.stream, meta.Sequence.Stream, m.Subject(), m.Headers(), m.Data())
	return record, meta.NumPending, nil
}

// verify says whether a place is the next one. It compares both counts: the
// consumer's shows what was lost on the way, the stream's what is missing from
// the log.
func (f *follower) verify(ctx context.Context, at place, cursor uint64, expect *uint64) error {
	if at.consumer != *expect {
		return errInterrupted
	}
	*expect++
	switch {
	case at.stream <= cursor:
		return fmt.Errorf("%w: record %d came after %d", ErrBeyondEnd, at.stream, cursor)
	case at.stream > cursor+1:
		return f.explain(ctx, cursor, at.stream)
	}
	return nil
}

// stalled says why nothing comes short of the end: the rest cannot be read, or
// something was lost on the way.
func (f *follower) stalled(ctx context.Context, cursor uint64) error {
	if _, err := f.conn.NextOf(ctx, f.stream, cursor+1); err == nil || ctx.Err() != nil || !f.conn.nc.IsConnected() {
		return errInterrupted
	}
	if err := f.explain(ctx, cursor, f.end+1); err != nil {
		return err
	}
	return errDone
}

// fromArchive hands over the archived records between the cursor and the first that
// the stream has.
func (f *follower) fromArchive(ctx context.Context, first uint64) error {
	for f.cursor+1 < first && f.cursor < f.end {
		if err := f.unsaid(ctx, first); err != nil || f.stream != ArchivedStream {
			return err
		}
		part, found, err := f.conn.options.Archive.holding(ctx, f.conn, f.cursor+1)
		if err != nil || !found || part.First >= first {
			return err
		}
		records, err := f.conn.options.Archive.Read(ctx, f.conn, part)
		if err != nil {
			return err
		}
		last := min(first-1, f.end, part.Last)
		var batch []schemas.Record
		bytes := 0
		hand := func() error {
			if len(batch) == 0 {
				return nil
			}
			cursor := batch[len(batch)-1].Seq
			if f.failed = f.fn(batch); f.failed != nil {
				return f.failed
			}
			f.cursor, batch, bytes = cursor, nil, 0
			return context.Cause(ctx)
		}
		for _, r := range records {
			if r.Seq <= f.cursor || r.Seq > last {
				continue
			}
			if !f.options.Unparsed {
				r.Message = r.Message.Unfolded()
			}
			batch, bytes = append(batch, r), bytes+len(r.Message.Body)
			if len(batch) == f.options.MaxBatch || bytes >= f.options.MaxBytes {
				if err := hand(); err != nil {
					return err
				}
			}
		}
		if err := hand(); err != nil {
			return err
		}
		f.cursor = last // what is not in the segment was given up
	}
	return nil
}

// unsaid returns ErrGap at records before a stream's first that neither left for the
// archive nor were given up. Of a NATS elsewhere its owner says what streams keep.
func (f *follower) unsaid(ctx context.Context, first uint64) (err error) {
	var parts []schemas.RecordsArchived
	if f.conn.options.Daemon != "" || !slices.Contains(schemas.Streams(), f.stream) {
		return nil
	}
	if f.stream == ArchivedStream {
		parts, err = Archived(ctx, f.conn)
	}
	lost, lostErr := f.conn.Lost(ctx, f.stream)
	for _, hole := range Unsaid(f.stream, parts, lost, first) {
		if hole.First <= f.cursor+1 && f.cursor < hole.Last {
			err = cmp.Or(err, lostErr, fmt.Errorf("%w: %d to %d of %s", ErrGap, f.cursor+1, hole.Last, f.stream))
		}
	}
	return cmp.Or(err, lostErr)
}

// explain allows a jump over records that retention dropped, or that were damaged
// and given up. The streams have no other way to lose one but to the archive, where
// the next session reads them.
func (f *follower) explain(ctx context.Context, cursor, seq uint64) error {
	state, err := Stored(ctx, f.conn, f.stream)
	if err != nil {
		return err
	}
	if f.stream == ArchivedStream && cursor+1 < state.First {
		if part, found, err := f.conn.options.Archive.holding(ctx, f.conn, cursor+1); err != nil || found && part.First < state.First {
			return cmp.Or(err, errInterrupted)
		}
	}
	if state.First >= seq {
		return nil
	}
	from := max(cursor+1, state.First)
	lost, err := f.conn.Lost(ctx, f.stream)
	if err == nil && GivenUp(lost, from, seq-1) {
		return nil
	}
	if f.conn.options.OnGap != nil {
		f.conn.options.OnGap(f.stream)
	}
	return fmt.Errorf("%w: %d to %d of %s", ErrGap, from, seq-1, f.stream)
}

// intake passes messages from the subscription to the follower. It holds few:
// when the follower is slow, the subscription waits, and so does the server.
type intake struct {
	messages chan jetstream.Msg
	failures chan error
	done     chan struct{}
}

func newIntake() *intake {
	return &intake{
		messages: make(chan jetstream.Msg, 256),
		failures: make(chan error, 1),
		done:     make(chan struct{}),
	}
}

func (in *intake) put(m jetstream.Msg) {
	select {
	case in.messages <- m:
	case <-in.done:
	}
}

func (in *intake) fail(err error) {
	select {
	case in.failures <- fmt.Errorf("%w: %w", errInterrupted, err):
	default:
	}
}

func (in *intake) close() { close(in.done) }
