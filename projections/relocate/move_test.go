package relocate_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/embedded"
	"github.com/writbus/writ/bus/embedded/hubtest"
	"github.com/writbus/writ/bus/rights"
	"github.com/writbus/writ/projections/relocate"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/test/integration"
)

func TestMain(m *testing.M) {
	hubtest.Main()
	os.Exit(m.Run())
}

// folder is a data directory, as a daemon alone leaves it.
type folder struct {
	t   *testing.T
	dir string
	n   int
}

func newFolder(t *testing.T) *folder {
	f := &folder{t: t, dir: t.TempDir()}
	f.at(relocate.NATS{}, func(c *bus.Conn) { f.append(c, 300) })
	return f
}

func (f *folder) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *folder) credentials() string { return filepath.Join(f.dir, "credentials") }
func (f *folder) streams() string     { return filepath.Join(f.dir, "streams") }

func writing() bus.WriterOptions {
	return bus.WriterOptions{Source: "/test", Now: func() time.Time { return time.Now().UTC() }, Redact: func(p schemas.Payload) schemas.Payload { return p }}
}

// append writes to several streams.
func (f *folder) append(c *bus.Conn, n int) {
	f.t.Helper()
	for range n {
		f.n++
		_, err := bus.Record(f.t.Context(), c.Writer(writing()), schemas.Event{
			ID: fmt.Sprintf("e-%d", f.n), Aggregate: schemas.Aggregate{Kind: schemas.KindSession, ID: fmt.Sprint("s", f.n%7)}, Actor: schemas.Writ("test"),
			Data: schemas.PromptSubmitted{Prompt: fmt.Sprint("prompt ", f.n, strings.Repeat(" x", f.n%50))},
		})
		f.must(err)
	}
}

// at is where the log lies, as a daemon of the folder has it.
func (f *folder) at(at relocate.NATS, do func(*bus.Conn)) {
	f.t.Helper()
	_, noLog := os.Stat(f.streams())
	p, err := relocate.Settle(f.dir, f.credentials(), at, noLog == nil)
	f.must(err)
	if p.URL == "" {
		streams, err := bus.Retention{}.Configurations()
		f.must(err)
		server, err := embedded.Start(f.t.Context(), embedded.Options{
			Dir: f.streams(), Streams: streams, Durability: embedded.Interval, Users: []embedded.User{{Name: "d", Password: "p", Role: embedded.RoleDaemon}},
		})
		f.must(err)
		defer func() { f.must(server.Shutdown(context.Background())) }()
		c, err := bus.Connect(f.t.Context(), bus.Options{Dial: server.Dial, User: "d", Password: "p", Timeout: 5 * time.Minute})
		f.must(err)
		defer c.Close()
		f.must(c.EnsureStreams(f.t.Context(), bus.Retention{}))
		do(c)
		return
	}
	c, _ := f.take(p)
	defer c.Close()
	do(c)
}

func (f *folder) connect(p relocate.Place) *bus.Conn {
	f.t.Helper()
	o, err := p.Options(f.dir, f.credentials(), bus.Credential{})
	f.must(err)
	o.Timeout = 5 * time.Minute
	c, err := bus.Connect(f.t.Context(), o)
	f.must(err)
	return c
}

func (f *folder) take(p relocate.Place) (*bus.Conn, *relocate.Claim) {
	f.t.Helper()
	c := f.connect(p)
	id, err := relocate.DaemonID(f.dir)
	f.must(err)
	claim, err := relocate.Take(f.t.Context(), c, f.dir, p, id, bus.Retention{Replicas: p.Replicas})
	f.must(err)
	return c, claim
}

func (f *folder) options(to relocate.NATS) relocate.Options {
	return relocate.Options{Dir: f.dir, Credentials: f.credentials(), Streams: f.streams(), To: to, Writer: writing(), Note: func(string) {}}
}

// records are all that a log holds, with what the server noted of each.
func (f *folder) records(at relocate.NATS) (all []string) {
	f.t.Helper()
	f.at(at, func(c *bus.Conn) {
		for _, s := range schemas.Streams() {
			f.must(c.Follow(f.t.Context(), s, 0, bus.FollowOptions{UntilEnd: true}, func(some []schemas.Record) error {
				for _, r := range some {
					all = append(all, fmt.Sprintf("%s %d %s %v %s", s, r.Seq, r.Message.Subject, r.Message.Header, r.Message.Body))
				}
				return nil
			}))
		}
	})
	return all
}

