package projections

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"

	"github.com/writbus/writ/schemas"
)

// errRewound says that the log handed over what was applied already. The
// checkpoint is then compared with the log anew.
var errRewound = errors.New("projections: the stream went back behind the checkpoint")

// failure is what stops a projector.
type failure struct {
	view  string
	event *FailedEvent // nil if no single event is behind it
	err   error
}

func (f *failure) Error() string {
	if f.event == nil {
		return fmt.Sprintf("projections: %s: %v", f.view, f.err)
	}
	p := f.event.Position
	return fmt.Sprintf("projections: %s: apply %s %s at %s/%d: %v", f.view, f.event.Type, f.event.ID, p.Stream, p.Seq, f.err)
}

func (f *failure) Unwrap() error { return f.err }

// take applies and commits records of one stream. If the projector fails on
// one of them, those before it are committed, so that where a view stops does
// not depend on the batch.
func (v *runner) take(ctx context.Context, s schemas.Stream, records []schemas.Record) error {
	if len(records) == 0 {
		return nil
	}
	v.apply.Lock()
	defer v.apply.Unlock()
	for len(records) > 0 {
		if ctx.Err() != nil {
			return ctx.Err() // what is not committed is read again at the next start
		}
		some := len(records)
		if v.isServing() {
			some = min(some, liveRecords)
		}
		if err := v.takeSome(ctx, s, records[:some], some == len(records)); err != nil {
			return err
		}
		records = records[some:]
	}
	return nil
}

// takeSome applies and commits some of a batch. They are told of with the last.
func (v *runner) takeSome(ctx context.Context, s schemas.Stream, records []schemas.Record, last bool) error {
	err := v.applyBatch(ctx, s, records, last)
	var failed *failure
	if len(records) == 1 || !errors.As(err, &failed) || failed.event == nil {
		return err
	}
	for i := range records {
		if err := v.applyBatch(ctx, s, records[i:i+1], true); err != nil {
			return err
		}
	}
	return nil
}

func (v *runner) applyBatch(ctx context.Context, s schemas.Stream, records []schemas.Record, announce bool) error {
	changed, err := v.commit(ctx, v.gen, s, records)
	if err != nil {
		return err
	}
	at := v.gen.checkpoints[s]
	if !v.isServing() {
		v.unannounced = nil
	} else if v.unannounced = append(v.unannounced, changed...); !announce {
		return nil // nobody sees it before it is announced
	}
	if len(v.unannounced) > 0 {
		changed, v.unannounced = v.unannounced, nil
		slices.Sort(changed)
		if err := v.announce(Commit{Changed: slices.Compact(changed)}); err != nil {
			return err
		}
	}
	v.update(func() {
		v.trouble = nil
		v.positions[s], v.skipped[s] = max(v.positions[s], at.Seq), at.Quarantined
	})
	return nil
}

// commit applies records to a generation and returns the keys that changed. The
// caller holds apply.
func (v *runner) commit(ctx context.Context, gen *generation, s schemas.Stream, records []schemas.Record) (changed []string, err error) {
	gen.batch.turn = v.first.turns(len(records)) // what is written behind the records takes as long as they do
	defer func() { gen.batch.turn = nil }()
	at, err := v.stage(ctx, gen, s, records)
	if err != nil {
		v.abandon(gen)
		return nil, err
	}
	reached := maps.Clone(gen.checkpoints)
	reached[s] = at
	err = v.store.Commit(func(b Batch) error {
		return errors.Join(gen.batch.writeTo(b), setJSON(b.Set, gen.batch.prefix, reached))
	})
	if err != nil {
		v.abandon(gen)
		return nil, fmt.Errorf("commit %s/%d: %w", s, at.Seq, err)
	}
	v.recalls, gen.checkpoints = gen, reached
	if v.isServing() {
		return gen.batch.committed(liveCache), nil
	}
	return gen.batch.committed(buildCache), nil
}

// opening tells a projector that keeps something in memory of a new batch.
func (v *runner) opening(b Batcher, gen *generation) {
	if c, can := b.(Continuer); can && v.recalls == gen {
		c.Continue()
		return
	}
	b.Begin()
}

func (v *runner) abandon(gen *generation) {
	v.recalls = nil
	gen.batch.forget()
	if b, is := v.p.(Batcher); is {
		b.Begin()
	}
}

// relax drops what is kept of committed values, between batches.
func (v *runner) relax() {
	v.apply.Lock()
	defer v.apply.Unlock()
	if v.gen != nil {
		v.gen.batch.forget()
	}
}

func (v *runner) isServing() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.serving
}

// stage applies the records to the batch and returns the checkpoint behind
// them. A panic of the projector is its failure. It returns the error of ctx once
// that has ended: whoever stops does not wait for ten thousand records.
func (v *runner) stage(ctx context.Context, gen *generation, s schemas.Stream, records []schemas.Record) (at checkpoint, err error) {
	var now schemas.Event
	fail := func(cause error) error { return &failure{view: v.p.Name(), event: failedEvent(now), err: cause} }
	defer func() {
		if p := recover(); p != nil {
			err = fail(fmt.Errorf("panic: %v", p))
		}
	}()
	at = gen.checkpoints[s]
	if err := inOrder(s, at.Seq, records); err != nil {
		return at, err
	}
	batcher, batches := v.p.(Batcher)
	if batches {
		v.opening(batcher, gen)
	}
	turn := gen.batch.turn
	v.recalls = nil
	raw, whole := v.p.(RecordApplier)
	var events []schemas.Event
	for _, r := range records {
		if turn(); ctx.Err() != nil {
			return at, ctx.Err()
		}
		if whole {
			if err := raw.ApplyRecord(gen.batch, r); err != nil {
				return at, &failure{view: v.p.Name(), event: failedRecord(r), err: err}
			}
			continue
		}
		var undecoded error
		if events, undecoded = v.in.appendEvents(events[:0], r); undecoded != nil {
			if err := v.q.keep(ctx, r, undecoded); err != nil {
				return at, err
			}
			at.Quarantined++
			continue
		}
		for _, now = range events {
			if err := v.p.Apply(gen.batch, now); err != nil {
				return at, fail(err)
			}
		}
	}
	last := records[len(records)-1]
	at.Seq, at.ID = last.Seq, last.ID()
	if batches {
		if err := batcher.Flush(gen.batch); err != nil {
			return at, fail(err)
		}
	}
	return at, nil
}

// turnRecords is after how many records of a large batch others have their turn:
// a decision passes a dozen goroutines, and must not wait for a batch at each.
const turnRecords = 32

// turns returns what is called before each record or write of a batch.
func (f *first) turns(records int) func() {
	n := 0
	return func() {
		if n++; records > liveRecords && n%turnRecords == 0 {
			runtime.Gosched()
			f.wait()
		}
	}
}

// inOrder returns errRewound unless every record follows the one before it.
func inOrder(s schemas.Stream, after uint64, records []schemas.Record) error {
	for _, r := range records {
		if r.Seq <= after {
			return fmt.Errorf("%w: %s/%d after %d", errRewound, s, r.Seq, after)
		}
		after = r.Seq
	}
	return nil
}

// failedRecord names a record of which no event is decoded.
func failedRecord(r schemas.Record) *FailedEvent {
	return &FailedEvent{ID: r.ID(), Type: subjectType(r.Message.Subject), Position: schemas.Position{Stream: r.Stream, Seq: r.Seq}}
}
