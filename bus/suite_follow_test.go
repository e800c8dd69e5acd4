package bus_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/bustest"
	"github.com/writbus/writ/schemas"
)

var errEnough = errors.New("enough")

func testFollowBatches(t *testing.T, f *fixture) {
	f.fill(t, "s", 25)
	for _, size := range []int{1, 7, 25, 100} {
		seen := uint64(0)
		err := f.Follow(f.ctx, schemas.StreamSessions, 0, bus.FollowOptions{MaxBatch: size, UntilEnd: true}, func(batch []schemas.Record) error {
			if len(batch) == 0 || len(batch) > size {
				t.Errorf("a batch of %d, at most %d", len(batch), size)
			}
			for _, r := range batch {
				if seen++; r.Seq != seen || r.Stream != schemas.StreamSessions {
					t.Errorf("record %d of %s, want %d", r.Seq, r.Stream, seen)
				}
			}
			return nil
		})
		f.must(t, err)
		if seen != 25 {
			t.Fatalf("batches of %d: %d records", size, seen)
		}
	}
	f.must(t, f.Follow(f.ctx, schemas.StreamRules, 0, bus.FollowOptions{UntilEnd: true}, func([]schemas.Record) error {
		t.Error("an empty stream gave a batch")
		return nil
	}))
	err := f.Follow(f.ctx, schemas.StreamSessions, 0, bus.FollowOptions{MaxBytes: 1, UntilEnd: true}, func(batch []schemas.Record) error {
		if len(batch) != 1 {
			t.Errorf("a batch of %d where the first record is already too large", len(batch))
		}
		return nil
	})
	f.must(t, err)
}

// testFollowWaits: what is there first, then each event as it is appended.
func testFollowWaits(t *testing.T, f *fixture) {
	f.fill(t, "s", 3)
	records, done := make(chan uint64), make(chan error, 1)
	ctx, cancel := context.WithCancel(f.ctx)
	defer cancel()
	go func() {
		done <- f.Follow(ctx, schemas.StreamSessions, 1, bus.FollowOptions{}, func(batch []schemas.Record) error {
			for _, r := range batch {
				records <- r.Seq
			}
			return nil
		})
	}()
	for want := uint64(2); want <= 40; want++ {
		if want > 3 {
			f.append(t, "s", fmt.Sprint("late-", want), bus.Any())
		}
		select {
		case got := <-records:
			if got != want {
				t.Fatalf("got record %d, want %d", got, want)
			}
		case err := <-done:
			t.Fatalf("ended early: %v", err)
		}
	}
	cancel()
	wantError(t, <-done, context.Canceled)
}

func testFollowBeyondEnd(t *testing.T, f *fixture) {
	f.fill(t, "s", 2)
	never := func([]schemas.Record) error { t.Error("gave a batch"); return nil }
	for _, o := range []bus.FollowOptions{{}, {UntilEnd: true}} {
		wantError(t, f.Follow(f.ctx, schemas.StreamSessions, 3, o, never), bus.ErrBeyondEnd)
	}
	wantError(t, f.Follow(f.ctx, "NO_SUCH_STREAM", 0, bus.FollowOptions{}, never), bus.ErrNotFound)
	f.must(t, f.Follow(f.ctx, schemas.StreamSessions, 2, bus.FollowOptions{UntilEnd: true}, never))
}

// testFollowError: fn's error ends it and comes back as it is, also one that
// reading alone would get over.
func testFollowError(t *testing.T, f *fixture) {
	f.fill(t, "s", 10)
	for _, failure := range []error{errEnough, bus.ErrUnavailable} {
		failed := false
		err := f.Follow(f.ctx, schemas.StreamSessions, 0, bus.FollowOptions{MaxBatch: 2}, func(batch []schemas.Record) error {
			if failed {
				t.Error("it is called after its error")
			}
			// How records fall into batches depends on when they come.
			if failed = batch[len(batch)-1].Seq >= 5; failed {
				return failure
			}
			return nil
		})
		wantError(t, err, failure)
	}
}

// testFollowEnds: with its context, also while fn runs or nothing comes.
func testFollowEnds(t *testing.T, f *fixture) {
	f.fill(t, "s", 10)
	ctx, cancel := context.WithCancel(f.ctx)
	defer cancel()
	calls := 0
	err := f.Follow(ctx, schemas.StreamSessions, 0, bus.FollowOptions{MaxBatch: 1}, func([]schemas.Record) error {
		calls++
		cancel()
		return nil
	})
	wantError(t, err, context.Canceled)
	if calls == 10 {
		t.Fatal("went through the whole stream after its context had ended")
	}
}

// testSlowReader: a reader that holds each batch while as much again is
// appended misses nothing, and holds up no writer.
func testSlowReader(t *testing.T, f *fixture) {
	const rounds, each = 20, 5
	f.fill(t, "s", each)
	seen := uint64(0)
	prompt := strings.Repeat("long ", 2000)
	round := 0
	err := f.Follow(f.ctx, schemas.StreamSessions, 0, bus.FollowOptions{MaxBatch: each}, func(batch []schemas.Record) error {
		for _, r := range batch {
			if seen++; r.Seq != seen {
				t.Errorf("record %d, want %d", r.Seq, seen)
			}
		}
		if round++; round <= rounds {
			for i := range each {
				if _, err := f.Append(f.ctx, bustest.Event("s", fmt.Sprintf("%d-%d", round, i), prompt), nil, bus.Any()); err != nil {
					return err
				}
			}
		}
		if seen == (rounds+1)*each {
			return errEnough
		}
		return nil
	})
	wantError(t, err, errEnough)
}

// testOwnRecords: what a reader does to its records stays with it.
func testOwnRecords(t *testing.T, f *fixture) {
	f.fill(t, "s", 1)
	spoil := func(r schemas.Record) {
		clear(r.Message.Header)
		clear(r.Message.Body)
	}
	r, err := f.Get(f.ctx, schemas.StreamSessions, 1)
	f.must(t, err)
	spoil(r)
	f.must(t, f.Follow(f.ctx, schemas.StreamSessions, 0, bus.FollowOptions{UntilEnd: true}, func(batch []schemas.Record) error {
		spoil(batch[0])
		return nil
	}))
	r, err = f.LastOf(f.ctx, schemas.Session("s"))
	f.must(t, err)
	if _, err := r.Events(); err != nil {
		t.Fatalf("the log was spoilt by a reader: %v", err)
	}
}