// TestMove brings a log to a cluster and back, cut off before each step – each fourth
// where not all tests run – and taken up again: every record, with its sequence, is
// there as it was, and takes more behind it.
func TestMove(t *testing.T) {
	t.Parallel()
	between := 4
	if integration.Wanted() {
		between = 1
	}
	h := hubtest.StartFor(t, rights.Manifest{Direct: []string{"alice"}, Replicas: 3})
	f := newFolder(t)
	cluster := relocate.NATS{URL: h.Clients(), CA: h.CA, Replicas: 3}
	f.must(relocate.KeepCredentials(f.credentials(), h.Credentials("alice")))
	before := f.records(relocate.NATS{})
	for i, to := range []relocate.NATS{cluster, {}, cluster, {}} {
		cut, steps := 0, 0
		for done := false; !done; cut += between {
			o := f.options(to)
			n := 0
			ctx, cancel := context.WithCancelCause(t.Context())
			o.Step = func(name string) {
				if n++; i < 2 && n == cut+1 {
					cancel(errors.New("cut off before " + name))
				}
				if name != "leave the old place" && name != "switch" {
					if p, err := relocate.Load(f.dir); err != nil || p.URL == to.URL {
						t.Errorf("before %q the log lies at %s, %v", name, p.Name(), err)
					}
				}
			}
			moved, err := relocate.Run(ctx, o)
			done, steps = err == nil, n
			if done {
				if len(moved.Parts) != len(schemas.Streams()) || moved.Epoch != uint64(i+1) {
					t.Errorf("moved: %+v", moved)
				}
			} else if i >= 2 || !strings.Contains(err.Error(), "lies whole at") {
				t.Fatal(err)
			} else if p, err := relocate.Load(f.dir); err == nil && p.URL == to.URL && p.Moving == nil {
				done = true // cut off behind the switch: what is left takes no events
			}
			cancel(nil)
		}
		if i < 2 && cut < 8 {
			t.Errorf("cut off %d times, of %d steps", cut, steps)
		}
		now := f.records(relocate.NATS{})
		if len(now) != len(before)+1 || !strings.Contains(now[len(now)-1], "moved-log") || !reflect.DeepEqual(without(now, "moved-log"), without(before, "moved-log")) {
			t.Fatalf("move %d: %d records, and were %d; the last is %s", i+1, len(now), len(before), now[len(now)-1])
		}
		f.at(relocate.NATS{}, func(c *bus.Conn) { f.append(c, 20) })
		before = f.records(relocate.NATS{})
	}
	if _, err := relocate.Run(t.Context(), f.options(relocate.NATS{})); err == nil || !strings.Contains(err.Error(), "already") {
		t.Errorf("to where it lies: %v", err)
	}
}

func without(all []string, what string) (rest []string) {
	for _, one := range all {
		if !strings.Contains(one, what) {
			rest = append(rest, one)
		}
	}
	return rest
}

// TestWhatAMoveLeftIsTold: one that was cut off when the log lay at its new place leaves a
// copy, which is told until the same command, or the next move, puts it away.
func TestWhatAMoveLeftIsTold(t *testing.T) {
	t.Parallel()
	h := hubtest.StartFor(t, rights.Manifest{Direct: []string{"alice"}, Replicas: 1})
	f := newFolder(t)
	cluster := relocate.NATS{URL: h.Clients(), CA: h.CA, Replicas: 1}
	f.must(relocate.KeepCredentials(f.credentials(), h.Credentials("alice")))
	before := f.records(relocate.NATS{})
	cut := func(to relocate.NATS) {
		t.Helper()
		o := f.options(to)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		o.Step = func(name string) {
			if name != "leave the old place" {
				return
			}
			p, err := relocate.Load(f.dir) // as a kill here leaves it
			f.must(err)
			if p.URL != to.URL || !strings.Contains(p.Left(), "writ log move "+p.Name()) {
				t.Errorf("told %q of %+v", p.Left(), p)
			}
			runtime.Goexit()
		}
		over := make(chan struct{})
		go func() { defer close(over); _, _ = relocate.Run(ctx, o) }()
		<-over
	}
	told := func() string {
		t.Helper()
		p, err := relocate.Load(f.dir)
		f.must(err)
		return p.Left()
	}
	cut(cluster)
	if done, err := relocate.Run(t.Context(), f.options(cluster)); err != nil || done.Left == "" || told() != "" {
		t.Errorf("%+v, %v, told %q", done, err, told())
	}
	if _, err := os.Stat(f.streams()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the copy here: %v", err)
	}
	cut(relocate.NATS{})
	now := f.records(relocate.NATS{})
	if done, err := relocate.Run(t.Context(), f.options(relocate.NATS{})); err != nil || done.Left != "" || told() != "" {
		t.Errorf("%+v, %v, told %q", done, err, told())
	}
	cut(cluster)
	if _, err := relocate.Run(t.Context(), f.options(relocate.NATS{})); err != nil || told() != "" {
		t.Errorf("a move back: %v, told %q", err, told())
	}
	if !reflect.DeepEqual(without(now, "moved-log"), without(before, "moved-log")) || !reflect.DeepEqual(without(f.records(relocate.NATS{}), "moved-log"), without(before, "moved-log")) {
		t.Error("records are others")
	}
}

