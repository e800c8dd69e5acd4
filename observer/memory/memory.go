package memory

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/enforcement/redact"
	"github.com/writbus/writ/observer/model"
	"github.com/writbus/writ/observer/observation"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/retrieval/embed/choice"
	"github.com/writbus/writ/retrieval/rule"
	"github.com/writbus/writ/schemas"
)

const (
	// memoryRetry is how long the index waits after it could not follow.
	memoryRetry = 2 * time.Second
	// memoryPause is how long it rests after each time that it did, so that many
	// observations at once have the machine. Searches always see everything that was
	// appended, so the index may lag.
	memoryPause = 100 * time.Millisecond
)

// View is what was observed and proposed, as the core folds it.
type View = projections.Observations[observation.State, observation.Proposal]

// Store is what was observed: the view, the keys that open it, and the
// index that is searched.
type Store struct {
	view   *View
	index  *index
	limits observation.Limits

	// Set by begin.
	keys *keys
	read func(func(projections.Reader) error) error
	rest func() // called for each of many observations: hooks go first

	naming sync.Mutex // while an id is looked for and its observation appended
	drift  sync.Mutex // while alarms are compared and changed

	judging       sync.Mutex // while a verdict changes, or what rests on verdicts is recorded
	reflecting    sync.Mutex
	ownReflection sync.Mutex // one that nobody asked for is under way
	reflectNext   time.Time  // the next of these, after one that failed
	beside        sync.WaitGroup
	shown         sessionsShown
}

// NewStore makes the view and the index, with the limits of the alarms. An
// embedder of none searches by words alone.
func NewStore(e choice.Embedder, drift observation.Limits) *Store {
	m := &Store{index: newIndex(e), limits: drift, shown: sessionsShown{of: map[string]map[schemas.ObservationKey]bool{}}}
	m.view = projections.NewObservations(observation.Evolve, observation.EvolveProposal, m.index.change)
	return m
}

// View is the projection that the store reads.
func (m *Store) View() *View { return m.view }

// Options are what the service needs.
type Options struct {
	Log      *bus.Writer
	Conn     *bus.Conn // asked where the log ends
	Views    *projections.Runtime
	Rules    projections.Rules[rule.State]
	Verdicts *projections.Verdicts
	Meter    Meter
	Now      func() time.Time
	Logger   *slog.Logger

	Keys      string       // the file of the keys that observations are sealed with
	KeysLater bool         // the keys are made durable at intervals, as the log is
	Warn      func(string) // told what Open finds damaged of the keys, with the remedy

	// Relatives are the roots of the work trees and clones of a project, its own
	// among them: what was observed in one counts in all. nil names the project alone.
	Relatives func(project string) []string

	observation.Settings
	Model *model.Client
	// Propose hands a rule that reflection found to the gate for rules.
	Propose func(context.Context, schemas.RuleProposeRequest) (schemas.RuleProposeReply, error)
}

// Meter counts and traces.
type Meter interface {
	Span(ctx context.Context, name string, labels ...string) (context.Context, func(error))
	Stored(ctx context.Context, took time.Duration)
	Observed(ctx context.Context, verdict, fallback string)
	Recalled(ctx context.Context, took time.Duration)
}

// Service observes, judges, recalls and reflects.
type Service struct {
	Options
	kept        *Store
	transcripts transcripts
}

// Open opens the keys, and mends what can be mended of them.
func Open(store *Store, o Options) (*Service, error) {
	d := &Service{Options: o, kept: store}
	if d.Relatives == nil {
		d.Relatives = func(project string) []string { return []string{project} }
	}
	var err error
	if store.keys, err = openKeys(o.Keys); err != nil {
		return nil, err
	}
	for _, problem := range store.keys.told {
		o.Warn(problem)
	}
	store.keys.later = o.KeysLater
	store.read = func(fn func(projections.Reader) error) error { return o.Views.Read(store.view.Name(), fn) }
	store.rest = o.Views.Turns()
	return d, nil
}

