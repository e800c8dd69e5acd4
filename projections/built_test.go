package projections_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/schemas"
)

// TestBuiltWaitsForBuilds: what can wait is not done while a view is built, also where
// another view has long been there.
func TestBuiltWaitsForBuilds(t *testing.T) {
	l, s := newMemoryLog(), openStore(t, vfs.NewMem())
	defer s.Close()
	prompts(l, 3)
	goOn := make(chan struct{})
	r := start(t, l, s, projections.Options{}, projections.NewActivity(), tally{apply: func(schemas.Event) error {
		<-goOn
		return nil
	}})
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := r.WaitFor(ctx, "activity", sessions(3)); err != nil {
		t.Fatal(err)
	}
	short, end := context.WithTimeout(ctx, 50*time.Millisecond)
	defer end()
	if err := r.Built(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("while a view is built: %v", err)
	}
	done := make(chan error)
	go func() { done <- r.Built(ctx) }()
	close(goOn)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	r.want("all", 3)
}

// TestAViewFarBehindAnswers: one that follows a log which went on without it for as long
// as a build takes is read as it stands, and says how far it is.
func TestAViewFarBehindAnswers(t *testing.T) {
	l, s := newMemoryLog(), openStore(t, vfs.NewMem())
	defer s.Close()
	prompts(l, 3)
	r := start(t, l, s, projections.Options{}, tally{})
	r.caughtUp()
	r.stop()
	prompts(l, 25_000)
	goOn, at := make(chan struct{}), make(chan struct{}, 1)
	r = start(t, l, s, projections.Options{}, tally{apply: func(schemas.Event) error {
		select {
		case at <- struct{}{}:
		default:
		}
		<-goOn
		return nil
	}})
	<-at
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := r.Await(ctx, schemas.StreamSessions, "tally"); err != nil {
		t.Errorf("who asks waits: %v", err)
	}
	ended, end := context.WithCancel(ctx)
	end()
	if err := r.AwaitToDecide(ended, schemas.StreamSessions, "tally"); !errors.Is(err, context.Canceled) {
		t.Errorf("something is decided by what it held: %v", err)
	}
	r.want("all", 3)
	if v := r.Status()[0]; v.State != projections.Rebuilding || v.Done <= 0 || v.Done >= .01 {
		t.Errorf("its status is %+v", v)
	}
	close(goOn)
	r.caughtUp()
	if v := r.Status()[0]; v.State != projections.Live || v.Done != 0 {
		t.Errorf("its status at the end is %+v", v)
	}
	r.want("all", 25_003)
}

// TestAViewFarBehindAGapDoesNotAnswer: it comes no nearer, and who asks is told.
func TestAViewFarBehindAGapDoesNotAnswer(t *testing.T) {
	l, s := newMemoryLog(), openStore(t, vfs.NewMem())
	defer s.Close()
	prompts(l, 3)
	r := start(t, l, s, projections.Options{}, tally{})
	r.caughtUp()
	l.mu.Lock()
	l.gap = schemas.StreamSessions
	l.changed()
	l.mu.Unlock()
	prompts(l, 25_000)
	if err := r.WaitFor(t.Context(), "tally", sessions(25_003)); !errors.Is(err, bus.ErrGap) {
		t.Fatalf("behind a gap: %v", err)
	}
	if err := r.Await(t.Context(), schemas.StreamSessions, "tally"); !errors.Is(err, bus.ErrGap) {
		t.Errorf("who asks far behind a gap is told %v", err)
	}
}
