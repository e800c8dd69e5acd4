package projections

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/writbus/writ/schemas"
)

func TestPaceTellsWhatIsLeft(t *testing.T) {
	began := time.Unix(1000, 0)
	p := pace{began: began, from: 100, ends: map[schemas.Stream]uint64{schemas.StreamSessions: 1000, schemas.StreamRules: 100}}
	for _, c := range []struct {
		sessions, rules uint64
		after           time.Duration
		done            float64
		left            time.Duration
	}{
		{100, 0, 0, 100. / 1100, 0}, // nothing is known of its pace
		{600, 0, 10 * time.Second, 600. / 1100, 10 * time.Second},
		{1000, 100, 20 * time.Second, 1, 0},
		{5000, 100, 20 * time.Second, 1, 0}, // more came meanwhile
	} {
		done, left := p.left(map[schemas.Stream]uint64{schemas.StreamSessions: c.sessions, schemas.StreamRules: c.rules}, began.Add(c.after))
		if done != c.done || left != c.left {
			t.Errorf("%+v: %v and %v left", c, done, left)
		}
	}
	if done, left := (pace{}).left(nil, began); done != 1 || left != 0 {
		t.Errorf("of nothing: %v and %v left", done, left)
	}
}

// TestBuildsLetOthersGoFirst: a build stands still while somebody waits for an
// answer, and not for good where somebody always does.
func TestBuildsLetOthersGoFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f first
		waited := func() time.Duration {
			began := time.Now()
			f.wait()
			return time.Since(began)
		}
		if d := waited(); d != 0 {
			t.Errorf("waited %v for nobody", d)
		}
		leave, other := f.enter(), f.enter()
		if d := waited(); d != firstMost {
			t.Errorf("waited %v for one that does not leave", d)
		}
		if d := waited(); d != 0 {
			t.Errorf("waited %v again without a rest", d)
		}
		time.Sleep(firstRest)
		time.AfterFunc(time.Millisecond, leave)
		time.AfterFunc(2*time.Millisecond, other)
		if d := waited(); d != 2*time.Millisecond {
			t.Errorf("waited %v for two that leave after 1 and 2 ms", d)
		}
		if d := waited(); d != 0 {
			t.Errorf("waited %v after all left", d)
		}
	})
}

// writesLast is a projector that writes all of a batch at its end.
type writesLast struct{}

func (writesLast) Name() string                           { return "last" }
func (writesLast) Version() int                           { return 1 }
func (writesLast) Types() []schemas.Type                  { return nil }
func (writesLast) Apply(View, schemas.Event) error        { return nil }
func (writesLast) ApplyRecord(View, schemas.Record) error { return nil }
func (writesLast) Begin()                                 {}
func (writesLast) Flush(v View) error {
	time.Sleep(firstRest)
	for i := range 2 * turnRecords {
		if err := v.Set(fmt.Append(nil, i), nil); err != nil {
			return err
		}
	}
	return nil
}

// commitsLate is a store that takes as long as others may wait.
type commitsLate struct{ Store }

func (commitsLate) Commit(write func(Batch) error) error {
	time.Sleep(firstRest)
	return write(nowhere{})
}

type nowhere struct{ Batch }

func (nowhere) Set([]byte, []byte) error { return nil }

// TestWritesAtTheEndOfABatchLetOthersGoFirst, as its records do, and their commit.
func TestWritesAtTheEndOfABatchLetOthersGoFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f first
		defer f.enter()()
		v := &runner{p: writesLast{}, first: &f, store: commitsLate{}}
		records := make([]schemas.Record, 2*liveRecords)
		for i := range records {
			records[i].Seq = uint64(i + 1)
		}
		gen := &generation{batch: newBatch(nil, nil), checkpoints: checkpoints{}}
		began := time.Now()
		if _, err := v.commit(t.Context(), gen, schemas.StreamSessions, records); err != nil {
			t.Fatal(err)
		}
		if d, want := time.Since(began), 3*firstMost+2*firstRest; d != want {
			t.Errorf("took %v, want %v", d, want)
		}
		if gen.batch.turn != nil {
			t.Error("writes of the next batch would wait")
		}
	})
}

// CaughtUp returns once every view shows what the log held at the call. It
// returns at once with ErrStopped for a view that cannot get there.
func (r *Runtime) CaughtUp(ctx context.Context) error {
	ends := map[schemas.Stream]uint64{}
	for _, v := range r.order {
		for _, s := range v.in.streams {
			end, known := ends[s]
			if !known {
				_, last, err := r.log.Bounds(ctx, s)
				if err != nil {
					return fmt.Errorf("projections: end of %s: %w", s, err)
				}
				end, ends[s] = last, last
			}
			if err := v.waitFor(ctx, s, end, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// unwritable is a store without anything in it, that stays so.
type unwritable struct{ Store }

func (unwritable) Get([]byte) ([]byte, bool, error) { return nil, false, nil }
func (unwritable) Commit(func(Batch) error) error   { return errUnwritable }

var errUnwritable = errors.New("nothing is written")

// boundless is a log of which nobody knows the end. Who asks is counted.
type boundless struct {
	Log
	asked int
}

func (l *boundless) Bounds(context.Context, schemas.Stream) (first, last uint64, err error) {
	l.asked++
	return 0, 0, errUnwritable
}

// TestLargeBuildsBeginInOrder: what hooks read is built first, as it stands first, and
// one that cannot begin holds nobody up.
func TestLargeBuildsBeginInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &boundless{}
		r, err := NewRuntime(log, unwritable{}, Options{}, writesLast{}, NewVerdicts(), NewActivity())
		if err != nil {
			t.Fatal(err)
		}
		r.order[1].begun() // with little to read, beside all others
		second := r.order[2]
		second.pace.ends = map[schemas.Stream]uint64{second.in.streams[0]: smallBuild + 1}
		built := make(chan error, 1)
		go func() { built <- second.build(t.Context(), nil) }()
		synctest.Wait()
		if log.asked > 0 {
			t.Fatal("the second large view was built before the first")
		}
		ctx, cancel := context.WithCancel(t.Context())
		go r.order[0].run(ctx)
		if err := <-built; !errors.Is(err, errUnwritable) || log.asked != 1 {
			t.Errorf("the second build: %v, and it asked %d times", err, log.asked)
		}
		cancel()
	})
}
