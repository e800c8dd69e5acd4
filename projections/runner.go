package projections

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/pause"
)

// runner is the life of one view: check it against the log, build it anew
// where they disagree, then follow.
type runner struct {
	p     Projector
	in    interest
	log   Log
	store Store
	q     *quarantine
	slots chan struct{}   // filled by builds at work, of all views
	after []chan struct{} // closed when the views before this one need not be waited for
	begun func()          // says so of this one
	first *first
	opt   Options

	apply   sync.Mutex // one batch at a time; guards what follows
	gen     *generation
	recalls *generation // whose last commit the projector's memory is of, nil for none
	// unannounced are the keys of commits that were not announced yet.
	unannounced []string
	// announcing is how long it took to announce the last batch.
	announcing time.Duration

	mu        sync.Mutex // guards what follows
	state     State
	serving   bool // the view in use agrees with the log
	positions map[schemas.Stream]uint64
	skipped   map[schemas.Stream]uint64
	reason    string // of the last rebuild
	replaces  bool   // a view that can be read is being rebuilt
	pace      pace   // of the build
	queued    bool   // the build waits for others
	trouble   error
	progress  chan struct{} // closed when something above changes; nil while nobody waits
	waiting   int           // calls of waitFor that wait
	hurry     chan struct{} // closed when one begins to; nil while nobody lingers
}

func newRunner(p Projector, log Log, store Store, q *quarantine, slots chan struct{}, after []chan struct{}, begun func(), f *first, opt Options) *runner {
	return &runner{
		p: p, in: newInterest(p.Types()), log: log, store: store, q: q, slots: slots, after: after, begun: begun, first: f, opt: opt,
		state:     Starting,
		positions: map[schemas.Stream]uint64{},
		skipped:   map[schemas.Stream]uint64{},
	}
}

// run goes on until ctx ends or the projector has to stop. Everything else,
// such as a log that cannot be reached, is tried again from the checkpoint.
func (v *runner) run(ctx context.Context) {
	for ctx.Err() == nil {
		err := v.cycle(ctx)
		v.begun()
		switch {
		case ctx.Err() != nil:
			return
		case isStop(err):
			v.opt.Logger.Error("view stopped", "view", v.p.Name(), "error", err)
			v.update(func() { v.state, v.trouble = Stopped, err })
			return
		case err != nil:
			v.mu.Lock()
			if !errors.Is(err, bus.ErrDiskFull) || !errors.Is(v.trouble, bus.ErrDiskFull) { // said once
				v.opt.Logger.Warn("view interrupted", "view", v.p.Name(), "error", err)
			}
			v.mu.Unlock()
			v.update(func() { v.trouble = err })
			pause.For(ctx, v.opt.Retry)
		}
	}
}

func (v *runner) cycle(ctx context.Context) error {
	gen, building, err := v.adopt(ctx)
	if err != nil {
		return err
	}
	if building {
		if err := v.build(ctx, gen); err != nil {
			return err
		}
	}
	v.begun()
	if err := v.serve(); err != nil {
		return err
	}
	return v.followAll(ctx)
}