// Begin lets the index follow the view, and transcripts be read, until what it
// returns are called: first stopReading, which waits for the transcripts at hand
// and asks no model any more, then stop.
func (d *Service) Begin(ctx context.Context) (stopReading, stop func()) {
	running, stopRunning := context.WithCancel(context.WithoutCancel(ctx))
	asking, stopAsking := context.WithCancel(running)
	d.transcripts.running, d.transcripts.asking = running, asking
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		d.follow(ctx)
	}()
	stopReading = func() {
		stopAsking()
		d.transcripts.wait.Wait()
		stopRunning()
	}
	return stopReading, func() {
		cancel()
		d.kept.index.stopped.Store(true)
		<-done
		d.kept.beside.Wait()
		if err := d.kept.keys.close(); err != nil {
			d.Logger.Error("close the keys of observations", "error", err)
		}
	}
}

// Endpoints are the services of the memory.
func (d *Service) Endpoints() []bus.Endpoint {
	return []bus.Endpoint{
		bus.Answer("observe", schemas.SvcObserve, d.Observe),
		bus.Answer("recall", schemas.SvcRecall, d.Recall),
		bus.Answer("memory_health", schemas.SvcMemoryHealth, d.health),
		bus.Answer("memory_review", schemas.SvcMemoryReview, d.review),
		bus.Answer("memory_regate", schemas.SvcMemoryRegate, d.regate),
		bus.Answer("memory_forget", schemas.SvcMemoryForget, d.forget),
		bus.Answer("memory_export", schemas.SvcMemoryExport, d.export),
		bus.Answer("memory_import", schemas.SvcMemoryImport, d.importAll),
		bus.Answer("memory_reflect", schemas.SvcMemoryReflect, d.reflection().reflectNow),
		bus.Answer("memory_proposals", schemas.SvcMemoryProposals, d.reflection().proposals),
		bus.Answer("memory_triage", schemas.SvcMemoryTriage, d.reflection().triage),
	}
}

// follow brings the index up and looks for drift whenever the view
// changes.
func (d *Service) follow(ctx context.Context) {
	m, told := d.kept, false
	for {
		select {
		case <-ctx.Done():
			return
		case <-m.index.wake:
		}
		now, err := m.index.refresh(ctx, m)
		if n := now.keyless; n > 0 && !told {
			told = true
			d.Warn(fmt.Sprintf("%s has no key of observations that the log holds (%d): they cannot be read, all others can. Copy memory.keys from a backup to %s and restart the daemon: it takes the missing keys from there", d.Keys, n, d.Keys+keysRestore))
		}
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
			d.reflection().reflectByItself(ctx)
		} else if ctx.Err() == nil {
			d.Logger.Warn("memory", "error", err)
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
func (m *Store) open(s observation.State) (schemas.ObservationRecorded, error) {
	if len(s.Recorded.Sealed) == 0 {
		return s.Recorded, nil
	}
	key, err := m.keys.get(s.ObservationKey)
	if err != nil {
		return s.Recorded, err
	}
	return observation.Open(s.Recorded, s.Scope, key)
}

// await waits until the view holds everything that was appended so far.
func (d *Service) await(ctx context.Context) error {
	return d.Views.AwaitBuilt(ctx, schemas.StreamMemory, d.kept.view.Name())
}

// upToDate returns the index as it is after everything that was appended so
// far.
func (d *Service) upToDate(ctx context.Context) (*snapshot, error) {
	if err := d.await(ctx); err != nil {
		return nil, err
	}
	return d.kept.index.refresh(ctx, d.kept)
}

func redactText(text string) string { return redact.Text(text) }

// unreadable says that nobody can open an observation any more.
func unreadable(err error) bool {
	return errors.Is(err, errNoKey) || errors.Is(err, errDamagedKey) || errors.Is(err, errForgotten) || errors.Is(err, observation.ErrSealed)
}
