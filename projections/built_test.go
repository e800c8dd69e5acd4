package projections_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

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