// build reads one stream after the other, so that a build is a single pass, and
// puts it in the place of the view in use.
func (v *runner) build(ctx context.Context, gen *generation) error {
	v.mu.Lock()
	applied, all := v.pace.at(v.positions)
	v.mu.Unlock()
	if all-applied > smallBuild {
		v.update(func() { v.queued = true })
		for _, before := range v.after {
			select {
			case <-before:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		select {
		case v.slots <- struct{}{}:
			defer func() { <-v.slots }()
		case <-ctx.Done():
			return ctx.Err()
		}
		v.update(func() { v.queued, v.pace.began = false, time.Now() })
	}
	v.begun()
	for _, s := range v.in.streams {
		if err := v.catchUp(ctx, s, true); err != nil {
			return err
		}
	}
	return v.swap(gen)
}

// adopt makes a generation the one that batches are applied to.
func (v *runner) adopt(ctx context.Context) (gen *generation, building bool, err error) {
	v.apply.Lock()
	defer v.apply.Unlock()
	if gen, building, err = v.prepare(ctx); err != nil {
		return nil, false, err
	}
	replaces, ends := false, map[schemas.Stream]uint64{}
	if building {
		if replaces, err = getJSON(v.store.Get, activeKey(v.p.Name()), &manifest{}); err != nil {
			return nil, false, err
		}
	}
	for _, s := range v.in.streams {
		if _, ends[s], err = v.log.Bounds(ctx, s); err != nil {
			return nil, false, fmt.Errorf("end of %s: %w", s, err)
		}
	}
	v.gen, v.recalls, v.unannounced = gen, nil, nil
	v.update(func() {
		clear(v.positions)
		clear(v.skipped)
		for s, c := range gen.checkpoints {
			v.positions[s], v.skipped[s] = c.Seq, c.Quarantined
		}
		if building {
			v.state, v.serving, v.reason, v.replaces = Rebuilding, false, gen.Reason, replaces
		}
		v.pace = pace{ends: ends, began: time.Now()}
		v.pace.from, _ = v.pace.at(v.positions)
	})
	return gen, building, nil
}

// serve lets the view in use be waited for, after what follows it in memory
// has seen it.
func (v *runner) serve() error {
	if err := v.committed(Commit{Rebuilt: true}); err != nil {
		return err
	}
	v.update(func() { v.state, v.serving, v.replaces = Live, true, false })
	return nil
}

func (v *runner) followAll(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var all, caught sync.WaitGroup
	caught.Add(len(v.in.streams))
	errs := make([]error, len(v.in.streams))
	for i, s := range v.in.streams {
		all.Go(func() {
			defer cancel()
			errs[i] = v.catchUp(ctx, s, false)
			caught.Done()
			switch {
			case errs[i] == nil:
				v.update(func() { v.trouble = nil })
				errs[i] = v.follow(ctx, s, false)
			case errors.Is(errs[i], bus.ErrGap):
				caught.Wait() // what this stream lacks takes nothing from the others
			}
		})
	}
	all.Wait()
	for _, err := range errs {
		if isStop(err) {
			return err
		}
	}
	return errors.Join(errs...)
}

// catchUp reads a stream until what it holds is applied. A build repeats that
// until little was added meanwhile.
func (v *runner) catchUp(ctx context.Context, s schemas.Stream, building bool) error {
	for {
		_, last, err := v.log.Bounds(ctx, s)
		if err != nil {
			return fmt.Errorf("end of %s: %w", s, err)
		}
		if err := v.follow(ctx, s, true); err != nil {
			return err
		}
		// The records up to last may be gone; then nothing is left to wait for.
		v.reached(s, last)
		if !building {
			return nil
		}
		_, now, err := v.log.Bounds(ctx, s)
		if err != nil {
			return fmt.Errorf("end of %s: %w", s, err)
		}
		if now <= last+uint64(v.opt.MaxBatch) {
			return nil
		}
	}
}

func (v *runner) follow(ctx context.Context, s schemas.Stream, untilEnd bool) error {
	v.apply.Lock()
	after := v.gen.checkpoints[s].Seq
	v.apply.Unlock()
	err := v.log.Follow(ctx, s, after, v.opt.MaxBatch, untilEnd, func(records []schemas.Record) error {
		if !untilEnd {
			v.linger(ctx, len(records))
		}
		return v.take(ctx, s, records)
	})
	if err != nil {
		err = fmt.Errorf("follow %s after %d: %w", s, after, err)
	}
	if errors.Is(err, bus.ErrGap) {
		return gap{s, err}
	}
	return err
}

// gap is the error of a stream that lacks records, and is any other gap in that stream.
type gap struct {
	of schemas.Stream
	error
}

func (g gap) Unwrap() error { return g.error }

func (g gap) Is(target error) bool {
	other, is := target.(gap)
	return is && g.of == other.of
}

func (v *runner) reached(s schemas.Stream, seq uint64) {
	v.update(func() { v.positions[s] = max(v.positions[s], seq) })
}

// announce announces a batch and remembers how long that took; the caller holds
// apply.
func (v *runner) announce(c Commit) error {
	began := time.Now()
	defer func() { v.announcing = time.Since(began) }()
	return v.committed(c)
}

// committed calls the projector's Committed, if it has one.
func (v *runner) committed(c Commit) error {
	hook, has := v.p.(Committed)
	if !has {
		return nil
	}
	r, err := v.reader()
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	c.Reader = r
	if err := hook.Committed(c); err != nil {
		return &failure{view: v.p.Name(), err: fmt.Errorf("committed: %w", err)}
	}
	return nil
}

func (v *runner) update(change func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	change()
	if v.progress != nil {
		close(v.progress)
		v.progress = nil
	}
}

// lingering is for how long records gather beside some that are there.
func lingering(records int, usual, announcing time.Duration) time.Duration {
	long := min(lingerShare*announcing, lingerMost)
	if records < lingerRecords {
		long = max(long, usual)
	}
	return long
}

// linger lets records gather, for the batch after this one too, unless
// somebody waits. Where announcing a batch took long, it does so for longer: an
// index that is built again for every few of ten thousand rules takes as much
// time as all the rest.
func (v *runner) linger(ctx context.Context, records int) {
	v.apply.Lock()
	long := lingering(records, v.opt.Linger, v.announcing)
	v.apply.Unlock()
	v.mu.Lock()
	if v.waiting > 0 || v.opt.Linger < 0 || long == 0 {
		v.mu.Unlock()
		return
	}
	if v.hurry == nil {
		v.hurry = make(chan struct{})
	}
	hurry := v.hurry
	v.mu.Unlock()
	timer := time.NewTimer(long)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-hurry:
	case <-ctx.Done():
	}
}

// await counts a call that waits, and says how to end that.
func (v *runner) await() (done func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.waiting++
	if v.hurry != nil {
		close(v.hurry)
		v.hurry = nil
	}
	return func() {
		v.mu.Lock()
		v.waiting--
		v.mu.Unlock()
	}
}

// waitFor waits for a position. Unless instead is nil, it ends with that where a
// view is being built anew, or follows from afar.
func (v *runner) waitFor(ctx context.Context, s schemas.Stream, seq uint64, instead func(*runner) (bool, error)) error {
	awaiting := false
	for {
		v.mu.Lock()
		done := v.serving && v.positions[s] >= seq
		stopped, cause := v.state == Stopped, v.trouble
		lacks := errors.Is(cause, gap{of: s}) || !v.serving && errors.Is(cause, bus.ErrGap)
		if v.progress == nil {
			v.progress = make(chan struct{})
		}
		progress := v.progress
		var answer error
		given := false
		if instead != nil && (v.state == Rebuilding || v.serving && !lacks && seq > v.positions[s]+smallBuild) {
			given, answer = instead(v)
		}
		v.mu.Unlock()
		switch {
		case !v.reads(s):
			return fmt.Errorf("%w: %s, %s", ErrNotRead, v.p.Name(), s)
		case done:
			return nil
		case stopped:
			return fmt.Errorf("%w: %w", ErrStopped, cause)
		case given:
			return answer
		case lacks: // no waiting mends it
			return fmt.Errorf("projections: wait for %s at %s/%d: %w", v.p.Name(), s, seq, cause)
		}
		if !awaiting {
			awaiting = true
			defer v.await()()
		}
		select {
		case <-progress:
		case <-ctx.Done():
			return fmt.Errorf("projections: wait for %s at %s/%d: %w", v.p.Name(), s, seq, ctx.Err())
		}
	}
}

func (v *runner) reads(s schemas.Stream) bool {
	return slices.Contains(v.in.streams, s)
}
