package test

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/schemas"
)

// BenchmarkAudit verifies a whole log from the command line, and proves single
// events. Processor time is that of the client's process alone.
func BenchmarkAudit(b *testing.B) {
	n := benchEvents(b)
	w := newBenchWith(b, "interval", "memory: {reflect_after: 0}\n") // what is loaded is nobody's to reflect on
	ids := make([]string, n)
	daemon := w.loads(func(nc *nats.Conn) {
		loadAs(b, nc, n, func(i int) string {
			ids[i] = uuid.Must(uuid.NewV7()).String()
			return ids[i]
		})
	})
	for busy, used := true, processorTime(b, daemon.PID); busy; { // what is no view is built, too
		<-time.After(time.Second)
		now := processorTime(b, daemon.PID)
		busy, used = now-used > 100*time.Millisecond, now
	}
	began := time.Now()
	w.run("", "audit", "checkpoint")
	b.ReportMetric(time.Since(began).Seconds(), "first-seal-s")
	b.Run("verify", func(b *testing.B) {
		var wall, used time.Duration
		before := processorTime(b, daemon.PID)
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
		b.ReportMetric(float64((processorTime(b, daemon.PID)-before).Nanoseconds())/float64(n)/float64(b.N), "daemon-cpu-ns/event")
	})
	for _, c := range []struct {
		name string
		of   func(i int) schemas.AuditProveRequest
	}{
		{"prove", func(i int) schemas.AuditProveRequest {
			return schemas.AuditProveRequest{Stream: schemas.StreamMemory, Seq: uint64(i) + 1}
		}},
		{"prove-event", func(i int) schemas.AuditProveRequest { return schemas.AuditProveRequest{Event: ids[i]} }},
	} {
		b.Run(c.name, func(b *testing.B) {
			admin := w.connect("admin")
			var took durations
			used := processorTime(b, daemon.PID)
			for i := 0; b.Loop(); i++ {
				request, err := json.Marshal(c.of(i * 7919 % n))
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
			b.ReportMetric(float64((processorTime(b, daemon.PID)-used).Microseconds())/float64(b.N), "daemon-cpu-µs/proof")
		})
	}
}

// processorTime is what a process has used, where the system tells (Linux, in
// steps of 10 ms), else 0.
func processorTime(b *testing.B, pid int) time.Duration {
	b.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(stat), ") ") // behind the name, which may hold blanks
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		b.Fatalf("/proc/%d/stat: %s", pid, stat)
	}
	ticks := 0
	for _, field := range fields[11:13] { // utime and stime, man 5 proc
		n, err := strconv.Atoi(field)
		if err != nil {
			b.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

// BenchmarkWhatIf runs recorded prompts again from the command line: ten of each
// session, under other weights.
func BenchmarkWhatIf(b *testing.B) {
	const prompts = 10_000
	w := newBench(b, "interval")
	daemon := w.connect("daemon")
	texts := []string{
		"retry the payment request until it works", "look users up by their address in the database", "write a test for the parser of dates",
		"why is this goroutine leaking?", "add a flag to the command line", "store the password of a user", "cache the exchange rates for an hour",
		"make the upload resumable", "delete accounts that nobody used for a year", "the page is slow when the list is long",
	}
	write := func(session string, i int, data schemas.Payload) {
		_, err := bus.Record(b.Context(), daemon.Writer(bus.WriterOptions{}), schemas.Event{
			ID: fmt.Sprintf("%s-%d", session, i), Time: time.Now(), Source: "/writ/bench", Actor: schemas.ParseActor("user"), Aggregate: schemas.Session(session), Data: data,
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	for n := range prompts / len(texts) {
		session := fmt.Sprint("prompts-", n)
		write(session, 0, schemas.SessionStarted{Host: "claude", Project: w.project, Dir: w.project, Mode: "work"})
		for i, text := range texts {
			write(session, i+1, schemas.PromptSubmitted{Prompt: fmt.Sprint(text, ", number ", n)})
		}
	}
	var wall, used time.Duration
	for b.Loop() {
		cmd := w.command("", "whatif", "--weights", "lexical", "--json")
		began := time.Now()
		out, err := cmd.CombinedOutput()
		if err != nil {
			b.Fatalf("%v: %s", err, out)
		}
		wall += time.Since(began)
		used += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		var report struct{ Prompts struct{ Total int } }
		if err := json.Unmarshal(out, &report); err != nil || report.Prompts.Total != prompts {
			b.Fatalf("%d prompts were run again: %v", report.Prompts.Total, err)
		}
	}
	b.ReportMetric(wall.Seconds()/float64(b.N), "s/10000-prompts")
	b.ReportMetric(used.Seconds()/float64(b.N), "cpu-s/10000-prompts")
}
