package projections

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"runtime"
	"sync"
	"time"

	"github.com/writbus/writ/schemas"
)

const (
	// defaultBatch is the number of records of one commit while catching up: large
	// enough that the commit costs nothing per record, and no larger, since the store
	// takes a commit on without a pause, while hooks wait.
	defaultBatch = 2500
	defaultRetry = 250 * time.Millisecond
	// defaultLinger is short beside what people notice, and long beside a
	// burst of decisions.
	defaultLinger = 100 * time.Millisecond
	// liveRecords is how many records of a view in use are committed together.
	// Of a build, which nobody waits for, it is a whole batch; a view in use
	// holds both the batch and what it keeps in memory.
	liveRecords = 256
	// lingerShare is for how many times as long as announcing a batch took
	// records gather for the next, and lingerMost the most of that.
	lingerShare = 4
	lingerMost  = time.Second
	// lingerRecords is how many records are worth a commit of their own.
	lingerRecords = 256
)

// Options tune a Runtime. The zero value is good.
type Options struct {
	// MaxBatch bounds the records of one commit; 0 means 2,500.
	MaxBatch int
	// Linger is how long a live view waits for more records before it takes a
	// few: a commit costs the same for one as for many. It does not wait while
	// anybody is in WaitFor. 0 means 25 ms, less than 0 not at all.
	Linger time.Duration
	// Retry is the pause after the log or the store failed; 0 means 250 ms.
	Retry time.Duration
	// Logger hears of rebuilds, stops and retries; nil is silence.
	Logger *slog.Logger
}

// Runtime feeds projectors from the log. Its methods are safe for concurrent
// use.
type Runtime struct {
	log     Log
	store   Store
	order   []*runner
	runners map[string]*runner
	ends    ends
	first   first
}

// builders bounds how many views with much to read are built at the same time.
// Each keeps one processor at work, its own or the server's, and holds a batch. One is
// left to others: a request would wait for some milliseconds in each goroutine that
// hands it on.
func builders() int { return max(runtime.GOMAXPROCS(0)-1, 1) }

// smallBuild is how many records a view may have to read for it to be built beside
// all others: rules are wanted before a long log of sessions was read.
const smallBuild = 20_000

// NewRuntime prepares the projectors and reads nothing but the store's
// manifests, so that views of an earlier run can be read at once; Run checks
// them against the log. It returns ErrBadProjector, or an error of the store.
// The store stays the caller's to close, after Run returned.
func NewRuntime(log Log, store Store, opt Options, ps ...Projector) (*Runtime, error) {
	if opt.MaxBatch <= 0 {
		opt.MaxBatch = defaultBatch
	}
	opt.Linger = cmp.Or(opt.Linger, defaultLinger)
	if opt.Retry <= 0 {
		opt.Retry = defaultRetry
	}
	if opt.Logger == nil {
		opt.Logger = slog.New(slog.DiscardHandler)
	}
	r := &Runtime{log: log, store: store, runners: map[string]*runner{}, ends: ends{log: log}}
	q := &quarantine{log: log}
	slots := make(chan struct{}, builders())
	var after []chan struct{}
	for _, p := range ps {
		if err := checkProjector(p); err != nil {
			return nil, err
		}
		if r.runners[p.Name()] != nil {
			return nil, fmt.Errorf("%w: two are named %q", ErrBadProjector, p.Name())
		}
		if _, err := getJSON(store.Get, activeKey(p.Name()), &manifest{}); err != nil {
			return nil, fmt.Errorf("projections: open view %s: %w", p.Name(), err)
		}
		begun := make(chan struct{})
		v := newRunner(p, log, store, q, slots, after, sync.OnceFunc(func() { close(begun) }), &r.first, opt)
		after = append(after, begun)
		r.runners[p.Name()] = v
		r.order = append(r.order, v)
	}
	return r, nil
}

