package projections_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/schemas"
)

// followed is a view with a key per event, and what it was told.
type followed struct {
	told chan []string
	end  chan struct{} // let each call end
}

func (followed) Name() string          { return "followed" }
func (followed) Version() int          { return 1 }
func (followed) Types() []schemas.Type { return nil }

func (followed) Apply(v projections.View, e schemas.Event) error {
	return v.Set(fmt.Appendf(nil, "%08d", e.Position.Seq), []byte("x"))
}

func (f followed) Committed(c projections.Commit) error {
	if c.Rebuilt {
		return nil
	}
	f.told <- c.Changed
	<-f.end
	return nil
}

// TestALargeBatchIsToldOnce: what is committed in parts is told of whole, and
// nothing twice.
func TestALargeBatchIsToldOnce(t *testing.T) {
	l, s := newMemoryLog(), &countingStore{Store: openStore(t, vfs.NewMem())}
	defer s.Close()
	f := followed{told: make(chan []string, 1), end: make(chan struct{})}
	r := start(t, l, s, projections.Options{Linger: -1}, f)
	r.caughtUp()
	prompts(l, 1)
	if first := <-f.told; !slices.Equal(first, []string{"00000001"}) {
		t.Fatalf("told %v", first)
	}
	const many = 3000
	prompts(l, many)
	before := s.commits.Load()
	close(f.end)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	end := make(chan error, 1)
	go func() { end <- r.WaitFor(ctx, "followed", sessions(1+many)) }()
	var all []string
	calls := 0
	for len(all) < many {
		told := <-f.told
		calls++
		all = append(all, told...)
	}
	if err := <-end; err != nil {
		t.Fatal(err)
	}
	if commits := s.commits.Load() - before; int64(calls) >= commits {
		t.Errorf("told %d times of %d commits", calls, commits)
	}
	for i, key := range all {
		if want := fmt.Sprintf("%08d", i+2); key != want {
			t.Fatalf("told of %s, want %s", key, want)
		}
	}
}
