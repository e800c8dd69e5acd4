package bus_test

import (
	"fmt"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/bustest"
	"github.com/writbus/writ/bus/embedded"
	"github.com/writbus/writ/schemas"
)

func jetStream(t testing.TB, h *host) jetstream.JetStream {
	t.Helper()
	nc := dialRaw(t, h, embedded.RoleDaemon)
	js, err := jetstream.New(nc)
	must(t, err)
	return js
}

func eachMode(b *testing.B, run func(*testing.B, *host, *bus.Conn)) {
	for _, durability := range []embedded.Durability{embedded.PowerLoss, embedded.Interval} {
		for _, way := range []string{"tcp", "in-process"} {
			b.Run(string(durability)+"/"+way, func(b *testing.B) {
				h := newHost(b, embedded.Options{Durability: durability})
				o := h.as(embedded.RoleDaemon)
				if way == "in-process" {
					o = h.inProcess(embedded.RoleDaemon)
				}
				c := connect(b, o)
				must(b, c.EnsureStreams(b.Context(), bus.Retention{}))
				b.ReportAllocs()
				b.ResetTimer()
				run(b, h, c)
			})
		}
	}
}

// BenchmarkPublish is the bare publish below Append, over TCP.
func BenchmarkPublish(b *testing.B) {
	for _, durability := range []embedded.Durability{embedded.PowerLoss, embedded.Interval} {
		b.Run(string(durability), func(b *testing.B) {
			h := newHost(b, embedded.Options{Durability: durability})
			daemon(b, h)
			js := jetStream(b, h)
			body := make([]byte, 300)
			b.ResetTimer()
			for range b.N {
				_, err := js.Publish(b.Context(), "writ.session.s.prompt.submitted", body)
				must(b, err)
			}
		})
	}
}

func BenchmarkAppend(b *testing.B) {
	eachMode(b, func(b *testing.B, _ *host, c *bus.Conn) {
		for i := range b.N {
			_, err := c.Append(b.Context(), bustest.Event("s", fmt.Sprint("e", i), "a prompt of some length"), nil, bus.LastSeq(uint64(i)))
			must(b, err)
		}
	})
}

func BenchmarkRequest(b *testing.B) {
	h := newHost(b, embedded.Options{})
	c := daemon(b, h)
	for _, role := range []embedded.Role{embedded.RoleDaemon, embedded.RoleHook} {
		b.Run(string(role), func(b *testing.B) {
			stop, err := c.Serve(b.Context(), bus.Service{Name: "writ", Version: "1.0.0", Endpoints: []bus.Endpoint{status}})
			must(b, err)
			asker := connect(b, h.as(role))
			b.ResetTimer()
			for range b.N {
				_, err := asker.Request(b.Context(), bus.Request{Subject: status.Subject})
				must(b, err)
			}
			b.StopTimer()
			must(b, stop(b.Context()))
		})
	}
}

// large is a stream of many sessions, their events interleaved.
func large(b *testing.B, h *host, c *bus.Conn, n, sessions int) {
	b.Helper()
	js := jetStream(b, h)
	for i := range n {
		m, err := schemas.Encode(bustest.Event(fmt.Sprint("s", i%sessions), fmt.Sprint("e", i), "a prompt of some length"))
		must(b, err)
		_, err = js.PublishAsync(m.Subject, m.Body, jetstream.WithMsgID(m.Header.Get(schemas.HeaderID)), jetstream.WithStallWait(patient))
		must(b, err)
	}
	<-js.PublishAsyncComplete()
	if state, err := c.State(b.Context(), schemas.StreamSessions); err != nil || state.Last != uint64(n) {
		b.Fatalf("%+v, %v", state, err)
	}
}

func BenchmarkFollow(b *testing.B) {
	const n = 300_000
	for _, way := range []string{"tcp", "in-process"} {
		b.Run(way, func(b *testing.B) {
			h := newHost(b, embedded.Options{Durability: embedded.Interval})
			o := h.as(embedded.RoleDaemon)
			if way == "in-process" {
				o = h.inProcess(embedded.RoleDaemon)
			}
			c := connect(b, o)
			must(b, c.EnsureStreams(b.Context(), bus.Retention{}))
			large(b, h, c, n, 1000)
			b.ResetTimer()
			for range b.N {
				got, err := countAll(b, c, schemas.StreamSessions)
				if err != nil || got != n {
					b.Fatal(got, err)
				}
			}
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "records/s")
		})
	}
}

// BenchmarkTail reads the last records of one session of a large stream.
func BenchmarkTail(b *testing.B) {
	const n, sessions = 300_000, 1000
	h := newHost(b, embedded.Options{Durability: embedded.Interval})
	c := connect(b, h.inProcess(embedded.RoleDaemon))
	must(b, c.EnsureStreams(b.Context(), bus.Retention{}))
	large(b, h, c, n, sessions)
	for _, length := range []int{0, 1, 10, 100} {
		b.Run(fmt.Sprint(length), func(b *testing.B) {
			for range b.N {
				got := 0
				for _, err := range c.Tail(b.Context(), schemas.Session("s500"), uint64(n-length*sessions)) {
					must(b, err)
					got++
				}
				if got != length {
					b.Fatal(got)
				}
			}
		})
	}
}
