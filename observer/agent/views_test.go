package agent

import (
	"bytes"
	"context"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/writbus/writ/bus"

	"github.com/writbus/writ/observer/agent/schedule"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/schemas"
)

// table is a view in memory.
type table map[string][]byte

func (v table) Get(key []byte) ([]byte, bool, error) {
	value, ok := v[string(key)]
	return value, ok, nil
}
func (v table) Set(key, value []byte) error { v[string(key)] = bytes.Clone(value); return nil }
func (v table) Delete(key []byte) error     { delete(v, string(key)); return nil }
func (v table) Scan(prefix []byte) iter.Seq2[projections.Entry, error] {
	return func(yield func(projections.Entry, error) bool) {
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if strings.HasPrefix(key, string(prefix)) && !yield(projections.Entry{Key: []byte(key), Value: v[key]}, nil) {
				return
			}
		}
	}
}
func (v table) Position(schemas.Stream) uint64 { return 0 }
func (v table) Version() int                   { return 1 }
func (v table) Close() error                   { return nil }

// books is a Log with the views of what agents keep.
type books struct {
	events
	mu    sync.Mutex
	now   func() time.Time
	views map[string]table
	// overtake, if not nil, is called once, after what the next read reads was taken.
	overtake func()
}

func newBooks(now func() time.Time) *books { return &books{now: now, views: map[string]table{}} }

var projectors = append(BookViews(), projections.NewAgentSchedules(schedule.Evolve, nil), projections.AgentRuns{})

func (b *books) writer() *bus.Writer { return bus.NewWriter(b.Append, bus.WriterOptions{Now: b.now}) }

func (b *books) Append(ctx context.Context, main schemas.Event, also []schemas.Payload, expect bus.Expect) (schemas.Position, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	at, err := b.events.Append(ctx, main, also, expect)
	if err != nil {
		return at, err
	}
	for part, p := range append([]schemas.Payload{main.Data}, also...) {
		event := main
		event.Data, event.Position = p, schemas.Position{Seq: at.Seq, Part: part}
		for _, projector := range projectors {
			if b.views[projector.Name()] == nil {
				b.views[projector.Name()] = table{}
			}
			if slices.Contains(projector.Types(), p.EventType()) {
				if err := projector.Apply(b.views[projector.Name()], event); err != nil {
					return at, err
				}
			}
		}
	}
	return at, nil
}

func (b *books) Read(_ context.Context, view string, fn func(projections.Reader) error) error {
	b.mu.Lock()
	snapshot := maps.Clone(b.views[view])
	b.mu.Unlock()
	if others := b.overtake; others != nil {
		b.overtake = nil
		others()
	}
	return fn(snapshot)
}

// byWords is a Finder that counts words in common.
type byWords struct{}

func (byWords) Find(_ context.Context, _ string, _ uint64, texts func() []Text, query string, limit int) ([]string, error) {
	var ids []string
	for _, t := range texts() {
		for word := range strings.FieldsSeq(query) {
			if strings.Contains(strings.ToLower(t.Text), strings.ToLower(word)) && len(ids) < limit {
				ids = append(ids, t.ID)
				break
			}
		}
	}
	return ids, nil
}