// TestStaleCopyIsRefused: a copy of the data directory from before a move starts neither
// while it is under way nor after it, and nothing can be appended where the log was.
func TestStaleCopyIsRefused(t *testing.T) {
	t.Parallel()
	h := hubtest.StartFor(t, rights.Manifest{Direct: []string{"alice", "bob"}, Replicas: 1})
	f := newFolder(t)
	cluster := relocate.NATS{URL: h.Clients(), CA: h.CA, Replicas: 1}
	f.must(relocate.KeepCredentials(f.credentials(), h.Credentials("alice")))
	_, err := relocate.Run(t.Context(), f.options(cluster))
	f.must(err)
	f.at(relocate.NATS{}, func(c *bus.Conn) { f.append(c, 5) })
	stale := &folder{t: t, dir: filepath.Join(t.TempDir(), "copy"), n: 9000}
	if out, err := exec.Command("cp", "-a", f.dir, stale.dir).CombinedOutput(); err != nil {
		t.Skipf("no cp here: %v, %s", err, out)
	}
	old, err := relocate.Load(stale.dir)
	f.must(err)
	refused := func(when string) {
		t.Helper()
		c := stale.connect(old)
		defer c.Close()
		id, err := relocate.DaemonID(stale.dir)
		f.must(err)
		if _, err := relocate.Take(t.Context(), c, stale.dir, old, id, bus.Retention{}); !errors.Is(err, relocate.ErrElsewhere) {
			t.Errorf("%s the copy takes the streams: %v", when, err)
		}
		_, err = bus.Record(t.Context(), c.Writer(writing()), schemas.Event{
			ID: "late " + when, Aggregate: schemas.Aggregate{Kind: schemas.KindSession, ID: "s1"}, Actor: schemas.Writ("test"), Data: schemas.PromptSubmitted{Prompt: "late"},
		})
		if err == nil {
			t.Errorf("%s something was appended where the log was", when)
		}
	}
	c, claim := f.take(old)
	lost := make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go claim.Watch(ctx, func(why error) { lost <- why })
	o := f.options(relocate.NATS{})
	o.Step = func(name string) {
		if name == "compare" {
			refused("in a move")
		}
	}
	_, err = relocate.Run(t.Context(), o)
	f.must(err)
	if why := <-lost; !errors.Is(why, relocate.ErrElsewhere) {
		t.Errorf("who had the streams learns %v", why)
	}
	c.Close()
	refused("after a move")

	f.must(relocate.KeepCredentials(f.credentials(), h.Credentials("bob")))
	called := f.options(cluster)
	ctx, stop := context.WithCancel(t.Context())
	called.Step = func(name string) {
		if name == "compare" {
			stop()
		}
	}
	if _, err := relocate.Run(ctx, called); err == nil {
		t.Fatal("a move that was cut off ended")
	}
	if _, err := relocate.Settle(f.dir, f.credentials(), relocate.NATS{}, true); !errors.Is(err, relocate.ErrElsewhere) || !strings.Contains(err.Error(), "lies whole at here") {
		t.Errorf("amid a move a daemon starts: %v", err)
	}
	if done, err := relocate.Run(t.Context(), f.options(relocate.NATS{})); err != nil || !done.Kept || done.Left != "" {
		t.Errorf("called off: %+v, %v", done, err)
	}
	f.at(relocate.NATS{}, func(c *bus.Conn) { f.append(c, 5) })
	_, err = relocate.Run(t.Context(), f.options(cluster))
	f.must(err)
}