func checkProjector(p Projector) error {
	if !viewName().MatchString(p.Name()) {
		return fmt.Errorf("%w: name %q", ErrBadProjector, p.Name())
	}
	if p.Version() < 1 {
		return fmt.Errorf("%w: %s has version %d", ErrBadProjector, p.Name(), p.Version())
	}
	for _, t := range p.Types() {
		if t.Kind().Stream() == "" {
			return fmt.Errorf("%w: %s reads %q, which is no type of an event", ErrBadProjector, p.Name(), t)
		}
	}
	return nil
}

// Run feeds the projectors until ctx ends, and returns nil then. Views do not
// wait for each other, and one that fails stops alone. It is called once.
func (r *Runtime) Run(ctx context.Context) error {
	var all sync.WaitGroup
	for _, v := range r.order {
		all.Go(func() { v.run(ctx) })
	}
	all.Wait()
	return nil
}

// Reader opens a snapshot of the view in use. It returns ErrUnknownView, or
// ErrNotReady before the first build is complete. A view that is being rebuilt
// shows what it held before.
func (r *Runtime) Reader(view string) (Reader, error) {
	v, err := r.runner(view)
	if err != nil {
		return nil, err
	}
	return v.reader()
}

// Current opens a snapshot of what this version of the projector wrote: the view
// in use, or the build that will replace one of another version. A build holds
// the events up to Reader.Position and no more, so it is for whoever reads what
// came after that from the log. It returns ErrUnknownView, or ErrNotReady where
// neither is there or the build was not compared with the log yet.
func (r *Runtime) Current(view string) (Reader, error) {
	v, err := r.runner(view)
	if err != nil {
		return nil, err
	}
	return v.current()
}

// WaitFor returns once the view shows the position, and whatever follows the
// view by Committed has it too. It returns ErrUnknownView, ErrNotRead,
// ErrStopped, bus.ErrGap, or the error of ctx.
func (r *Runtime) WaitFor(ctx context.Context, view string, pos schemas.Position) error {
	v, err := r.runner(view)
	if err != nil {
		return err
	}
	return v.waitFor(ctx, pos.Stream, pos.Seq, nil)
}

// Built returns once every view follows the log, or cannot, and the error of ctx
// where that ends first: what can wait is done then.
func (r *Runtime) Built(ctx context.Context) error {
	for _, v := range r.order {
		_ = v.waitFor(ctx, v.in.streams[0], 0, nil) // one that cannot is told of elsewhere
	}
	return ctx.Err()
}

// Position is the sequence up to which the view shows a stream, 0 while the
// view is not known to agree with the log.
func (r *Runtime) Position(view string, s schemas.Stream) uint64 {
	v, err := r.runner(view)
	if err != nil {
		return 0
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.serving {
		return 0
	}
	return v.positions[s]
}

// First lets builds stand still, each time for some tens of milliseconds at most,
// until leave is called: somebody waits for an answer.
func (r *Runtime) First() (leave func()) { return r.first.enter() }

// Turns returns what work on a lot calls for each part: it stands still as builds do.
func (r *Runtime) Turns() func() { return r.first.turns(math.MaxInt) }

// Relax gives back what views keep of committed values for their next batch,
// and what the store keeps of what was read, if it is a [Relaxer]. Both read it
// again when they need it, so it is for when nothing is to do.
func (r *Runtime) Relax() {
	for _, v := range r.order {
		v.relax()
	}
	if s, keeps := r.store.(Relaxer); keeps {
		s.Relax()
	}
}

func (r *Runtime) runner(view string) (*runner, error) {
	v := r.runners[view]
	if v == nil {
		return nil, fmt.Errorf("%w: %q", ErrUnknownView, view)
	}
	return v, nil
}

// isStop tells an error that a retry cannot help.
func isStop(err error) bool {
	var failed *failure
	return errors.As(err, &failed) || errors.Is(err, ErrCorruptStore)
}
