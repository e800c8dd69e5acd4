package projections

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/writbus/writ/schemas"
)

// asideBatch is how many records a build beside a live view applies at a time:
// the view waits for as long as that takes.
const asideBatch = 500

// Difference is the first key in which a view is not what the log makes of it.
type Difference struct {
	Key         []byte // empty for how far each stream was read
	Held, Built []byte // nil where the view in use, or the build, lacks the key
}

// Verify builds a view beside the one in use, which goes on following the log,
// and compares the two byte for byte once they show the same records. It returns
// nil where they are equal. It returns ErrUnknownView, ErrNotReady, ErrBuilding,
// ErrStopped, what the log or the store could not do, or the error of ctx; the
// view in use stays as it is in any case.
func (r *Runtime) Verify(ctx context.Context, view string) (d *Difference, err error) {
	err = r.beside(view, "to be compared", func(a *aside) error {
		var snap Snapshot
		err := a.meet(ctx, func() (err error) {
			snap, err = a.store.Snapshot()
			return err
		})
		if err != nil {
			return err
		}
		defer func() { _ = snap.Close() }()
		d, err = compare(snap, a.of.batch.prefix, a.gen.batch.prefix)
		return err
	})
	return d, err
}

// Rebuild builds a view beside the one in use and puts it in its place. Readers
// and those who wait see the one or the other. It returns what Verify returns.
func (r *Runtime) Rebuild(ctx context.Context, view string) error {
	return r.beside(view, "asked for", func(a *aside) error {
		return a.meet(ctx, a.replace)
	})
}

// aside is a build of a view beside the one in use.
type aside struct {
	*runner
	of, gen *generation
}

// beside begins a build, runs fn, and discards the build unless it is in use
// then.
func (r *Runtime) beside(view, reason string, fn func(*aside) error) (err error) {
	v, err := r.runner(view)
	if err != nil {
		return err
	}
	a, err := v.begins(reason)
	if err != nil {
		return fmt.Errorf("build %s aside: %w", view, err)
	}
	defer func() { err = errors.Join(err, a.end()) }()
	if err := fn(a); err != nil {
		return fmt.Errorf("build %s aside: %w", view, err)
	}
	return nil
}

func (v *runner) begins(reason string) (*aside, error) {
	v.apply.Lock()
	defer v.apply.Unlock()
	v.mu.Lock()
	serving, stopped, cause := v.serving, v.state == Stopped, v.trouble
	v.mu.Unlock()
	switch {
	case stopped:
		return nil, fmt.Errorf("%w: %w", ErrStopped, cause)
	case !serving:
		return nil, ErrBuilding
	}
	begun, err := v.load(buildingKey(v.p.Name()))
	if err != nil {
		return nil, err
	}
	if begun != nil {
		return nil, ErrBuilding
	}
	gen, err := v.begin(v.gen, nil, reason)
	return &aside{v, v.gen, gen}, err
}

func (a *aside) end() error {
	a.apply.Lock()
	defer a.apply.Unlock()
	if a.runner.gen != a.of {
		return nil // it is in use, or the view found another way
	}
	return a.discard(a.gen)
}

// meet builds until the view in use shows the same records, and runs fn then,
// with both standing still. What came while a long log was read is read before
// the view in use has to wait.
func (a *aside) meet(ctx context.Context, fn func() error) error {
	for range 2 {
		if err := a.read(ctx, true); err != nil {
			return err
		}
	}
	a.apply.Lock()
	defer a.apply.Unlock()
	if err := a.read(ctx, false); err != nil {
		return err
	}
	return fn()
}

var errMet = errors.New("projections: the view in use has no more")

// read applies what the view in use shows, one stream after the other. Unless
// between, the caller holds apply.
func (a *aside) read(ctx context.Context, between bool) error {
	for _, s := range a.in.streams {
		to, err := a.target(s, between)
		if err != nil {
			return err
		}
		from := a.gen.checkpoints[s].Seq
		if from >= to {
			continue
		}
		err = a.log.Follow(ctx, s, from, asideBatch, true, func(records []schemas.Record) error {
			for len(records) > 0 && records[len(records)-1].Seq > to {
				records = records[:len(records)-1]
			}
			if err := a.takeAside(ctx, s, records, between); err != nil {
				return err
			}
			if a.gen.checkpoints[s].Seq >= to {
				return errMet
			}
			return nil
		})
		if err != nil && !errors.Is(err, errMet) {
			return err
		}
	}
	return nil
}

// target is how far the view in use has read a stream.
func (a *aside) target(s schemas.Stream, between bool) (uint64, error) {
	if between {
		a.apply.Lock()
		defer a.apply.Unlock()
	}
	if a.runner.gen != a.of {
		return 0, ErrBuilding // the log contradicted the view in use
	}
	return a.of.checkpoints[s].Seq, nil
}

func (a *aside) takeAside(ctx context.Context, s schemas.Stream, records []schemas.Record, between bool) error {
	if len(records) == 0 {
		return nil
	}
	if between {
		a.apply.Lock()
		defer a.apply.Unlock()
	}
	if a.runner.gen != a.of {
		return ErrBuilding
	}
	_, err := a.commit(ctx, a.gen, s, records)
	return err
}

// replace puts the build in the place of the view in use, which shows the same
// records. The caller holds apply.
func (a *aside) replace() error {
	if err := a.swap(a.gen); err != nil {
		return err
	}
	a.runner.gen, a.unannounced = a.gen, nil
	return a.committed(Commit{Rebuilt: true})
}

// compare finds the first key in which two ranges of a store differ.
func compare(snap Snapshot, held, built []byte) (*Difference, error) {
	next, stop := iter.Pull2(snap.Scan(built))
	defer stop()
	b, err, more := next()
	for h, failed := range snap.Scan(held) {
		if err := errors.Join(failed, err); err != nil {
			return nil, err
		}
		key := bytes.TrimPrefix(h.Key, held)
		order := -1
		if more {
			order = bytes.Compare(key, bytes.TrimPrefix(b.Key, built))
		}
		switch {
		case order > 0:
			return differs(b.Key, built, nil, b.Value), nil
		case order < 0:
			return differs(h.Key, held, h.Value, nil), nil
		case !bytes.Equal(h.Value, b.Value):
			return differs(h.Key, held, h.Value, b.Value), nil
		}
		b, err, more = next()
	}
	if err != nil || !more {
		return nil, err
	}
	return differs(b.Key, built, nil, b.Value), nil
}

// differs copies what an iteration lends.
func differs(key, prefix, held, built []byte) *Difference {
	return &Difference{bytes.Clone(bytes.TrimPrefix(key, prefix)), bytes.Clone(held), bytes.Clone(built)}
}
