package daemon

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/bustest"
	"github.com/writbus/writ/bus/embedded"
	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/test/processor"
)

// benchSession is how many events a session of the benchmark's log has: a day's
// work with an agent.
const benchSession = 200

// BenchmarkRebuild starts a daemon that has a log and no views, and asks it for
// decisions in sessions of the log until all views are there.
// Beside them stand
// decisions in the sessions that were not asked for yet, once the views are there.
// WRIT_BENCH_EVENTS sets how many events the log has.
func BenchmarkRebuild(b *testing.B) {
	events := 400_000
	if v, err := strconv.Atoi(os.Getenv("WRIT_BENCH_EVENTS")); err == nil {
		events = v
	}
	data, project := b.TempDir(), newProject(b, "mode: work\n")
	fillLog(b, data, project, events)
	var rates, hooks, after, beside []float64
	var used time.Duration
	for b.Loop() {
		if err := os.RemoveAll(config.Layout{Root: data}.Views()); err != nil {
			b.Fatal(err)
		}
		began, before := time.Now(), processor.Time()
		w := start(b, data, project)
		took, others := w.hooksWhile(b, events/benchSession)
		hooks, beside = append(hooks, took...), append(beside, others...)
		rates = append(rates, float64(events)/time.Since(began).Seconds())
		used += processor.Time() - before
		for i := range 200 {
			took, _ := w.decision(b, "s-"+strconv.Itoa((2*i*7919+1)%(events/benchSession)))
			after = append(after, took)
		}
		if err := w.stop(); err != nil {
			b.Fatal(err)
		}
	}
	slices.Sort(rates)
	b.ReportMetric(rates[len(rates)/2], "events/s")
	b.ReportMetric(float64(used.Nanoseconds())/float64(events*len(rates)), "cpu-ns/event")
	for name, took := range map[string][]float64{"meanwhile": hooks, "after": after, "meanwhile-cpu": beside} {
		slices.Sort(took)
		b.ReportMetric(took[len(took)/2], name+"-p50-ms")
		b.ReportMetric(took[len(took)*95/100], name+"-p95-ms")
	}
	b.ReportMetric(0, "ns/op")
}

// hooksWhile asks for a decision in one session after the other until every view
// follows the log, and returns how many milliseconds each took, and of how many of the
// processors, those of the builds included.
func (w *world) hooksWhile(b *testing.B, sessions int) (took, used []float64) {
	next := time.NewTicker(20 * time.Millisecond) // fifty a second are many agents
	defer next.Stop()
	for i := 0; ; i++ {
		<-next.C
		one, cpu := w.decision(b, "s-"+strconv.Itoa(2*i*7919%sessions))
		took, used = append(took, one), append(used, cpu)
		if i%10 > 0 {
			continue
		}
		s, err := call[schemas.Status](w, w.admin, schemas.SvcStatus, struct{}{})
		if err != nil {
			b.Fatal(err)
		}
		if !slices.ContainsFunc(s.Views, func(v schemas.ViewStatus) bool { return v.State != string(projections.Live) }) {
			return took, used
		}
	}
}

// decision asks for a decision in a session and returns how many milliseconds
// that took, and how many the process used of the processors meanwhile.
func (w *world) decision(b *testing.B, session string) (took, used float64) {
	raw, err := json.Marshal(map[string]any{
		"session_id": session, "cwd": w.project, "hook_event_name": "PreToolUse", "tool_name": "Write",
		"tool_input": map[string]any{"file_path": filepath.Join(w.project, "plan.md"), "content": "x"},
	})
	if err != nil {
		b.Fatal(err)
	}
	began, before := time.Now(), processor.Time()
	if reply, err := w.raw("PreToolUse", raw); err != nil || reply.Exit != 0 {
		b.Fatalf("%+v, %v", reply, err)
	}
	return float64(time.Since(began).Microseconds()) / 1000, float64((processor.Time() - before).Microseconds()) / 1000
}

// fillLog makes the log of a data directory: nine events in ten are of sessions,
// the others are observations.
func fillLog(b *testing.B, data, project string, events int) {
	credentials, err := embedded.LoadOrCreateCredentials(config.Layout{Root: data}.Credentials())
	if err != nil {
		b.Fatal(err)
	}
	server, err := embedded.Start(b.Context(), embedded.Options{
		Dir: config.Layout{Root: data}.Log(), Durability: embedded.Interval, Users: credentials.Users(), Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = server.Shutdown(b.Context()) }()
	own := credentials[embedded.RoleDaemon]
	conn, err := bus.Connect(b.Context(), bus.Options{Dial: server.Dial, User: own.User, Password: own.Password})
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	if err := conn.EnsureStreams(b.Context(), bus.Retention{}); err != nil {
		b.Fatal(err)
	}
	nc, err := nats.Connect(server.URL(), nats.UserInfo(own.User, own.Password))
	if err != nil {
		b.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc, jetstream.WithPublishAsyncMaxPending(4000))
	if err != nil {
		b.Fatal(err)
	}
	at, sessions := time.Now().Add(-30*24*time.Hour), events/benchSession
	for i := range events {
		// Some ten sessions are at work at any time.
		session := i/(10*benchSession)*10 + i%10
		e := schemas.Event{
			ID: bus.NewID(), Time: at.Add(time.Duration(i) * time.Second), Source: "/writ/bench", Actor: schemas.ParseActor("agent"),
			Aggregate: schemas.Session("s-" + strconv.Itoa(min(session, sessions-1))), Data: benchEvent(i/10%benchSession, project),
		}
		if i%10 == 9 {
			e.Aggregate = schemas.Memory("bench")
			e.Data = schemas.ObservationRecorded{
				ObservationID: "o" + strconv.Itoa(i), Original: []byte("the build needs Go 1.26"), Text: "the build needs Go 1.26",
				Verdict: "allow", Confidence: 0.8, Reason: "classified", GateVersion: "v1",
			}
		}
		m, err := schemas.Encode(e)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := js.PublishMsgAsync(&nats.Msg{Subject: m.Subject, Header: nats.Header(m.Header), Data: m.Body}, jetstream.WithStallWait(time.Minute)); err != nil {
			b.Fatal(err)
		}
	}
	<-js.PublishAsyncComplete()
}

// benchEvent is the nth event of a session: turns of a prompt, the rules that it
// brought, and nine calls of tools.
func benchEvent(n int, project string) schemas.Payload {
	if n%20 == 2 {
		return schemas.RulesShown{Trigger: "prompt", Tokens: 700, Rules: []schemas.ShownRule{
			{ID: "SEC-SQL-001", Score: .8, Band: "retrieved"}, {ID: "ARCH-ERR-001", Score: .7, Band: "retrieved"}, {ID: "PERF-DB-001", Score: .5, Band: "line"},
		}}
	}
	return bustest.Work(n, project)
}
