package bus_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/bustest"
	"github.com/writbus/writ/schemas"
)

// patience bounds waiting for what must happen; no result depends on it.
const patience = 5 * time.Minute

// wholeLog is the part of bus.Conn that the suite covers, with the append that is
// below Decide and Record.
type wholeLog interface {
	EnsureStreams(ctx context.Context, r bus.Retention) error
	Append(ctx context.Context, main schemas.Event, also []schemas.Payload, e bus.Expect) (schemas.Position, error)
	Tail(ctx context.Context, a schemas.Aggregate, after uint64) iter.Seq2[schemas.Record, error]
	LastOf(ctx context.Context, a schemas.Aggregate) (schemas.Record, error)
	Get(ctx context.Context, s schemas.Stream, seq uint64) (schemas.Record, error)
	State(ctx context.Context, s schemas.Stream) (bus.StreamState, error)
	Follow(ctx context.Context, s schemas.Stream, after uint64, o bus.FollowOptions, fn func([]schemas.Record) error) error
}

// keepsPromises runs the suite of promises that the fake and the server both keep. open
// returns an empty log without streams, for one sub-test each.
func keepsPromises(t *testing.T, open func(t *testing.T) wholeLog) {
	t.Helper()
	for _, c := range []struct {
		name string
		run  func(*testing.T, *fixture)
	}{
		{"Ensure", testEnsure},
		{"RoundTrip", testRoundTrip},
		{"Retry", testRetry},
		{"Conflict", testConflict},
		{"StrangeIDs", testStrangeIDs},
		{"Refusals", testRefusals},
		{"Order", testOrder},
		{"TwoAppenders", testTwoAppenders},
		{"Concurrent", testConcurrent},
		{"Tail", testTail},
		{"Lookups", testLookups},
		{"State", testState},
		{"FollowBatches", testFollowBatches},
		{"FollowWaits", testFollowWaits},
		{"FollowBeyondEnd", testFollowBeyondEnd},
		{"FollowError", testFollowError},
		{"FollowEnds", testFollowEnds},
		{"SlowReader", testSlowReader},
		{"OwnRecords", testOwnRecords},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			t.Cleanup(cancel)
			f := &fixture{wholeLog: open(t), ctx: ctx}
			if c.name != "Ensure" {
				f.must(t, f.EnsureStreams(ctx, bus.Retention{}))
			}
			c.run(t, f)
		})
	}
}

type fixture struct {
	wholeLog
	ctx context.Context
}

func (f *fixture) must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (f *fixture) append(t *testing.T, session, id string, e bus.Expect) uint64 {
	t.Helper()
	p, err := f.Append(f.ctx, bustest.Event(session, id, "prompt of "+id), nil, e)
	f.must(t, err)
	return p.Seq
}

func (f *fixture) fill(t *testing.T, session string, n int) {
	t.Helper()
	for i := range n {
		f.append(t, session, fmt.Sprintf("%s-%d", session, i), bus.Any())
	}
}

func (f *fixture) ids(t *testing.T, after uint64) []string {
	t.Helper()
	var ids []string
	f.must(t, f.Follow(f.ctx, schemas.StreamSessions, after, bus.FollowOptions{UntilEnd: true}, func(batch []schemas.Record) error {
		for _, r := range batch {
			ids = append(ids, r.ID())
		}
		return nil
	}))
	return ids
}

func wantError(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("got error %v, want %v", err, want)
	}
}

