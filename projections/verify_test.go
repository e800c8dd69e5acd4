package projections_test

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"pgregory.net/rapid"

	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/test/integration"
)

// Every view of a random log is what the log makes of it, before a rebuild and
// after, and neither leaves anything behind.
func TestVerifyAndRebuild(t *testing.T) {
	integration.Checks(t)
	rapid.Check(t, func(rt *rapid.T) {
		l, s := newMemoryLog(), openStore(t, vfs.NewMem())
		defer s.Close()
		grow(rt, l, 30)
		r := start(t, l, s, projections.Options{MaxBatch: rapid.IntRange(1, 20).Draw(rt, "batch")}, allViews(0)...)
		defer r.stop()
		r.caughtUp()
		ctx, keys := context.Background(), len(partsOf(t, s))
		for _, view := range r.Status() {
			grow(rt, l, 2) // they are followed meanwhile
			for _, do := range []string{"found", "rebuilt"} {
				if d, err := r.Verify(ctx, view.Name); d != nil || err != nil {
					rt.Errorf("%s as it was %s: %v %v", view.Name, do, d, err)
				}
				if err := r.Rebuild(ctx, view.Name); err != nil {
					rt.Error(err)
				}
			}
			r.caughtUp()
		}
		if after := len(partsOf(t, s)); after != keys {
			rt.Errorf("%d parts in the store, were %d", after, keys)
		}
	})
}

func TestVerifyNamesTheFirstDifference(t *testing.T) {
	l, s := newMemoryLog(), openStore(t, vfs.NewMem())
	defer s.Close()
	prompts(l, 5)
	r := start(t, l, s, projections.Options{}, tally{})
	defer r.stop()
	r.caughtUp()
	ctx := context.Background()
	prefix := partsOf(t, s)["checkpoints of tally"][0]
	for _, c := range []struct {
		why         string
		key         string
		held, built string // what Verify says, "" for nil
		change      func(projections.Batch, []byte) error
	}{
		{"a changed value", "all", "x", "\x00\x00\x00\x00\x00\x00\x00\x05", func(b projections.Batch, key []byte) error { return b.Set(key, []byte("x")) }},
		{"a lost key", "all", "", "\x00\x00\x00\x00\x00\x00\x00\x05", func(b projections.Batch, key []byte) error { return b.Delete(key) }},
		{"a key too many", "zz", "x", "", func(b projections.Batch, key []byte) error { return b.Set(key, []byte("x")) }},
	} {
		if err := s.Commit(func(b projections.Batch) error { return c.change(b, append(bytes.Clone(prefix), c.key...)) }); err != nil {
			t.Fatal(err)
		}
		d, err := r.Verify(ctx, "tally")
		if err != nil || d == nil || string(d.Key) != c.key || string(d.Held) != c.held || string(d.Built) != c.built {
			t.Errorf("%s: %+v %v", c.why, d, err)
		}
		if err := r.Rebuild(ctx, "tally"); err != nil {
			t.Fatal(err)
		}
		prefix = partsOf(t, s)["checkpoints of tally"][0]
		if d, err := r.Verify(ctx, "tally"); d != nil || err != nil {
			t.Errorf("%s, rebuilt: %+v %v", c.why, d, err)
		}
		r.want("all", 5)
	}
	if _, err := r.Verify(ctx, "nobody"); !errors.Is(err, projections.ErrUnknownView) {
		t.Error(err)
	}
}

// While a view is rebuilt, the one in use goes on following the log, whole, and
// a second build is refused.
func TestRebuildLetsTheViewGoOn(t *testing.T) {
	l, s := newMemoryLog(), openStore(t, vfs.NewMem())
	defer s.Close()
	prompts(l, 4)
	seen := map[string]int{}
	var between func()
	r := start(t, l, s, projections.Options{MaxBatch: 2}, tally{apply: func(e schemas.Event) error {
		if seen[e.ID]++; seen[e.ID] == 2 && e.ID == "s-4" {
			between()
		}
		return nil
	}})
	defer r.stop()
	r.caughtUp()
	ctx := context.Background()
	var second error
	asked := make(chan struct{})
	between = func() { // the build has three of four
		r.want("all", 4)
		prompts(l, 3)
		go func() {
			defer close(asked)
			_, second = r.Verify(ctx, "tally")
		}()
	}
	if err := r.Rebuild(ctx, "tally"); err != nil {
		t.Fatal(err)
	}
	<-asked
	if second != nil && !errors.Is(second, projections.ErrBuilding) {
		t.Error(second)
	}
	r.caughtUp()
	r.want("all", 7)
	if d, err := r.Verify(ctx, "tally"); d != nil || err != nil {
		t.Errorf("%+v %v", d, err)
	}
}

// A build that is given up leaves the view and the store as they were.
func TestRebuildGivenUp(t *testing.T) {
	l, s := newMemoryLog(), openStore(t, vfs.NewMem())
	defer s.Close()
	prompts(l, 4)
	boom, seen := errors.New("boom"), 0
	r := start(t, l, s, projections.Options{}, tally{apply: func(schemas.Event) error {
		if seen++; seen == 6 {
			return boom
		}
		return nil
	}})
	defer r.stop()
	r.caughtUp()
	keys := len(partsOf(t, s)["d of tally"])
	if err := r.Rebuild(context.Background(), "tally"); !errors.Is(err, boom) {
		t.Errorf("rebuilt: %v", err)
	}
	prompts(l, 2)
	r.caughtUp()
	r.want("all", 6)
	if left := len(partsOf(t, s)["d of tally"]); left != keys {
		t.Errorf("%d keys, were %d", left, keys)
	}
}
