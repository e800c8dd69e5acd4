package bus_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"testing"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/bustest"
	"github.com/writbus/writ/schemas"
)

// maxPayload is the largest body the fake takes, that of an embedded server.
const maxPayload = 32 << 20

// memoryLog is a fake of the server's log. It keeps order, expectations, retries and
// readers like a server; it has no durability, no roles, and remembers event ids for ever.
type memoryLog struct {
	mu      sync.Mutex
	streams map[schemas.Stream]*memoryStream
	grown   chan struct{} // closed and replaced at every append
	refuse  func(schemas.Event) error
}

type memoryStream struct {
	records []schemas.Record // record n is at n-1
	ids     map[string]uint64
	bytes   uint64
}

// newMemoryLog returns an empty log. Like a server's, it has no streams before
// EnsureStreams.
func newMemoryLog() *memoryLog {
	return &memoryLog{streams: map[schemas.Stream]*memoryStream{}, grown: make(chan struct{})}
}

// Refuse makes appends fail: fn sees every event and its error, unless nil, is
// what Append returns; nothing is stored. nil takes all again.
func (m *memoryLog) Refuse(fn func(schemas.Event) error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refuse = fn
}

// EnsureStreams creates the streams. Retention is not imitated.
func (m *memoryLog) EnsureStreams(ctx context.Context, _ bus.Retention) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range schemas.Streams() {
		if m.streams[s] == nil {
			m.streams[s] = &memoryStream{ids: map[string]uint64{}}
		}
	}
	return context.Cause(ctx)
}

// Writer returns the way into the log.
func (m *memoryLog) Writer(o bus.WriterOptions) *bus.Writer { return bus.NewWriter(m.Append, o) }

