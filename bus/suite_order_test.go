package bus_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/bustest"
	"github.com/writbus/writ/schemas"
)

func testOrder(t *testing.T, f *fixture) {
	var want []string
	for i := range 50 {
		id := fmt.Sprint("e", i)
		if got := f.append(t, fmt.Sprint("s", i%7), id, bus.Any()); got != uint64(i)+1 {
			t.Fatalf("append %d has sequence %d", i, got)
		}
		want = append(want, id)
	}
	if got := f.ids(t, 0); !slices.Equal(got, want) {
		t.Fatalf("read back as %v", got)
	}
	if got := f.ids(t, 20); !slices.Equal(got, want[20:]) {
		t.Fatalf("read back after 20 as %v", got)
	}
}

// testTwoAppenders: of two that expect the same, one wins, in every round.
func testTwoAppenders(t *testing.T, f *fixture) {
	last := uint64(0)
	for round := range 50 {
		var (
			both sync.WaitGroup
			wins atomic.Int32
			at   atomic.Uint64
		)
		for appender := range 2 {
			both.Go(func() {
				p, err := f.Append(f.ctx, bustest.Event("s", fmt.Sprintf("%d-%d", round, appender), "p"), nil, bus.LastSeq(last))
				switch {
				case err == nil:
					wins.Add(1)
					at.Store(p.Seq)
				case !errors.Is(err, bus.ErrConflict):
					t.Error(err)
				}
			})
		}
		both.Wait()
		if wins.Load() != 1 {
			t.Fatalf("round %d: %d appends were accepted", round, wins.Load())
		}
		last = at.Load()
	}
}

// testConcurrent: two hundred appends to one aggregate, each retried until it
// is in, leave each event once, without a gap.
func testConcurrent(t *testing.T, f *fixture) {
	const appends, appenders = 200, 8
	var (
		all       sync.WaitGroup
		next      atomic.Int32
		conflicts atomic.Int32
		positions sync.Map
	)
	for range appenders {
		all.Go(func() {
			for i := next.Add(1); i <= appends; i = next.Add(1) {
				id := fmt.Sprint("e", i)
				seq, lost, err := f.insist(id)
				if err != nil {
					t.Error(err)
					return
				}
				conflicts.Add(int32(lost))
				positions.Store(seq, id)
			}
		})
	}
	all.Wait()
	got := f.ids(t, 0)
	if len(got) != appends {
		t.Fatalf("the stream holds %d events, want %d", len(got), appends)
	}
	for i, id := range got {
		if told, ok := positions.Load(uint64(i) + 1); !ok || told != id {
			t.Fatalf("sequence %d holds %s, its appender was told of %v", i+1, id, told)
		}
	}
	t.Logf("%d conflicts", conflicts.Load())
}

// insist loads, appends and tries again, as a writer does.
func (f *fixture) insist(id string) (seq uint64, conflicts int, err error) {
	for {
		last, err := f.LastOf(f.ctx, schemas.Session("s"))
		if err != nil && !errors.Is(err, bus.ErrNotFound) {
			return 0, conflicts, err
		}
		p, err := f.Append(f.ctx, bustest.Event("s", id, "p"), nil, bus.LastSeq(last.Seq))
		if errors.Is(err, bus.ErrConflict) {
			conflicts++
			continue
		}
		return p.Seq, conflicts, err
	}
}

// longTail is more records than one answer of a server holds.
const longTail = 1100

func testTail(t *testing.T, f *fixture) {
	for i := range 30 {
		f.append(t, fmt.Sprint("s", i%3), fmt.Sprint("e", i), bus.Any())
	}
	for _, c := range []struct {
		session string
		after   uint64
		want    []uint64
	}{
		{"s0", 0, []uint64{1, 4, 7, 10, 13, 16, 19, 22, 25, 28}},
		{"s0", 22, []uint64{25, 28}},
		{"s1", 23, []uint64{26, 29}},
		{"s1", 29, nil},
		{"s1", 1000, nil},
		{"nobody", 0, nil},
	} {
		var got []uint64
		for record, err := range f.Tail(f.ctx, schemas.Session(c.session), c.after) {
			f.must(t, err)
			got = append(got, record.Seq)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("tail of %s after %d: %v, want %v", c.session, c.after, got, c.want)
		}
	}
	f.fill(t, "long", longTail)
	for _, after := range []int{0, 30 + 7} {
		want := uint64(max(after, 30))
		for record, err := range f.Tail(f.ctx, schemas.Session("long"), uint64(after)) {
			f.must(t, err)
			if want++; record.Seq != want || len(record.Message.Header) == 0 || record.Message.Header.Get("Nats-Num-Pending") != "" {
				t.Fatalf("after %d: record %d, want %d: %v", after, record.Seq, want, record.Message.Header)
			}
		}
		if want != 30+longTail {
			t.Errorf("a long tail after %d ends at %d", after, want)
		}
	}
	for record, err := range f.Tail(f.ctx, schemas.Session("s0"), 0) {
		f.must(t, err)
		if record.Seq > 1 {
			t.Fatal("went on after the loop was left")
		}
		break
	}
}

func testLookups(t *testing.T, f *fixture) {
	f.fill(t, "s", 5)
	f.fill(t, "other", 1)
	last, err := f.LastOf(f.ctx, schemas.Session("s"))
	f.must(t, err)
	if last.Seq != 5 || last.ID() != "s-4" || last.Stream != schemas.StreamSessions {
		t.Fatalf("last is %+v", last)
	}
	got, err := f.Get(f.ctx, schemas.StreamSessions, 3)
	f.must(t, err)
	if got.Seq != 3 || got.ID() != "s-2" {
		t.Fatalf("record 3 is %+v", got)
	}
	for _, seq := range []uint64{0, 7} {
		_, err := f.Get(f.ctx, schemas.StreamSessions, seq)
		wantError(t, err, bus.ErrNotFound)
	}
	_, err = f.Get(f.ctx, schemas.StreamRules, 1)
	wantError(t, err, bus.ErrNotFound)
	_, err = f.Get(f.ctx, "NO_SUCH_STREAM", 1)
	wantError(t, err, bus.ErrNotFound)
}

func testState(t *testing.T, f *fixture) {
	state, err := f.State(f.ctx, schemas.StreamSessions)
	f.must(t, err)
	if state.Last != 0 || state.Messages != 0 {
		t.Fatalf("an empty stream is %+v", state)
	}
	f.fill(t, "s", 3)
	state, err = f.State(f.ctx, schemas.StreamSessions)
	f.must(t, err)
	if state.First != 1 || state.Last != 3 || state.Messages != 3 || state.Bytes == 0 {
		t.Fatalf("a stream of three is %+v", state)
	}
}
