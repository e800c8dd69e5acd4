package bus_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/bustest"
	"github.com/writbus/writ/bus/embedded"
	"github.com/writbus/writ/schemas"
)

func TestConnectErrors(t *testing.T) {
	t.Parallel()
	h := newHost(t, embedded.Options{})
	wrong := h.as(embedded.RoleHook)
	wrong.Password = "guess"
	anonymous := bus.Options{URL: h.server().URL()}
	inside := h.inProcess(embedded.RoleHook)
	inside.Password, inside.Timeout = "guess", 200*time.Millisecond
	nobody := bus.Options{URL: "nats://127.0.0.1:1"}
	for _, c := range []struct {
		name string
		o    bus.Options
		want error
	}{
		{"wrong password", wrong, bus.ErrBadCredentials},
		{"no user", anonymous, bus.ErrBadCredentials},
		{"wrong password in-process", inside, bus.ErrBadCredentials},
		{"nobody there", nobody, bus.ErrUnavailable},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := bus.Connect(t.Context(), c.o); !errors.Is(err, c.want) {
				t.Fatalf("got %v, want %v", err, c.want)
			}
		})
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := bus.Connect(ended, h.as(embedded.RoleHook)); !errors.Is(err, context.Canceled) {
		t.Fatalf("with an ended context: %v", err)
	}
}

// TestUnavailableWhileDown: calls fail at once, and succeed on the same
// connection once the server is back.
func TestUnavailableWhileDown(t *testing.T) {
	t.Parallel()
	h := newHost(t, embedded.Options{})
	c := daemon(t, h)
	_, err := c.Append(t.Context(), bustest.Event("s", "1", "p"), nil, bus.LastSeq(0))
	must(t, err)
	h.stop()
	if _, err = c.Append(t.Context(), bustest.Event("s", "2", "p"), nil, bus.LastSeq(1)); !errors.Is(err, bus.ErrUnavailable) {
		t.Fatalf("append: %v", err)
	}
	if _, err = c.LastOf(t.Context(), schemas.Session("s")); !errors.Is(err, bus.ErrUnavailable) {
		t.Fatalf("read: %v", err)
	}
	h.start()
	untilAvailable(t, func() error {
		p, err := c.Append(t.Context(), bustest.Event("s", "2", "p"), nil, bus.LastSeq(1))
		if err == nil && p.Seq != 2 {
			t.Errorf("appended at %d", p.Seq)
		}
		return err
	})
	c.Close()
	if _, err = c.LastOf(t.Context(), schemas.Session("s")); !errors.Is(err, bus.ErrClosed) {
		t.Fatalf("after Close: %v", err)
	}
}

// mutedConn sends nothing any more once it is muted.
type mutedConn struct {
	net.Conn
	muted *atomic.Bool
}

func (c mutedConn) Write(b []byte) (int, error) {
	if c.muted.Load() {
		return len(b), nil
	}
	return c.Conn.Write(b)
}

// TestCloseEndsAReadAtOnce: who waits for records learns that nothing comes any more.
func TestCloseEndsAReadAtOnce(t *testing.T) {
	t.Parallel()
	h := newHost(t, embedded.Options{})
	must(t, daemon(t, h).EnsureStreams(t.Context(), bus.Retention{}))
	o, muted := h.inProcess(embedded.RoleDaemon), &atomic.Bool{}
	dial := o.Dial
	o.Dial = func() (net.Conn, error) {
		c, err := dial()
		return mutedConn{c, muted}, err
	}
	o.Timeout = patient // of what goes on without Close
	c := connect(t, o)
	muted.Store(true)
	time.AfterFunc(100*time.Millisecond, c.Close)
	began := time.Now()
	for _, err := range c.Tail(t.Context(), schemas.Session("s"), 0) {
		if waited := time.Since(began); !errors.Is(err, bus.ErrClosed) || waited > patient/2 {
			t.Errorf("after %s: %v", waited, err)
		}
	}
}

// untilAvailable repeats what a returning server will let succeed.
func untilAvailable(t *testing.T, call func() error) {
	t.Helper()
	for {
		err := call()
		if err == nil {
			return
		}
		if !errors.Is(err, bus.ErrUnavailable) {
			t.Fatal(err)
		}
		select {
		case <-t.Context().Done():
			t.Fatal(err)
		case <-time.After(time.Millisecond):
		}
	}
}

// TestFollowSurvivesRestart restarts the server three times under a reader,
// over TCP and in-process: it misses nothing and sees nothing twice.
func TestFollowSurvivesRestart(t *testing.T) {
	t.Parallel()
	for _, inProcess := range []bool{false, true} {
		t.Run(fmt.Sprint("in-process=", inProcess), func(t *testing.T) {
			h := newHost(t, embedded.Options{Durability: embedded.Interval})
			o := h.as(embedded.RoleDaemon)
			if inProcess {
				o = h.inProcess(embedded.RoleDaemon)
			}
			c := connect(t, o)
			must(t, c.EnsureStreams(t.Context(), bus.Retention{}))
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			seen, done := make(chan uint64, 1000), make(chan error, 1)
			go func() {
				done <- c.Follow(ctx, schemas.StreamSessions, 0, bus.FollowOptions{}, func(batch []schemas.Record) error {
					for _, r := range batch {
						seen <- r.Seq
					}
					return nil
				})
			}()
			next := uint64(1)
			for restart := range 4 {
				if restart > 0 {
					h.stop()
					h.start()
				}
				for i := range 10 {
					id := fmt.Sprintf("%d-%d", restart, i)
					untilAvailable(t, func() error {
						_, err := c.Append(t.Context(), bustest.Event("s", id, "p"), nil, bus.LastSeq(next-1))
						return err
					})
					select {
					case got := <-seen:
						if got != next {
							t.Fatalf("record %d, want %d", got, next)
						}
					case err := <-done:
						t.Fatal(err)
					}
					next++
				}
			}
			cancel()
			if err := <-done; !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
		})
	}
}

