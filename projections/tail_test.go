package projections_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/embedded"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/schemas"
)

// TestViewsShareATail: views that follow a stream are each handed every record once
// and in order by one reader, also the one that was so slow that records had left the
// tail; one that fails takes nothing from the others.
func TestViewsShareATail(t *testing.T) {
	t.Parallel()
	const records = 300 // of 8 KiB: twice what a tail keeps
	dir := t.TempDir()
	creds, err := embedded.LoadOrCreateCredentials(filepath.Join(dir, "credentials"))
	must(t, err)
	server, err := embedded.Start(t.Context(), embedded.Options{Dir: filepath.Join(dir, "streams"), Users: creds.Users(), Durability: embedded.Interval})
	must(t, err)
	defer func() { must(t, server.Shutdown(context.Background())) }()
	own := creds[embedded.RoleDaemon]
	conn, err := bus.Connect(t.Context(), bus.Options{Dial: server.Dial, User: own.User, Password: own.Password})
	must(t, err)
	defer conn.Close()
	must(t, conn.EnsureStreams(t.Context(), bus.Retention{}))
	writer := conn.Writer(bus.WriterOptions{Source: "/test"})
	publish := func(n int) {
		for range n {
			_, err := bus.Record(t.Context(), writer, schemas.Event{
				Aggregate: schemas.Session("s"), Actor: schemas.ParseActor("agent"), Data: schemas.PromptSubmitted{Prompt: strings.Repeat("x", 8<<10)},
			})
			must(t, err)
		}
	}
	nc, err := nats.Connect(server.URL(), nats.UserInfo(own.User, own.Password))
	must(t, err)
	defer nc.Close()
	js, err := jetstream.New(nc)
	must(t, err)
	readers := func() int {
		stream, err := js.Stream(t.Context(), string(schemas.StreamSessions))
		must(t, err)
		return stream.CachedInfo().State.Consumers
	}

	log := projections.OnBus(conn, writer)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var all sync.WaitGroup
	begun := make(chan int, 4)
	follow := func(batch int, each func(seq uint64) error) {
		all.Go(func() {
			at := uint64(0)
			err := log.Follow(ctx, schemas.StreamSessions, 0, batch, false, func(some []schemas.Record) error {
				if len(some) > batch {
					t.Errorf("%d records at once, %d asked for", len(some), batch)
				}
				for _, r := range some {
					if at++; r.Seq != at {
						t.Errorf("record %d in the place of %d", r.Seq, at)
					}
					if at == 1 {
						begun <- batch
					}
					if err := each(r.Seq); err != nil {
						return err
					}
				}
				return nil
			})
			if ctx.Err() == nil && !errors.Is(err, errFails) {
				t.Errorf("after %d: %v", at, err)
			}
		})
	}
	ends, slow := make(chan int, 8), make(chan struct{})
	told := func(seq uint64) error {
		if seq == records || seq == 2*records {
			ends <- int(seq)
		}
		return nil
	}
	publish(1)
	follow(7, told)
	follow(2500, told)
	follow(1, func(uint64) error { return errFails })
	follow(100, func(seq uint64) error {
		<-slow
		return told(seq)
	})
	for range cap(begun) {
		<-begun
	}
	publish(records - 1)
	for range 2 {
		<-ends // of those that are not slow
	}
	close(slow)
	<-ends
	publish(records)
	for range 3 {
		<-ends
	}
	patience, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for n := readers(); n != 1; n = readers() { // the slow one may not have let go of its own yet
		if patience.Err() != nil {
			t.Fatalf("the server has %d readers for three views", n)
		}
	}
	stop()
	all.Wait()
	if n := readers(); n != 0 {
		t.Errorf("the server has %d readers for no views", n)
	}
}

var errFails = errors.New("this view fails")

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
