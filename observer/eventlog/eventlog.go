// Package eventlog is the service of the log as people and programs see it: events
// that a client may put into it, stretches of it read again, and what happened
// counted by the hour.
//
// It guarantees that a client can emit nothing that opens a gate, changes a mode
// or says that a tool was allowed (the list emittable, TestEmitTakesProposalsAndRefusesFacts in the daemon),
// and that what cannot be decoded is shown raw, with the reason. It folds nothing
// but what the view of activity counted.
package eventlog

import (
	"context"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/observer/replay"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/schemas"
)

// Options are what the service needs.
type Options struct {
	Conn     *bus.Conn
	Log      *bus.Writer
	Views    *projections.Runtime
	Activity projections.Activity
	Now      func() time.Time
	// Find returns where an event of a stream is in the log, by its id, or
	// audit.ErrNoRecord.
	Find func(ctx context.Context, s schemas.Stream, id string) (uint64, error)
}

// Log is the service.
type Log struct {
	conn   *bus.Conn
	log    *bus.Writer
	views  *projections.Runtime
	counts projections.Activity
	now    func() time.Time
	find   func(context.Context, schemas.Stream, string) (uint64, error)
}

// New makes the service.
func New(o Options) *Log {
	return &Log{conn: o.Conn, log: o.Log, views: o.Views, counts: o.Activity, now: o.Now, find: o.Find}
}

// Endpoints are its services.
func (l *Log) Endpoints() []bus.Endpoint {
	return []bus.Endpoint{
		bus.Answer("activity", schemas.SvcActivity, l.activity),
		bus.Answer("emit", schemas.SvcEmit, l.emit),
		bus.Answer("replay", schemas.SvcReplay, l.replay),
	}
}

// Follow hands on a stream as it grows, as JSON shows it, until ctx ends.
func (l *Log) Follow(ctx context.Context, stream schemas.Stream, after uint64, fn func([]schemas.ReplayEvent) error) error {
	return l.conn.Follow(ctx, stream, after, bus.FollowOptions{MaxBatch: replayBatch}, func(records []schemas.Record) error {
		var events []schemas.ReplayEvent
		for _, r := range records {
			events = append(events, replay.Show(r)...)
		}
		return fn(events)
	})
}

// End is the sequence of a stream's last record.
func (l *Log) End(ctx context.Context, stream schemas.Stream) (uint64, error) {
	state, err := l.conn.State(ctx, stream)
	return state.Last, err
}
