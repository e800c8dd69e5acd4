package projections_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/projections/pebblestore"
	"github.com/writbus/writ/schemas"
)

// countingStore counts commits and look-ups.
type countingStore struct {
	*pebblestore.Store
	commits, gets atomic.Int64
}

func (s *countingStore) Commit(write func(projections.Batch) error) error {
	s.commits.Add(1)
	return s.Store.Commit(write)
}

func (s *countingStore) Get(key []byte) ([]byte, bool, error) {
	s.gets.Add(1)
	return s.Store.Get(key)
}

// TestLingerEndsForWhoWaits: a live view that would wait for an hour takes at
// once what somebody waits for, and records that came meanwhile in batches.
func TestLingerEndsForWhoWaits(t *testing.T) {
	l, s := newMemoryLog(), &countingStore{Store: openStore(t, vfs.NewMem())}
	defer s.Close()
	prompts(l, 3)
	r := start(t, l, s, projections.Options{Linger: time.Hour}, tally{})
	r.caughtUp()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for round := range 3 {
		before := s.commits.Load()
		prompts(l, 40)
		end := 3 + 40*(round+1)
		if err := r.WaitFor(ctx, "tally", sessions(end)); err != nil {
			t.Fatal(err)
		}
		r.want("all", uint64(end))
		// Where the records fall into batches is the scheduler's; taken one by
		// one they would be forty.
		if n := s.commits.Load() - before; n > 20 {
			t.Errorf("%d commits for 40 records", n)
		}
	}
}

// TestLingerIsShort: without anybody who waits, a live view takes what comes.
func TestLingerIsShort(t *testing.T) {
	l, s := newMemoryLog(), openStore(t, vfs.NewMem())
	defer s.Close()
	applied := make(chan uint64, 10)
	r := start(t, l, s, projections.Options{}, tally{apply: func(e schemas.Event) error {
		applied <- e.Position.Seq
		return nil
	}})
	r.caughtUp()
	for want := range uint64(3) {
		prompts(l, 1)
		if got := <-applied; got != want+1 {
			t.Fatalf("applied %d, want %d", got, want+1)
		}
	}
}

// long is a state whose documents soon exceed what a Fold keeps.
type long struct {
	Text string `json:"text"`
}

func longFold() *projections.Fold[long] {
	return projections.NewFold("long", 1, schemas.TypesOf(schemas.KindSession), func(s long, e schemas.Event) long {
		s.Text = strings.Repeat(e.ID+" ", 1<<17) + s.Text[:min(len(s.Text), 100)]
		return s
	})
}

// TestFoldKeepsAndEvicts: whatever a Fold keeps between batches, its documents
// are those of a single pass; one that goes on is not read again.
func TestFoldKeepsAndEvicts(t *testing.T) {
	l := newMemoryLog()
	for n := range 60 {
		l.publish(prompt(fmt.Sprint("s-", n*n%11), n+1))
	}
	documents := func(batch int) string {
		s := openStore(t, vfs.NewMem())
		defer s.Close()
		f := longFold()
		r := start(t, l, s, projections.Options{MaxBatch: batch}, f)
		r.caughtUp()
		rd := r.reader("long")
		defer rd.Close()
		var all strings.Builder
		for d, err := range f.All(rd) {
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintln(&all, d.Aggregate, d.Last, len(d.State.Text), d.State.Text[:20], d.State.Text[len(d.State.Text)-100:])
		}
		r.stop()
		return all.String()
	}
	want := documents(1000)
	for _, batch := range []int{1, 2, 7} {
		if got := documents(batch); got != want {
			t.Errorf("batches of %d:\n%s\nwant\n%s", batch, got, want)
		}
	}
}

// TestBuildAsksTheStoreLittle: a build knows which keys it has not written.
func TestBuildAsksTheStoreLittle(t *testing.T) {
	const n = 2000
	l, s := newMemoryLog(), &countingStore{Store: openStore(t, vfs.NewMem())}
	defer s.Close()
	for i := range n {
		l.publish(schemas.Event{
			ID: fmt.Sprint("e", i), Time: epoch, Aggregate: schemas.Memory("m"), Actor: schemas.ParseActor("agent"),
			Data: schemas.ObservationRecorded{ObservationID: fmt.Sprint("o", i), Verdict: "allow"},
		})
	}
	r := start(t, l, s, projections.Options{MaxBatch: 100}, projections.NewVerdicts())
	r.caughtUp()
	if asked := s.gets.Load(); asked > n/10 {
		t.Errorf("%d look-ups for %d new observations", asked, n)
	}
}

// TestRefusedCommitForgets: what a Fold kept of a batch that was not committed
// is forgotten, so that nothing counts twice.
func TestRefusedCommitForgets(t *testing.T) {
	const n = 12
	l, attempts := newMemoryLog(), 0
	s := &crashingStore{Store: openStore(t, vfs.NewMem()), refuse: func() error {
		if attempts++; attempts%2 == 0 {
			return errors.New("not now")
		}
		return nil
	}}
	defer s.Close()
	prompts(l, n)
	f := sessionFold()
	r := start(t, l, s, projections.Options{MaxBatch: 2}, f)
	r.caughtUp()
	rd := r.reader(f.Name())
	defer rd.Close()
	state, last, _, err := f.Load(rd, schemas.Session("s"))
	if err != nil || state.Prompts != n || last != n {
		t.Errorf("%d prompts up to %d, %v; want %d", state.Prompts, last, err, n)
	}
}

// TestFailedBatchForgets: the records before one that fails are applied once,
// though the batch was begun twice.
func TestFailedBatchForgets(t *testing.T) {
	l, s := newMemoryLog(), openStore(t, vfs.NewMem())
	defer s.Close()
	prompts(l, 4)
	f := projections.NewFold("fragile", 1, schemas.TypesOf(schemas.KindSession), func(state folded, e schemas.Event) folded {
		if e.Position.Seq == 7 {
			panic("seven")
		}
		return foldSession(state, e)
	})
	r := start(t, l, s, projections.Options{MaxBatch: 4, Linger: -1}, f)
	r.caughtUp()
	prompts(l, 4)
	if err := r.CaughtUp(context.Background()); !errors.Is(err, projections.ErrStopped) {
		t.Fatalf("got %v, want %v", err, projections.ErrStopped)
	}
	rd := r.reader(f.Name())
	defer rd.Close()
	state, last, _, err := f.Load(rd, schemas.Session("s"))
	if err != nil || state.Prompts != 6 || last != 6 {
		t.Errorf("%d prompts up to %d, %v; want 6", state.Prompts, last, err)
	}
}
