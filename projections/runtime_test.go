package projections_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/projections/pebblestore"
	"github.com/writbus/writ/schemas"
)

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// tally counts events by type and keeps their number in one more key. An
// event that is applied twice or left out shows.
type tally struct {
	version int
	types   []schemas.Type
	apply   func(schemas.Event) error
}

func (tally) Name() string            { return "tally" }
func (t tally) Version() int          { return max(t.version, 1) }
func (t tally) Types() []schemas.Type { return t.types }

func (t tally) Apply(v projections.View, e schemas.Event) error {
	if t.apply != nil {
		if err := t.apply(e); err != nil {
			return err
		}
	}
	for _, key := range []string{"all", string(e.Type())} {
		value, _, err := v.Get([]byte(key))
		if err != nil {
			return err
		}
		var n uint64
		if len(value) == 8 {
			n = binary.BigEndian.Uint64(value)
		}
		if err := v.Set([]byte(key), binary.BigEndian.AppendUint64(nil, n+1)); err != nil {
			return err
		}
	}
	return nil
}

func count(t testing.TB, r projections.Reader, key string) uint64 {
	t.Helper()
	value, found, err := r.Get([]byte(key))
	if err != nil {
		t.Fatal(err)
	}
	if !found {
		return 0
	}
	return binary.BigEndian.Uint64(value)
}

func prompt(session string, n int) schemas.Event {
	return schemas.Event{
		ID:        fmt.Sprintf("%s-%d", session, n),
		Time:      epoch.Add(time.Duration(n) * time.Second),
		Aggregate: schemas.Session(session),
		Actor:     schemas.ParseActor("user"),
		Data:      schemas.PromptSubmitted{Prompt: fmt.Sprintf("prompt %d", n)},
	}
}

func prompts(l *memoryLog, n int) {
	from := l.len(schemas.StreamSessions)
	for i := range n {
		l.publish(prompt("s", from+i+1))
	}
}

func sessions(seq int) schemas.Position {
	return schemas.Position{Stream: schemas.StreamSessions, Seq: uint64(seq)}
}

func openStore(t testing.TB, fs vfs.FS) *pebblestore.Store {
	t.Helper()
	s, err := pebblestore.Open("views", pebblestore.Options{FS: fs})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// running is a runtime that runs until stop.
type running struct {
	*projections.Runtime
	t      testing.TB
	cancel context.CancelFunc
	done   chan struct{}
}

func start(t testing.TB, l projections.Log, s projections.Store, opt projections.Options, ps ...projections.Projector) *running {
	t.Helper()
	opt.Retry = time.Microsecond
	rt, err := projections.NewRuntime(l, s, opt, ps...)
	if err != nil {
		t.Fatal(err)
	}
	return run(t, rt)
}

func run(t testing.TB, rt *projections.Runtime) *running {
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{Runtime: rt, t: t, cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(r.done)
		if err := rt.Run(ctx); err != nil {
			t.Errorf("run: %v", err)
		}
	}()
	t.Cleanup(r.stop)
	return r
}

func (r *running) stop() {
	r.cancel()
	<-r.done
}

func (r *running) caughtUp() {
	r.t.Helper()
	if err := r.CaughtUp(context.Background()); err != nil {
		r.t.Fatal(err)
	}
}

// reader opens a reader that the test closes.
func (r *running) reader(view string) projections.Reader {
	r.t.Helper()
	rd, err := r.Reader(view)
	if err != nil {
		r.t.Fatal(err)
	}
	return rd
}

func (r *running) want(key string, n uint64) {
	r.t.Helper()
	rd := r.reader("tally")
	defer rd.Close()
	if got := count(r.t, rd, key); got != n {
		r.t.Errorf("%s: %d, want %d", key, got, n)
	}
}

func TestFollowsAndResumes(t *testing.T) {
	l, fs := newMemoryLog(), vfs.NewMem()
	for round := range 4 {
		prompts(l, 7)
		s := openStore(t, fs)
		r := start(t, l, s, projections.Options{MaxBatch: 3}, tally{})
		r.caughtUp()
		r.want("all", uint64(round*10+7))
		prompts(l, 3)
		if err := r.WaitFor(context.Background(), "tally", sessions(round*10+10)); err != nil {
			t.Fatal(err)
		}
		r.want("prompt.submitted", uint64(round*10+10))
		if st := r.Status()[0]; st.State != projections.Live || st.Streams[0].Lag != 0 {
			t.Errorf("status %+v", st)
		}
		if round > 0 && r.Status()[0].Reason != "" {
			t.Errorf("rebuilt: %s", r.Status()[0].Reason)
		}
		r.stop()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestLostTailRebuilds(t *testing.T) {
	l, fs := newMemoryLog(), vfs.NewMem()
	prompts(l, 10)
	s := openStore(t, fs)
	defer s.Close()
	r := start(t, l, s, projections.Options{}, tally{})
	r.caughtUp()
	r.stop()

	l.truncate(schemas.StreamSessions, 6)
	r = start(t, l, s, projections.Options{}, tally{})
	r.caughtUp()
	r.want("all", 6)
	if reason := r.Status()[0].Reason; !strings.Contains(reason, "beyond the stream's end 6") {
		t.Errorf("reason %q", reason)
	}
	r.stop()

	l.truncate(schemas.StreamSessions, 5)
	l.publish(prompt("other", 1))
	l.publish(prompt("other", 2))
	r = start(t, l, s, projections.Options{}, tally{})
	r.caughtUp()
	r.want("all", 7)
	if reason := r.Status()[0].Reason; !strings.Contains(reason, `event "other-1"`) {
		t.Errorf("reason %q", reason)
	}
}

func TestFailingApplyStops(t *testing.T) {
	boom := errors.New("boom")
	for _, size := range []int{1, 2, 3, 100} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			l, s := newMemoryLog(), openStore(t, vfs.NewMem())
			defer s.Close()
			prompts(l, 3)
			failing := tally{apply: func(e schemas.Event) error {
				if e.ID == "s-5" {
					return boom
				}
				return nil
			}}
			r := start(t, l, s, projections.Options{MaxBatch: size}, failing)
			r.caughtUp()
			prompts(l, 6)
			err := r.WaitFor(context.Background(), "tally", sessions(9))
			if !errors.Is(err, projections.ErrStopped) || !errors.Is(err, boom) {
				t.Fatalf("wait: %v", err)
			}
			if err := r.WaitFor(context.Background(), "tally", sessions(4)); err != nil {
				t.Errorf("what was applied: %v", err)
			}
			r.want("all", 4)
			st := r.Status()[0]
			if st.State != projections.Stopped || st.Failed == nil || st.Failed.ID != "s-5" || st.Streams[0].Lag != 5 {
				t.Errorf("status %+v", st)
			}
			r.stop()
			r = start(t, l, s, projections.Options{MaxBatch: size}, tally{})
			r.caughtUp()
			r.want("all", 9)
		})
	}
}

