package projections_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/projections/pebblestore"
	"github.com/writbus/writ/schemas"
)

func TestFirstBuildIsNotReadable(t *testing.T) {
	l, s := newMemoryLog(), openStore(t, vfs.NewMem())
	defer s.Close()
	prompts(l, 5)
	entered, release := make(chan struct{}), make(chan struct{})
	r := start(t, l, s, projections.Options{MaxBatch: 2}, tally{apply: func(e schemas.Event) error {
		if e.ID == "s-5" {
			close(entered)
			<-release
		}
		return nil
	}})
	<-entered
	if _, err := r.Reader("tally"); !errors.Is(err, projections.ErrNotReady) {
		t.Errorf("reader: %v", err)
	}
	if st := r.Status()[0]; st.State != projections.Rebuilding || st.Streams[0].Applied != 4 || st.Streams[0].Lag != 1 {
		t.Errorf("status %+v", st)
	}
	if r.Position("tally", schemas.StreamSessions) != 0 {
		t.Error("a build has a position")
	}
	var fault schemas.Fault
	if err := r.Read("tally", nil); !errors.As(err, &fault) || fault.Code() != schemas.CodeNotReady || !strings.Contains(err.Error(), "80 %") {
		t.Errorf("read: %v", err)
	}
	r.wantCurrent(4)
	close(release)
	r.caughtUp()
	r.want("all", 5)
	if _, err := r.Reader("nobody"); !errors.Is(err, projections.ErrUnknownView) {
		t.Errorf("reader: %v", err)
	}
}

// wantCurrent compares what this version of the tally holds, and up to where.
func (r *running) wantCurrent(n int) {
	r.t.Helper()
	rd, err := r.Current("tally")
	if err != nil {
		r.t.Fatal(err)
	}
	defer rd.Close()
	if got := count(r.t, rd, "all"); got != uint64(n) || rd.Position(schemas.StreamSessions) != uint64(n) {
		r.t.Errorf("%d events up to %d, want %d", got, rd.Position(schemas.StreamSessions), n)
	}
}

