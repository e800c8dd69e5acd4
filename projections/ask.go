package projections

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/writbus/writ/schemas"
)

// Read runs fn on a view as it stands. A view that is not there yet is a fault
// with CodeNotReady.
func (r *Runtime) Read(view string, fn func(Reader) error) error {
	reader, err := r.Reader(view)
	if err != nil {
		if v := r.runners[view]; v != nil && errors.Is(err, ErrNotReady) {
			v.mu.Lock()
			defer v.mu.Unlock()
			return v.building()
		}
		return schemas.Faultf(schemas.CodeNotReady, "the view %s is not there yet: %v", view, err)
	}
	defer func() { _ = reader.Close() }()
	return fn(reader)
}

// awaitBuild is how much longer a view may be built for the first time for it to
// be worth waiting for.
const awaitBuild = 3 * time.Second

// Await waits until a view holds what a stream has at the call, for who shows it. Where a
// view is rebuilt it does not wait: the one before it answers, with what it held; so does
// one that is as far behind as a build would be. Where it is built for the first time, and
// that will take long, it returns a fault with CodeNotReady that says how long.
func (r *Runtime) Await(ctx context.Context, s schemas.Stream, view string) error {
	return r.await(ctx, s, view, func(v *runner) (bool, error) {
		if v.serving {
			return true, nil
		}
		return otherwise(v)
	})
}

// AwaitToDecide is Await for who decides something by a view: one that is far behind is
// waited for.
func (r *Runtime) AwaitToDecide(ctx context.Context, s schemas.Stream, view string) error {
	return r.await(ctx, s, view, otherwise)
}

// otherwise says whether there is an answer before a build is complete; the caller holds mu.
func otherwise(v *runner) (bool, error) {
	if v.replaces || v.serving {
		return v.replaces, nil
	}
	_, left := v.pace.left(v.positions, time.Now())
	if left > awaitBuild || v.queued {
		return true, v.building()
	}
	return false, nil
}

// AwaitBuilt waits until a view itself holds what a stream has at the call, also
// while it is rebuilt: for what is made of it in memory, which no view before it
// stands in for.
func (r *Runtime) AwaitBuilt(ctx context.Context, s schemas.Stream, view string) error {
	return r.await(ctx, s, view, func(*runner) (bool, error) { return false, nil })
}

func (r *Runtime) await(ctx context.Context, s schemas.Stream, view string, enough func(*runner) (bool, error)) error {
	_, last, err := r.log.Bounds(ctx, s)
	if err != nil {
		return err
	}
	v, err := r.runner(view)
	if err != nil {
		return err
	}
	return v.waitFor(ctx, s, last, enough)
}

// building is the fault of a view that is built for the first time; the caller
// holds mu.
func (v *runner) building() error {
	done, left := v.pace.left(v.positions, time.Now())
	text := schemas.ViewStatus{State: string(Rebuilding), Done: done, LeftMillis: left.Milliseconds()}.Progress()
	return schemas.Faultf(schemas.CodeNotReady, "the view %s is being built from the log: %s. Ask again then; `writ status` shows how far it is.", v.p.Name(), text)
}

// Ask answers a request about one view.
func (r *Runtime) Ask(ctx context.Context, q schemas.ViewRequest) (reply schemas.ViewReply, err error) {
	reply.View = q.View
	if q.Rebuild {
		err = r.Rebuild(ctx, q.View)
	} else {
		var d *Difference
		if d, err = r.Verify(ctx, q.View); d != nil {
			reply.Difference = d.shown()
		}
	}
	switch {
	case errors.Is(err, ErrUnknownView):
		err = schemas.Faultf(schemas.CodeNotFound, "there is no view %q", q.View)
	case errors.Is(err, ErrBuilding):
		err = schemas.Faultf(schemas.CodeNotReady, "the view %s is being built already", q.View)
	}
	return reply, err
}

// shownBytes is how much of a value that differs is shown.
const shownBytes = 80

// shown is a difference for people.
func (d *Difference) shown() *schemas.ViewDifference {
	same := 0
	for same < min(len(d.Held), len(d.Built)) && d.Held[same] == d.Built[same] {
		same++
	}
	from := max(same-shownBytes/4, 0)
	part := func(value []byte) string {
		if value == nil {
			return ""
		}
		return fmt.Sprintf("%q", value[min(from, len(value)):min(from+shownBytes, len(value))])
	}
	return &schemas.ViewDifference{Key: fmt.Sprintf("%q", d.Key), Held: part(d.Held), Built: part(d.Built)}
}
