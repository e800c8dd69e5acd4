package bus_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/bustest"
	"github.com/writbus/writ/bus/embedded"
	"github.com/writbus/writ/schemas"
)

// fillWith appends prompts of these lengths.
func fillWith(t testing.TB, c *bus.Conn, lengths ...int) {
	t.Helper()
	for i, n := range lengths {
		_, err := c.Append(t.Context(), bustest.Event(fmt.Sprint("s-", i%7), fmt.Sprint("e", i), strings.Repeat("x", n)), nil, bus.Any())
		must(t, err)
	}
}

// TestBulkEqualsSingleReads: what Follow reads in bulk is what stands in the
// log, also where records are larger than what is received at once and where a
// role reads across accounts.
func TestBulkEqualsSingleReads(t *testing.T) {
	defer bus.SetBulkLeast(1)()
	own, trusted, err := embedded.Identity(t.TempDir())
	must(t, err)
	h := newHost(t, embedded.Options{Durability: embedded.Interval, TLS: own})
	c := daemon(t, h)
	secure := h.as(embedded.RoleDashboard)
	secure.TLS, err = bus.TLS{CA: trusted}.Config()
	must(t, err)
	secure.TLS.ServerName = "localhost"
	lengths := make([]int, 300)
	for i := range lengths {
		lengths[i] = i * i % 700
	}
	lengths[17], lengths[18], lengths[200] = 300_000, 262_144, 1_500_000
	fillWith(t, c, lengths...)
	var want []schemas.Record
	for seq := range uint64(len(lengths)) {
		r, err := c.Get(t.Context(), schemas.StreamSessions, seq+1)
		must(t, err)
		want = append(want, r)
	}
	for name, options := range map[string]bus.Options{
		"tcp": h.as(embedded.RoleDaemon), "in process": h.inProcess(embedded.RoleDaemon), "dashboard": h.as(embedded.RoleDashboard), "with TLS": secure,
	} {
		for _, unparsed := range []bool{false, true} { // and read ahead, or in turn
			t.Run(fmt.Sprintf("%s, unparsed %t", name, unparsed), func(t *testing.T) {
				reader := connect(t, options)
				must(t, reader.WireWorks())
				var got []schemas.Record
				o := bus.FollowOptions{MaxBatch: 64, UntilEnd: true, Unparsed: unparsed, InTurn: unparsed}
				must(t, reader.Follow(t.Context(), schemas.StreamSessions, 0, o, func(batch []schemas.Record) error {
					got = append(got, batch...)
					return nil
				}))
				if len(got) != len(want) {
					t.Fatalf("%d records, want %d", len(got), len(want))
				}
				for i, r := range got {
					if (r.Message.Block != nil) != unparsed {
						t.Fatalf("record %d: a header of %d bytes is unparsed", i+1, len(r.Message.Block))
					}
					if r.Message = r.Message.Unfolded(); !reflect.DeepEqual(r, want[i]) {
						t.Fatalf("record %d: %.300v, want %.300v", i+1, r, want[i])
					}
				}
			})
		}
	}
}

// TestInTurnReadsNothingAhead: while a batch is handled, the server has sent no more
// than that.
func TestInTurnReadsNothingAhead(t *testing.T) {
	defer bus.SetBulkLeast(1)()
	h := newHost(t, embedded.Options{Durability: embedded.Interval})
	c := daemon(t, h)
	fillWith(t, c, make([]int, 1500)...)
	own := h.as(embedded.RoleDaemon)
	nc, err := nats.Connect(own.URL, nats.UserInfo(own.User, own.Password))
	must(t, err)
	defer nc.Close()
	js, err := jetstream.New(nc)
	must(t, err)
	stream, err := js.Stream(t.Context(), string(schemas.StreamSessions))
	must(t, err)
	handed := uint64(0)
	must(t, c.Follow(t.Context(), schemas.StreamSessions, 0, bus.FollowOptions{MaxBatch: 700, UntilEnd: true, InTurn: true}, func(batch []schemas.Record) error {
		handed += uint64(len(batch))
		readers := stream.ListConsumers(t.Context())
		for reader := range readers.Info() {
			if reader.Delivered.Consumer != handed {
				t.Errorf("%d records were sent, and %d handed over", reader.Delivered.Consumer, handed)
			}
		}
		return readers.Err()
	}))
	if handed != 1500 {
		t.Errorf("%d records, want 1500", handed)
	}
}

