package test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/cmd/writd/config"
	"github.com/writbus/writ/schemas"
)

// BenchmarkAudit verifies a whole log from the command line, and proves single
// events. Processor time is that of the client's process alone.
func BenchmarkAudit(b *testing.B) {
	n := benchEvents(b)
	w := newBench(b, "interval")
	endpoint, err := config.ReadEndpoint(w.data)
	if err != nil {
		b.Fatal(err)
	}
	own, err := bus.LoadCredential(config.Layout{Root: w.data}.Credentials(), "daemon")
	if err != nil {
		b.Fatal(err)
	}
	nc, err := nats.Connect(endpoint.URL, nats.UserInfo(own.User, own.Password))
	if err != nil {
		b.Fatal(err)
	}
	load(b, nc, n)
	nc.Close()
	for lagging := true; lagging; {
		lagging = false
		for _, v := range w.status().Views {
			lagging = lagging || v.Lag > 0
		}
	}
	began := time.Now()
	w.run("", "audit", "checkpoint")
	b.ReportMetric(time.Since(began).Seconds(), "first-seal-s")
	b.Run("verify", func(b *testing.B) {
		var wall, used time.Duration
		for b.Loop() {
			cmd := w.command("", "audit", "verify", "--stream", "memory")
			began := time.Now()
			if out, err := cmd.CombinedOutput(); err != nil {
				b.Fatalf("%v: %s", err, out)
			}
			wall += time.Since(began)
			used += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		}
		b.ReportMetric(float64(n)*float64(b.N)/wall.Seconds(), "events/s")
		b.ReportMetric(float64(used.Nanoseconds())/float64(n)/float64(b.N), "cpu-ns/event")
	})
	b.Run("prove", func(b *testing.B) {
		admin := w.connect("admin")
		var took durations
		for i := 0; b.Loop(); i++ {
			request, err := json.Marshal(schemas.AuditProveRequest{Stream: schemas.StreamMemory, Seq: uint64(i*7919%n) + 1})
			if err != nil {
				b.Fatal(err)
			}
			began := time.Now()
			if _, err := admin.Request(b.Context(), bus.Request{Subject: schemas.SvcAuditProve, Body: request}); err != nil {
				b.Fatal(err)
			}
			took = append(took, time.Since(began))
		}
		took.report(b, "proof")
	})
}