func TestReadersSeeTheOldViewDuringARebuild(t *testing.T) {
	l, s := newMemoryLog(), openStore(t, vfs.NewMem())
	defer s.Close()
	prompts(l, 5)
	r := start(t, l, s, projections.Options{}, tally{version: 1})
	r.caughtUp()
	r.stop()

	prompts(l, 5)
	entered, release := make(chan struct{}), make(chan struct{})
	twice := tally{version: 2, apply: func(e schemas.Event) error {
		if e.ID == "s-9" {
			close(entered)
			<-release
		}
		return nil
	}}
	r = start(t, l, s, projections.Options{MaxBatch: 4}, twice)
	<-entered
	old := r.reader("tally")
	defer old.Close()
	if old.Version() != 1 || old.Position(schemas.StreamSessions) != 5 {
		t.Errorf("version %d at %d", old.Version(), old.Position(schemas.StreamSessions))
	}
	r.want("all", 5)
	r.wantCurrent(8)
	if err := r.Await(context.Background(), schemas.StreamSessions, "tally"); err != nil {
		t.Errorf("the old view does not answer: %v", err)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if err := r.WaitFor(ended, "tally", sessions(5)); !errors.Is(err, context.Canceled) {
		t.Errorf("waiting for a view that is being rebuilt: %v", err)
	}
	close(release)
	r.caughtUp()
	r.want("all", 10)
	if n := count(t, old, "all"); n != 5 {
		t.Errorf("the open reader changed to %d", n)
	}
	now := r.reader("tally")
	defer now.Close()
	if now.Version() != 2 || now.Position(schemas.StreamSessions) != 10 {
		t.Errorf("version %d at %d", now.Version(), now.Position(schemas.StreamSessions))
	}
}

// The range of the old generation is gone, and with it every key that is not
// the new one's.
func TestRebuildLeavesNothingBehind(t *testing.T) {
	l, s := newMemoryLog(), openStore(t, vfs.NewMem())
	defer s.Close()
	prompts(l, 5)
	keys := func(version int) int {
		r := start(t, l, s, projections.Options{}, tally{version: version, types: []schemas.Type{"prompt.submitted"}})
		r.caughtUp()
		r.stop()
		n := 0
		for range s.Scan([]byte("")) {
			n++
		}
		return n
	}
	first := keys(1)
	if again := keys(2); again != first {
		t.Errorf("%d keys after a new version, %d before", again, first)
	}
}

func TestInterruptedBuildGoesOn(t *testing.T) {
	l, s := newMemoryLog(), openStore(t, vfs.NewMem())
	defer s.Close()
	prompts(l, 6)
	boom := errors.New("boom")
	r := start(t, l, s, projections.Options{MaxBatch: 2}, tally{apply: func(e schemas.Event) error {
		if e.ID == "s-5" {
			return boom
		}
		return nil
	}})
	if err := r.CaughtUp(context.Background()); !errors.Is(err, boom) {
		t.Fatal(err)
	}
	r.stop()
	seen := 0
	r = start(t, l, s, projections.Options{}, tally{apply: func(schemas.Event) error { seen++; return nil }})
	r.caughtUp()
	r.want("all", 6)
	if seen != 2 {
		t.Errorf("the build applied %d events again, want the 2 that were left", seen)
	}
}

func TestChangedTypesRebuild(t *testing.T) {
	l, s := newMemoryLog(), openStore(t, vfs.NewMem())
	defer s.Close()
	prompts(l, 3)
	l.publish(schemas.Event{ID: "m", Time: epoch, Aggregate: schemas.Session("s"), Data: schemas.ModeChanged{To: "debug"}})
	r := start(t, l, s, projections.Options{}, tally{types: []schemas.Type{"prompt.submitted"}})
	r.caughtUp()
	r.want("all", 3)
	r.stop()
	r = start(t, l, s, projections.Options{}, tally{types: []schemas.Type{"mode.changed", "prompt.submitted"}})
	r.caughtUp()
	r.want("all", 4)
}

func TestDeletedStoreChangesNoAnswer(t *testing.T) {
	l, fs := newMemoryLog(), vfs.NewMem()
	prompts(l, 9)
	answer := func() string {
		s := openStore(t, fs)
		defer s.Close()
		r := start(t, l, s, projections.Options{MaxBatch: 4}, allViews(0)...)
		defer r.stop()
		r.caughtUp()
		var all string
		for _, st := range r.Status() {
			all += dump(t, r.reader(st.Name))
		}
		return all
	}
	before := answer()
	if err := fs.RemoveAll("views"); err != nil {
		t.Fatal(err)
	}
	if after := answer(); after != before {
		t.Errorf("%s\nwant\n%s", after, before)
	}
}

func TestWaitFor(t *testing.T) {
	l, s := newMemoryLog(), openStore(t, vfs.NewMem())
	defer s.Close()
	r := start(t, l, s, projections.Options{}, tally{types: []schemas.Type{"prompt.submitted"}})
	for n := 1; n <= 50; n++ {
		pos := l.publish(prompt("s", n))
		if err := r.WaitFor(context.Background(), "tally", pos); err != nil {
			t.Fatal(err)
		}
		r.want("all", uint64(n))
		if at := r.Position("tally", pos.Stream); at != pos.Seq {
			t.Errorf("position %d, want %d", at, pos.Seq)
		}
	}
	err := r.WaitFor(context.Background(), "tally", schemas.Position{Stream: schemas.StreamRules, Seq: 1})
	if !errors.Is(err, projections.ErrNotRead) {
		t.Errorf("another stream: %v", err)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if err := r.WaitFor(ended, "tally", sessions(51)); !errors.Is(err, context.Canceled) {
		t.Errorf("what is not there: %v", err)
	}
}

func TestLogTroubleIsRetried(t *testing.T) {
	l, s := newMemoryLog(), openStore(t, vfs.NewMem())
	defer s.Close()
	prompts(l, 9)
	calls := 0
	l.fail = func(string) error {
		l.mu.Lock()
		defer l.mu.Unlock()
		if calls++; calls < 5 || calls%7 == 0 {
			return errors.New("no connection")
		}
		return nil
	}
	r := start(t, l, s, projections.Options{MaxBatch: 2}, tally{types: []schemas.Type{"prompt.submitted"}})
	if err := r.WaitFor(context.Background(), "tally", sessions(9)); err != nil {
		t.Fatal(err)
	}
	r.want("all", 9)
}

// TestNobodyWaitsBehindAGap: records that are missing come by no waiting, so whoever
// waits for a view is told at once, and has it again once the log is whole.
func TestNobodyWaitsBehindAGap(t *testing.T) {
	l, s := newMemoryLog(), openStore(t, vfs.NewMem())
	defer s.Close()
	prompts(l, 9)
	var whole atomic.Bool
	l.fail = func(op string) error {
		if op == "follow" && !whole.Load() {
			return bus.ErrGap
		}
		return nil
	}
	r := start(t, l, s, projections.Options{}, tally{types: []schemas.Type{"prompt.submitted"}})
	if err := r.WaitFor(t.Context(), "tally", sessions(9)); !errors.Is(err, bus.ErrGap) {
		t.Errorf("behind a gap: %v", err)
	}
	whole.Store(true)
	for errors.Is(r.WaitFor(t.Context(), "tally", sessions(9)), bus.ErrGap) {
		runtime.Gosched()
	}
	r.want("all", 9)
}

// TestOneStreamsGapHoldsNoOther: a view of two streams shows what comes in the whole one,
// and who waits for that is not told of the gap.
func TestOneStreamsGapHoldsNoOther(t *testing.T) {
	l, s := newMemoryLog(), openStore(t, vfs.NewMem())
	defer s.Close()
	r := start(t, l, s, projections.Options{}, tally{})
	prompts(l, 9)
	if err := r.WaitFor(t.Context(), "tally", sessions(9)); err != nil {
		t.Fatal(err)
	}
	l.mu.Lock()
	l.gap = schemas.StreamSessions
	l.changed()
	l.mu.Unlock()
	prompts(l, 1)
	if err := r.WaitFor(t.Context(), "tally", sessions(10)); !errors.Is(err, bus.ErrGap) {
		t.Errorf("behind a gap: %v", err)
	}
	for range 100 {
		at := l.publish(schemas.Event{ID: bus.NewID(), Time: epoch, Aggregate: schemas.Memory("m"), Actor: schemas.Writ("test"), Data: schemas.DriftRaised{Alarm: "a"}})
		if err := r.WaitFor(t.Context(), "tally", at); err != nil {
			t.Fatalf("in another stream: %v", err)
		}
	}
}

func TestPanicStopsTheViewOnly(t *testing.T) {
	l, s := newMemoryLog(), openStore(t, vfs.NewMem())
	defer s.Close()
	prompts(l, 3)
	r := start(t, l, s, projections.Options{}, tally{apply: func(e schemas.Event) error {
		if e.ID == "s-2" {
			panic("nil map")
		}
		return nil
	}}, projections.NewSessions(nil))
	if err := r.WaitFor(context.Background(), "sessions", sessions(3)); err != nil {
		t.Fatal(err)
	}
	if err := r.WaitFor(context.Background(), "tally", sessions(3)); !errors.Is(err, projections.ErrStopped) {
		t.Fatal(err)
	}
	if st := r.Status()[0]; st.Failed == nil || st.Failed.Position != sessions(2) {
		t.Errorf("status %+v", st)
	}
}

func TestBadProjectors(t *testing.T) {
	s := openStore(t, vfs.NewMem())
	defer s.Close()
	for name, ps := range map[string][]projections.Projector{
		"twice":   {tally{}, tally{}},
		"version": {bumped{tally{}, -1}},
		"type":    {tally{types: []schemas.Type{"thing.happened"}}},
		"name":    {projections.NewFold("a/b", 1, nil, foldSession)},
	} {
		if _, err := projections.NewRuntime(newMemoryLog(), s, projections.Options{}, ps...); !errors.Is(err, projections.ErrBadProjector) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

var _ projections.Store = (*pebblestore.Store)(nil)

// A store that refuses a commit is asked again, and nothing counts twice: not
// in the store and not in what a projector keeps in memory.
func TestStoreTroubleIsRetried(t *testing.T) {
	l, inner := newMemoryLog(), openStore(t, vfs.NewMem())
	defer inner.Close()
	prompts(l, 9)
	var mu sync.Mutex
	calls := 0
	s := &crashingStore{Store: inner, refuse: func() error {
		mu.Lock()
		defer mu.Unlock()
		if calls++; calls%7 == 0 {
			return errors.New("no space")
		}
		return nil
	}}
	fold := sessionFold()
	r := start(t, l, s, projections.Options{MaxBatch: 2}, tally{types: []schemas.Type{"prompt.submitted"}}, fold)
	prompts(l, 9)
	for _, view := range []string{"tally", fold.Name()} {
		if err := r.WaitFor(context.Background(), view, sessions(18)); err != nil {
			t.Fatal(err)
		}
	}
	r.want("all", 18)
	rd := r.reader(fold.Name())
	defer rd.Close()
	state, _, _, err := fold.Load(rd, schemas.Session("s"))
	if err != nil || state.Prompts != 18 {
		t.Errorf("%d prompts, %v", state.Prompts, err)
	}
}

// stutteringLog hands the first record of every read over twice.
type stutteringLog struct{ *memoryLog }

func (l stutteringLog) Follow(ctx context.Context, s schemas.Stream, after uint64, maxBatch int, untilEnd bool, fn func([]schemas.Record) error) error {
	again := after > 0
	return l.memoryLog.Follow(ctx, s, after, maxBatch, untilEnd, func(records []schemas.Record) error {
		if err := fn(records); err != nil || again {
			return err
		}
		again = true
		return fn(records)
	})
}

func TestRedeliveredRecordsCountOnce(t *testing.T) {
	l, s := newMemoryLog(), openStore(t, vfs.NewMem())
	defer s.Close()
	prompts(l, 6)
	r := start(t, stutteringLog{l}, s, projections.Options{MaxBatch: 2}, tally{types: []schemas.Type{"prompt.submitted"}})
	if err := r.WaitFor(context.Background(), "tally", sessions(6)); err != nil {
		t.Fatal(err)
	}
	r.want("all", 6)
}

// TestAStopEndsWithinABatch: whoever asks the daemon to stop does not wait for the
// rest of ten thousand records, which the next start reads again.
func TestAStopEndsWithinABatch(t *testing.T) {
	const many, last = 3000, 100
	for _, before := range []int{0, 1} { // of a first build, and of a view in use
		t.Run(fmt.Sprint(before), func(t *testing.T) {
			l, s := newMemoryLog(), openStore(t, vfs.NewMem())
			defer s.Close()
			seen, reached, goOn := 0, make(chan struct{}), make(chan struct{})
			r := start(t, l, s, projections.Options{Linger: -1}, tally{apply: func(schemas.Event) error {
				if seen++; seen == last {
					close(reached)
					<-goOn
				}
				return nil
			}})
			prompts(l, before)
			r.caughtUp()
			prompts(l, many)
			<-reached
			r.cancel()
			close(goOn)
			<-r.done
			if seen != last {
				t.Errorf("%d events were applied after the stop", seen-last)
			}
			r = start(t, l, s, projections.Options{}, tally{})
			r.caughtUp()
			r.want("all", uint64(before+many))
		})
	}
}