// Append does what bus.Append says.
func (m *memoryLog) Append(ctx context.Context, main schemas.Event, also []schemas.Payload, e bus.Expect) (schemas.Position, error) {
	if err := ctx.Err(); err != nil {
		return schemas.Position{}, context.Cause(ctx)
	}
	message, err := schemas.Encode(main, also...)
	if err != nil {
		return schemas.Position{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.refuse != nil {
		if err := m.refuse(main); err != nil {
			return schemas.Position{}, err
		}
	}
	if len(message.Body) > maxPayload {
		return schemas.Position{}, fmt.Errorf("append %s to %s: %w", main.Type(), main.Aggregate, bus.ErrTooLarge)
	}
	name := main.Aggregate.Kind.Stream()
	stream := m.streams[name]
	if stream == nil {
		return schemas.Position{}, fmt.Errorf("append %s to %s: %w", main.Type(), main.Aggregate, bus.ErrUnavailable)
	}
	seq, err := stream.append(name, main, message, e)
	if err != nil {
		return schemas.Position{}, fmt.Errorf("append %s to %s: %w", main.Type(), main.Aggregate, err)
	}
	close(m.grown)
	m.grown = make(chan struct{})
	return schemas.Position{Stream: name, Seq: seq}, nil
}

func (s *memoryStream) append(name schemas.Stream, main schemas.Event, message schemas.Message, e bus.Expect) (uint64, error) {
	last, find := s.last(main.Aggregate), func(from uint64) (schemas.Record, bool) { return s.next(main.Aggregate, from) }
	if e.OfStream() {
		last, find = uint64(len(s.records)), s.at
	}
	if expected, checked := e.Sequence(); checked && last != expected {
		next, ok := find(expected + 1)
		if ok && next.ID() == main.ID {
			return next.Seq, nil
		}
		return 0, bus.ErrConflict
	}
	if seq, known := s.ids[main.ID]; known {
		return seq, nil
	}
	seq := uint64(len(s.records)) + 1
	s.records = append(s.records, schemas.Record{Stream: name, Seq: seq, Message: message})
	s.ids[main.ID] = seq
	s.bytes += uint64(len(message.Body))
	return seq, nil
}

func (s *memoryStream) last(a schemas.Aggregate) uint64 {
	for _, r := range slices.Backward(s.records) {
		if belongs(r, a) {
			return r.Seq
		}
	}
	return 0
}

func (s *memoryStream) next(a schemas.Aggregate, from uint64) (schemas.Record, bool) {
	for i := max(from, 1) - 1; i < uint64(len(s.records)); i++ {
		if belongs(s.records[i], a) {
			return s.records[i], true
		}
	}
	return schemas.Record{}, false
}

func (s *memoryStream) at(seq uint64) (schemas.Record, bool) {
	if seq < 1 || seq > uint64(len(s.records)) {
		return schemas.Record{}, false
	}
	return s.records[seq-1], true
}

func belongs(r schemas.Record, a schemas.Aggregate) bool {
	owner, _, err := schemas.ParseSubject(r.Message.Subject)
	return err == nil && owner == a
}

// copyOf gives a reader its own record, as a server does.
func copyOf(r schemas.Record) schemas.Record {
	header := schemas.Header{}
	for name, values := range r.Message.Header {
		header[name] = slices.Clone(values)
	}
	r.Message.Header, r.Message.Body = header, bytes.Clone(r.Message.Body)
	return r
}

// find runs fn on a stream under the lock.
func (m *memoryLog) find(ctx context.Context, s schemas.Stream, fn func(*memoryStream) (schemas.Record, bool)) (schemas.Record, error) {
	if ctx.Err() != nil {
		return schemas.Record{}, context.Cause(ctx)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	stream := m.streams[s]
	if stream == nil {
		return schemas.Record{}, fmt.Errorf("%s: %w", s, bus.ErrNotFound)
	}
	record, ok := fn(stream)
	if !ok {
		return schemas.Record{}, bus.ErrNotFound
	}
	return copyOf(record), nil
}

// Tail does what bus.Conn.Tail does.
func (m *memoryLog) Tail(ctx context.Context, a schemas.Aggregate, after uint64) iter.Seq2[schemas.Record, error] {
	return func(yield func(schemas.Record, error) bool) {
		if err := a.Check(); err != nil {
			yield(schemas.Record{}, err)
			return
		}
		for {
			record, err := m.find(ctx, a.Kind.Stream(), func(s *memoryStream) (schemas.Record, bool) { return s.next(a, after+1) })
			if err != nil {
				if ctx.Err() != nil {
					yield(schemas.Record{}, err)
				}
				return
			}
			if !yield(record, nil) {
				return
			}
			after = record.Seq
		}
	}
}

// LastOf does what bus.Conn.LastOf does.
func (m *memoryLog) LastOf(ctx context.Context, a schemas.Aggregate) (schemas.Record, error) {
	if err := a.Check(); err != nil {
		return schemas.Record{}, err
	}
	return m.find(ctx, a.Kind.Stream(), func(s *memoryStream) (schemas.Record, bool) {
		last := s.last(a)
		if last == 0 {
			return schemas.Record{}, false
		}
		return s.records[last-1], true
	})
}

// Get does what bus.Conn.Get does.
func (m *memoryLog) Get(ctx context.Context, s schemas.Stream, seq uint64) (schemas.Record, error) {
	return m.find(ctx, s, func(stream *memoryStream) (schemas.Record, bool) {
		if seq == 0 || seq > uint64(len(stream.records)) {
			return schemas.Record{}, false
		}
		return stream.records[seq-1], true
	})
}

// State does what bus.Conn.State does. Bytes counts bodies only.
func (m *memoryLog) State(ctx context.Context, s schemas.Stream) (bus.StreamState, error) {
	if ctx.Err() != nil {
		return bus.StreamState{}, context.Cause(ctx)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	stream := m.streams[s]
	if stream == nil {
		return bus.StreamState{}, fmt.Errorf("state of %s: %w", s, bus.ErrNotFound)
	}
	last := uint64(len(stream.records))
	return bus.StreamState{First: min(last, 1), Last: last, Messages: last, Bytes: stream.bytes}, nil
}

// Follow does what bus.Conn.Follow does.
func (m *memoryLog) Follow(ctx context.Context, s schemas.Stream, after uint64, o bus.FollowOptions, fn func([]schemas.Record) error) error {
	if o.MaxBatch <= 0 {
		o.MaxBatch = bus.DefaultBatch
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = bus.DefaultBatchBytes
	}
	state, err := m.State(ctx, s)
	if err != nil {
		return err
	}
	if after > state.Last {
		return fmt.Errorf("follow %s after %d: %w: it ends at %d", s, after, bus.ErrBeyondEnd, state.Last)
	}
	for {
		if ctx.Err() != nil {
			return fmt.Errorf("follow %s after %d: %w", s, after, context.Cause(ctx))
		}
		if o.UntilEnd && after >= state.Last {
			return nil
		}
		batch, grown := m.batch(s, after, o, state.Last)
		if len(batch) == 0 {
			select {
			case <-grown:
			case <-ctx.Done():
			}
			continue
		}
		after = batch[len(batch)-1].Seq
		if err := fn(batch); err != nil {
			return err
		}
	}
}

func (m *memoryLog) batch(s schemas.Stream, after uint64, o bus.FollowOptions, end uint64) (batch []schemas.Record, grown <-chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	records := m.streams[s].records
	if o.UntilEnd {
		records = records[:end]
	}
	size := 0
	for _, r := range records[after:] {
		if len(batch) == o.MaxBatch || size >= o.MaxBytes {
			break
		}
		batch = append(batch, copyOf(r))
		size += len(r.Message.Body)
	}
	return batch, m.grown
}

func TestMemory(t *testing.T) {
	keepsPromises(t, func(*testing.T) wholeLog { return newMemoryLog() })
}

func TestMemoryRefuses(t *testing.T) {
	log := newMemoryLog()
	if err := log.EnsureStreams(t.Context(), bus.Retention{}); err != nil {
		t.Fatal(err)
	}
	failure := errors.New("disk on fire")
	log.Refuse(func(e schemas.Event) error {
		if e.ID == "2" {
			return failure
		}
		return nil
	})
	for _, c := range []struct {
		id   string
		want error
	}{{"1", nil}, {"2", failure}} {
		if _, err := log.Append(t.Context(), bustest.Event("s", c.id, "p"), nil, bus.Any()); !errors.Is(err, c.want) {
			t.Errorf("append %s: got %v, want %v", c.id, err, c.want)
		}
	}
	log.Refuse(nil)
	p, err := log.Append(t.Context(), bustest.Event("s", "2", "p"), nil, bus.LastSeq(1))
	if err != nil || p.Seq != 2 {
		t.Fatalf("after the refusals: %+v, %v", p, err)
	}
}