// TestSubscriptionsSurviveRestart: a service answers again after the server
// came back.
func TestSubscriptionsSurviveRestart(t *testing.T) {
	h := newHost(t, embedded.Options{})
	c := daemon(t, h)
	serve(t, c, answering("status", func(context.Context, bus.Request) ([]byte, error) { return []byte("up"), nil }))
	asker := connect(t, h.as(embedded.RoleHook))
	for range 2 {
		untilAvailable(t, func() error {
			_, err := asker.Request(t.Context(), bus.Request{Subject: "writ.svc.status"})
			return err
		})
		h.stop()
		h.start()
	}
}

// TestLimitIsLifted: a stream that an earlier version had refuse what is more than some
// bytes takes it again, and has forgotten nothing.
func TestLimitIsLifted(t *testing.T) {
	h := newHost(t, embedded.Options{Durability: embedded.Interval})
	c := connect(t, h.as(embedded.RoleDaemon))
	must(t, c.EnsureStreams(t.Context(), bus.Retention{}))
	must(t, c.Limit(t.Context(), schemas.StreamSessions, 64<<10))
	stored := 0
	for {
		_, err := c.Append(t.Context(), bustest.Event("s", fmt.Sprint(stored), "a prompt of some length"), nil, bus.Any())
		if errors.Is(err, bus.ErrDiskFull) {
			break
		}
		must(t, err)
		stored++
	}
	if n, err := countAll(t, c, schemas.StreamSessions); n != stored || err != nil {
		t.Fatalf("%d of %d records are left, %v", n, stored, err)
	}
	must(t, c.EnsureStreams(t.Context(), bus.Retention{}))
	_, err := c.Append(t.Context(), bustest.Event("s", "more", "p"), nil, bus.Any())
	must(t, err)
}

// TestLargeEventTakesAConnectionOfItsOwn within the process, which keeps no room for
// it then, and is appended as any other, with its expectation.
func TestLargeEventTakesAConnectionOfItsOwn(t *testing.T) {
	h := newHost(t, embedded.Options{Durability: embedded.Interval})
	daemon(t, h)
	c := connect(t, h.inProcess(embedded.RoleDaemon))
	large := strings.Repeat("a prompt ", 1<<18)
	first, err := c.Append(t.Context(), bustest.Event("s", "1", large), nil, bus.LastSeq(0))
	if err != nil || first.Seq != 1 {
		t.Fatalf("%+v, %v", first, err)
	}
	if n := c.Sent(); n > 1<<20 {
		t.Errorf("%d bytes went over the connection", n)
	}
	if _, err := c.Append(t.Context(), bustest.Event("s", "2", large), nil, bus.LastSeq(0)); !errors.Is(err, bus.ErrConflict) {
		t.Errorf("a wrong expectation: %v", err)
	}
	if again, err := c.Append(t.Context(), bustest.Event("s", "1", large), nil, bus.LastSeq(0)); err != nil || again != first {
		t.Errorf("repeated: %+v, %v", again, err)
	}
	last, err := c.Append(t.Context(), bustest.Event("s", "3", large), nil, bus.LastSeq(1))
	if err != nil || last.Seq != 2 {
		t.Errorf("%+v, %v", last, err)
	}
}

// TestReadsAtLeader: streams without direct reads, as replicated ones are, are
// read all the same.
func TestReadsAtLeader(t *testing.T) {
	h := newHost(t, embedded.Options{Durability: embedded.Interval})
	admin := daemon(t, h)
	_, err := admin.Append(t.Context(), bustest.Event("s", "1", "p"), nil, bus.Any())
	must(t, err)
	want, err := admin.Get(t.Context(), schemas.StreamSessions, 1)
	must(t, err)
	noDirectReads(t, h)
	c := connect(t, h.as(embedded.RoleDashboard))
	for range 2 {
		got, err := c.LastOf(t.Context(), schemas.Session("s"))
		must(t, err)
		if got.ID() != want.ID() || string(got.Message.Body) != string(want.Message.Body) || len(got.Message.Header) != len(want.Message.Header) {
			t.Fatalf("at the leader %+v, direct %+v", got, want)
		}
		if _, err = c.Get(t.Context(), schemas.StreamSessions, 2); !errors.Is(err, bus.ErrNotFound) {
			t.Fatal(err)
		}
	}
}

func noDirectReads(t *testing.T, h *host) {
	t.Helper()
	js := jetStream(t, h)
	stream, err := js.Stream(t.Context(), string(schemas.StreamSessions))
	must(t, err)
	config := stream.CachedInfo().Config
	config.AllowDirect = false
	_, err = js.UpdateStream(t.Context(), config)
	must(t, err)
}