func testEnsure(t *testing.T, f *fixture) {
	_, err := f.State(f.ctx, schemas.StreamSessions)
	wantError(t, err, bus.ErrNotFound)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if err := f.EnsureStreams(f.ctx, bus.Retention{}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	f.append(t, "s", "1", bus.Any())
	f.must(t, f.EnsureStreams(f.ctx, bus.Retention{}))
	for _, s := range schemas.Streams() {
		_, err := f.State(f.ctx, s)
		f.must(t, err)
	}
	if got := f.ids(t, 0); len(got) != 1 {
		t.Fatalf("after a second EnsureStreams the stream holds %v", got)
	}
}

func testRoundTrip(t *testing.T, f *fixture) {
	event := bustest.Event("s", "0199", "hello")
	event.CausationID, event.CorrelationID = "cause", "turn 1"
	also := []schemas.Payload{schemas.ToolDecided{Tool: "Write", Verdict: "deny"}, schemas.GateDrifted{Gate: "plan"}}
	position, err := f.Append(f.ctx, event, also, bus.LastSeq(0))
	f.must(t, err)
	if position != (schemas.Position{Stream: schemas.StreamSessions, Seq: 1}) {
		t.Fatalf("appended at %+v", position)
	}
	record, err := f.Get(f.ctx, schemas.StreamSessions, 1)
	f.must(t, err)
	want, err := schemas.Encode(event, also...)
	f.must(t, err)
	if diff := cmp.Diff(want, record.Message); diff != "" {
		t.Fatalf("the stored message differs from the encoded one (-want +got):\n%s", diff)
	}
	events, err := record.Events()
	f.must(t, err)
	if len(events) != 3 || events[2].Position != (schemas.Position{Stream: schemas.StreamSessions, Seq: 1, Part: 2}) {
		t.Fatalf("read back as %+v", events)
	}
}

// testRetry repeats appends at once, and after others have followed.
func testRetry(t *testing.T, f *fixture) {
	first := f.append(t, "s", "a", bus.LastSeq(0))
	f.append(t, "other", "x", bus.LastSeq(0))
	second := f.append(t, "s", "b", bus.LastSeq(first))
	for _, c := range []struct {
		of, id string
		e      bus.Expect
		want   uint64
	}{
		{"s", "b", bus.LastSeq(first), second},
		{"s", "b", bus.LastOfStream(second - 1), second},
		{"other", "x", bus.LastOfStream(first), first + 1},
		{"s", "a", bus.LastSeq(0), first},
		{"s", "a", bus.Any(), first},
		{"s", "b", bus.Any(), second},
	} {
		if got := f.append(t, c.of, c.id, c.e); got != c.want {
			t.Errorf("retry of %s expecting %s: position %d, want %d", c.id, c.e, got, c.want)
		}
	}
	if got := f.ids(t, 0); !slices.Equal(got, []string{"a", "x", "b"}) {
		t.Fatalf("the stream holds %v", got)
	}
}

func testConflict(t *testing.T, f *fixture) {
	first := f.append(t, "s", "a", bus.LastSeq(0))
	other := f.append(t, "other", "x", bus.LastSeq(0))
	second := f.append(t, "s", "b", bus.LastSeq(first))
	for _, e := range []bus.Expect{
		bus.LastSeq(0), bus.LastSeq(first), bus.LastSeq(other), bus.LastSeq(second + 1),
		bus.LastOfStream(0), bus.LastOfStream(other), bus.LastOfStream(second + 1),
	} {
		_, err := f.Append(f.ctx, bustest.Event("s", "new", "p"), nil, e)
		if !errors.Is(err, bus.ErrConflict) {
			t.Errorf("expecting %s: got %v, want a conflict", e, err)
		}
	}
	if got := f.append(t, "s", "c", bus.LastSeq(second)); got != second+1 {
		t.Fatalf("appended at %d", got)
	}
	if got := f.append(t, "third", "d", bus.LastOfStream(second+1)); got != second+2 {
		t.Fatalf("expecting the stream's last: appended at %d", got)
	}
}

// testStrangeIDs: aggregates whose ids would be wildcards or several tokens
// stay apart, in expectations and in reads.
func testStrangeIDs(t *testing.T, f *fixture) {
	ids := []string{"*", ">", "a.b", "a", "a b", "ä/ö", "=", "A", strings.Repeat("x.", schemas.MaxIDBytes/2)}
	for i, id := range ids {
		f.append(t, id, fmt.Sprint("event-", i), bus.LastSeq(0))
	}
	for i, id := range ids {
		record, err := f.LastOf(f.ctx, schemas.Session(id))
		f.must(t, err)
		if want := fmt.Sprint("event-", i); record.ID() != want {
			t.Errorf("last of %q is %s, want %s", id, record.ID(), want)
		}
	}
}

func testRefusals(t *testing.T, f *fixture) {
	_, err := f.Append(f.ctx, bustest.Event("s", "", "p"), nil, bus.Any())
	wantError(t, err, schemas.ErrInvalid)
	_, err = f.Append(f.ctx, bustest.Event("", "1", "p"), nil, bus.Any())
	wantError(t, err, schemas.ErrInvalid)
	_, err = f.Append(f.ctx, bustest.Event("s", "1", strings.Repeat("x", maxPayload+1)), nil, bus.Any())
	wantError(t, err, bus.ErrTooLarge)
	_, err = f.LastOf(f.ctx, schemas.Session(""))
	wantError(t, err, schemas.ErrInvalid)
	_, err = f.LastOf(f.ctx, schemas.Session("none"))
	wantError(t, err, bus.ErrNotFound)
	ended, cancel := context.WithCancel(f.ctx)
	cancel()
	_, err = f.Append(ended, bustest.Event("s", "1", "p"), nil, bus.Any())
	wantError(t, err, context.Canceled)
	if got := f.ids(t, 0); len(got) != 0 {
		t.Fatalf("refused events were stored: %v", got)
	}
}
