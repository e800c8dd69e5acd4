package daemon

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"time"

	"github.com/writbus/writ/bus/embedded"
	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/enforcement/redact"
	"github.com/writbus/writ/observer/memory"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/retrieval/embed/choice"
	"github.com/writbus/writ/schemas"
)

const (
	// memoryRetry is how long the index waits after it could not follow.
	memoryRetry = 2 * time.Second
	// memoryPause is how long it rests after each time that it did, as long as
	// the log that is made durable at intervals: who observes much at once has
	// the machine, and who asks is answered as of everything anyway.
	memoryPause = embedded.DefaultSyncInterval
)

// memoryStore is what was observed: the view, the keys that open it, and the
// index that is searched.
type memoryStore struct {
	view   *projections.Observations
	index  *memoryIndex
	limits memory.Limits

	// Set by begin.
	keys *memoryKeys
	read func(func(projections.Reader) error) error

	naming sync.Mutex // while an id is looked for and its observation appended
	drift  sync.Mutex // while alarms are compared and changed

	judging       sync.Mutex // while a verdict changes, or what rests on verdicts is recorded
	reflecting    sync.Mutex
	ownReflection sync.Mutex // one that nobody asked for is under way
	reflectNext   time.Time  // the next of these, after one that failed
	beside        sync.WaitGroup
	shown         sessionsShown
}

func newMemoryStore(e choice.Embedder, drift config.Drift) *memoryStore {
	m := &memoryStore{index: newMemoryIndex(e), limits: memory.Limits(drift), shown: sessionsShown{of: map[string]map[projections.ObservationKey]bool{}}}
	m.view = projections.NewObservations(m.index.change)
	return m
}

// beginMemory opens the keys and lets the index follow the view until stop.
func (d *Daemon) beginMemory(ctx context.Context) (stop func(), err error) {
	m := d.views.memory
	if m.keys, err = openMemoryKeys(filepath.Join(d.layout.Root, "memory.keys")); err != nil {
		return nil, err
	}
	m.keys.later = d.settings.Durability == string(embedded.Interval)
	m.read = func(fn func(projections.Reader) error) error { return d.runtime.Read(m.view.Name(), fn) }
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		d.followMemory(ctx)
	}()
	return func() {
		cancel()
		<-done
		m.beside.Wait()
		if err := m.keys.close(); err != nil {
			d.logger.Error("close the keys of observations", "error", err)
		}
	}, nil
}

// followMemory brings the index up and looks for drift whenever the view
// changes.
func (d *Daemon) followMemory(ctx context.Context) {
	m := d.views.memory
	for {
		select {
		case <-ctx.Done():
			return
		case <-m.index.wake:
		}
		_, err := m.index.refresh(ctx, m)
		if err == nil {
			err = m.index.merge()
		}
		if err == nil {
			err = m.keys.flush()
		}
		if err == nil {
			err = d.watchDrift(ctx)
		}
		pause := memoryPause
		if err == nil {
			d.reflectByItself(ctx)
		} else if ctx.Err() == nil {
			d.logger.Warn("memory", "error", err)
			pause = memoryRetry
			select {
			case m.index.wake <- struct{}{}:
			default:
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// open reads what an observation says.
func (m *memoryStore) open(s projections.ObservationState) (schemas.ObservationRecorded, error) {
	if len(s.Recorded.Sealed) == 0 {
		return s.Recorded, nil
	}
	key, err := m.keys.get(s.ObservationKey)
	if err != nil {
		return s.Recorded, err
	}
	return memory.Open(s.Recorded, s.Scope, key)
}

// upToDate returns the index as it is after everything that was appended so
// far.
func (d *Daemon) upToDate(ctx context.Context) (*memorySearch, error) {
	m := d.views.memory
	if err := d.runtime.Await(ctx, schemas.StreamMemory, m.view.Name()); err != nil {
		return nil, err
	}
	return m.index.refresh(ctx, m)
}

func redactText(text string) string { return redact.Text(text) }

// unreadable says that nobody can open an observation any more.
func unreadable(err error) bool {
	return errors.Is(err, errNoKey) || errors.Is(err, errForgotten) || errors.Is(err, memory.ErrSealed)
}
