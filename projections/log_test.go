package projections_test

import (
	"context"
	"fmt"
	"sync"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/schemas"
)

// memoryLog is a Log in memory. Records can be appended, lost and replaced
// while it is followed.
type memoryLog struct {
	mu      sync.Mutex
	streams map[schemas.Stream][]schemas.Record
	grown   chan struct{} // closed at every change

	quarantined []string // "stream/seq", one for each call of Quarantine
	// fail, if set, is asked before every operation.
	fail func(op string) error
	// gap, if set, is a stream of which the next record is missing.
	gap schemas.Stream
}

func newMemoryLog() *memoryLog {
	return &memoryLog{streams: map[schemas.Stream][]schemas.Record{}, grown: make(chan struct{})}
}

func (l *memoryLog) changed() {
	close(l.grown)
	l.grown = make(chan struct{})
}

// append stores a message and returns where.
func (l *memoryLog) append(s schemas.Stream, m schemas.Message) schemas.Position {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := schemas.Record{Stream: s, Seq: uint64(len(l.streams[s]) + 1), Message: m}
	l.streams[s] = append(l.streams[s], r)
	l.changed()
	return schemas.Position{Stream: s, Seq: r.Seq}
}

// publish encodes and appends events.
func (l *memoryLog) publish(e schemas.Event, also ...schemas.Payload) schemas.Position {
	m, err := schemas.Encode(e, also...)
	if err != nil {
		panic(err)
	}
	return l.append(e.Aggregate.Kind.Stream(), m)
}

// truncate loses everything after a sequence.
func (l *memoryLog) truncate(s schemas.Stream, last int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.streams[s] = l.streams[s][:last:last]
	l.changed()
}

func (l *memoryLog) len(s schemas.Stream) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.streams[s])
}

func (l *memoryLog) refuse(op string) error {
	l.mu.Lock()
	fail := l.fail
	l.mu.Unlock()
	if fail != nil {
		return fail(op)
	}
	return nil
}

func (l *memoryLog) Bounds(_ context.Context, s schemas.Stream) (first, last uint64, err error) {
	if err := l.refuse("bounds"); err != nil {
		return 0, 0, err
	}
	n := l.len(s)
	return uint64(min(n, 1)), uint64(n), nil
}

func (l *memoryLog) IDAt(_ context.Context, s schemas.Stream, seq uint64) (string, error) {
	if err := l.refuse("id"); err != nil {
		return "", err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if seq < 1 || seq > uint64(len(l.streams[s])) {
		return "", fmt.Errorf("%s/%d: %w", s, seq, projections.ErrNoEvent)
	}
	return l.streams[s][seq-1].ID(), nil
}

func (l *memoryLog) Follow(ctx context.Context, s schemas.Stream, after uint64, maxBatch int, untilEnd bool, fn func([]schemas.Record) error) error {
	for {
		if err := l.refuse("follow"); err != nil {
			return err
		}
		l.mu.Lock()
		grown, gap := l.grown, l.gap == s
		all := l.streams[s]
		l.mu.Unlock()
		if gap {
			return bus.ErrGap
		}
		for after < uint64(len(all)) {
			if err := ctx.Err(); err != nil {
				return err
			}
			end := min(uint64(len(all)), after+uint64(maxBatch))
			if err := fn(all[after:end]); err != nil {
				return err
			}
			after = end
		}
		if untilEnd {
			return nil
		}
		select {
		case <-grown:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (l *memoryLog) Quarantine(_ context.Context, r schemas.Record, reason string) error {
	if err := l.refuse("quarantine"); err != nil {
		return err
	}
	l.mu.Lock()
	l.quarantined = append(l.quarantined, fmt.Sprintf("%s/%d", r.Stream, r.Seq))
	n := len(l.quarantined)
	l.mu.Unlock()
	l.publish(schemas.Event{
		ID:        fmt.Sprintf("quarantine-%d", n),
		Time:      epoch,
		Aggregate: schemas.Aggregate{Kind: schemas.KindQuarantine, ID: string(r.Stream)},
		Data: schemas.MessageQuarantined{
			Stream: r.Stream, Seq: r.Seq, Subject: r.Message.Subject,
			Header: r.Message.Header, Body: r.Message.Body, Reason: reason,
		},
	})
	return nil
}