// TestFollowEndsWithWhatEndedIt: the cause of its context, whenever that comes, or the
// error of who takes the records, which goes before.
func TestFollowEndsWithWhatEndedIt(t *testing.T) {
	defer bus.SetBulkLeast(1)()
	h := newHost(t, embedded.Options{Durability: embedded.Interval})
	c := daemon(t, h)
	const records = 1500
	fillWith(t, c, make([]int, records)...)
	cause, own := errors.New("the cause"), errors.New("its own")
	for _, inTurn := range []bool{true, false} {
		for at := range 17 {
			for _, beside := range []bool{false, true} {
				for _, fails := range []bool{false, true} {
					ctx, cancel := context.WithCancelCause(t.Context())
					if at == 0 {
						cancel(cause)
					}
					batches, handed := 0, 0
					err := c.Follow(ctx, schemas.StreamSessions, 0, bus.FollowOptions{MaxBatch: 100, UntilEnd: true, InTurn: inTurn}, func(batch []schemas.Record) error {
						handed += len(batch)
						if batches++; batches != at {
							return nil
						}
						if beside {
							go cancel(cause)
						} else {
							cancel(cause)
						}
						if fails {
							return own
						}
						return nil
					})
					cancel(nil)
					switch whole := handed == records; {
					case fails && batches == at && at > 0:
						if !errors.Is(err, own) {
							t.Errorf("in turn %v, at %d: %v, want what it failed with", inTurn, at, err)
						}
					case !errors.Is(err, cause) && !(whole && err == nil):
						t.Errorf("in turn %v, at %d, beside %v, after %d records: %v", inTurn, at, beside, handed, err)
					}
				}
			}
		}
	}
}

// TestBulkSurvivesRestart restarts the server between the batches of a bulk
// read.
func TestBulkSurvivesRestart(t *testing.T) {
	defer bus.SetBulkLeast(1)()
	h := newHost(t, embedded.Options{Durability: embedded.Interval})
	fillWith(t, daemon(t, h), make([]int, 500)...)
	reader := connect(t, h.as(embedded.RoleDaemon))
	var restart sync.Once
	seen := uint64(0)
	must(t, reader.Follow(t.Context(), schemas.StreamSessions, 0, bus.FollowOptions{MaxBatch: 50, UntilEnd: true}, func(batch []schemas.Record) error {
		for _, r := range batch {
			if seen++; r.Seq != seen {
				t.Errorf("record %d, want %d", r.Seq, seen)
			}
		}
		restart.Do(func() {
			h.stop()
			h.start()
		})
		return nil
	}))
	if seen != 500 {
		t.Fatalf("%d records, want 500", seen)
	}
}

// TestBulkEndsWithItsContext while a batch is being handled.
func TestBulkEndsWithItsContext(t *testing.T) {
	defer bus.SetBulkLeast(1)()
	h := newHost(t, embedded.Options{Durability: embedded.Interval})
	c := daemon(t, h)
	fillWith(t, c, make([]int, 100)...)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	calls := 0
	err := c.Follow(ctx, schemas.StreamSessions, 0, bus.FollowOptions{MaxBatch: 10}, func([]schemas.Record) error {
		calls++
		cancel()
		return nil
	})
	if err == nil || ctx.Err() == nil || calls != 1 {
		t.Fatalf("%v after %d calls", err, calls)
	}
}

// FuzzWire feeds the reader anything a server might say: it never panics, and
// what it hands out is what came in.
func FuzzWire(f *testing.F) {
	f.Add([]byte("HMSG writ.a 1 $JS.ACK.S.c.1.7.3.99.0 12 17\r\nNATS/1.0\r\n\r\nhello\r\n"))
	f.Add([]byte("MSG a 1 5\r\nhello\r\nPING\r\nMSG b 1 r 0\r\n\r\n"))
	f.Add([]byte("MSG a 1 99999999999999999999\r\n"))
	f.Add([]byte("HMSG a 1 9 2\r\nxx\r\n"))
	f.Add([]byte("HMSG a 1 r $JS.ACK.d.h.S.c.1.7.3.99.0.x 0 0\r\n\r\n-ERR 'no'\r\n"))
	f.Fuzz(func(t *testing.T, said []byte) {
		for _, body := range bus.ReadWire(said) {
			if !bytes.Contains(said, body) {
				t.Fatalf("%q was not said", body)
			}
		}
	})
}

// TestPlaceOf reads both forms of a delivered message's reply subject.
func TestPlaceOf(t *testing.T) {
	for reply, want := range map[string][2]uint64{
		"$JS.ACK.S.c.1.7.3.99.0":            {7, 3},
		"$JS.ACK._.acc.S.c.1.12.13.99.0.xy": {12, 13},
		"$JS.ACK.hub.acc.S.c.1.12.13.99.0":  {12, 13},
	} {
		if stream, consumer, ok := bus.PlaceOf(reply); !ok || [2]uint64{stream, consumer} != want {
			t.Errorf("%s: %d, %d, %t", reply, stream, consumer, ok)
		}
	}
	for _, reply := range []string{"", "_INBOX.x", "$JS.ACK.S.c.1", "$JS.ACK.S.c.1.x.3.99.0", "$JS.ACK.S.c.1.7", "$JS.FC.S.c.1.7.3.99.0"} {
		if _, _, ok := bus.PlaceOf(reply); ok {
			t.Errorf("%q has a place", reply)
		}
	}
}