// askedStore counts what is read from a store.
type askedStore struct {
	projections.Store
	asked atomic.Int64
}

func (s *askedStore) Get(key []byte) ([]byte, bool, error) {
	s.asked.Add(1)
	return s.Store.Get(key)
}

// hoard writes a value of its own for each event, and reads the one of so many before.
type hoard struct {
	tally
	seen, back int
}

func (h *hoard) Apply(v projections.View, _ schemas.Event) error {
	h.seen++
	_, _, err := v.Get([]byte(strconv.Itoa(h.seen - h.back)))
	return errors.Join(err, v.Set([]byte(strconv.Itoa(h.seen)), make([]byte, 1000)))
}

// TestAViewThatServesKeepsLittleOfWhatItWrote: what it keeps of committed values would
// grow for hours else, to as much as a build may keep, in each view.
func TestAViewThatServesKeepsLittleOfWhatItWrote(t *testing.T) {
	l, s := newMemoryLog(), openStore(t, vfs.NewMem())
	defer func() { _ = s.Close() }()
	asked, h := &askedStore{Store: s}, &hoard{}
	r := start(t, l, asked, projections.Options{}, h)
	for range 300 {
		prompts(l, 10)
		r.caughtUp()
	}
	for back, kept := range map[int]bool{1: true, 1500: false} {
		h.back = back
		before := asked.asked.Load()
		prompts(l, 1)
		r.caughtUp()
		if read := asked.asked.Load() - before; (read == 0) != kept {
			t.Errorf("%d values ago: %d were read, kept: %t", back, read, kept)
		}
	}
	r.stop()
}

func TestRelaxedViewsReadAgainWhatTheyKept(t *testing.T) {
	l, s := newMemoryLog(), openStore(t, vfs.NewMem())
	defer func() { _ = s.Close() }()
	asked := &askedStore{Store: s}
	r := start(t, l, asked, projections.Options{}, tally{})
	r.Relax() // whether or not it has begun
	for round, relaxed := range []bool{false, false, true, false} {
		if relaxed {
			r.Relax()
		}
		before := asked.asked.Load()
		prompts(l, 5)
		r.caughtUp()
		r.want("all", uint64(5*(round+1)))
		if read := asked.asked.Load() - before; round > 0 && (read > 0) != relaxed {
			t.Errorf("round %d: %d values were read, relaxed: %t", round, read, relaxed)
		}
	}
	r.stop()
}
