package test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/test/programs"
)

const (
	loadCallers = 128
	loadRound   = 4000 // decisions, and as many bare publishes, of one round
)

// request is a hook of a session that has to be decided.
func (w *bench) request(session string) bus.Request {
	return bus.Request{
		Subject: schemas.SvcHook, Body: []byte(hookPayload(w.project, session, "Write", `{"file_path":"`+w.project+`/plan.md","content":"x"}`)),
		Header: schemas.Header{
			schemas.HookHeaderAgent: {"claude"}, schemas.HookHeaderEvent: {"PreToolUse"},
			schemas.HookHeaderDir: {w.project}, schemas.HookHeaderProject: {w.project}, schemas.HookHeaderHome: {filepath.Dir(w.project)},
		},
	}
}

// together has callers do n things, and returns how long each took.
func together(callers, n int, do func(i int) error) (took durations, err error) {
	var next atomic.Int64
	var mu sync.Mutex
	var wait sync.WaitGroup
	for range callers {
		wait.Go(func() {
			var own durations
			var failed error
			for i := int(next.Add(1)) - 1; i < n && failed == nil; i = int(next.Add(1)) - 1 {
				began := time.Now()
				failed = do(i)
				own = append(own, time.Since(began))
			}
			mu.Lock()
			defer mu.Unlock()
			if took = append(took, own...); failed != nil {
				err = failed
			}
		})
	}
	wait.Wait()
	return took, err
}

// processorTime is what the daemon used so far.
func (w *bench) processorTime() time.Duration {
	w.b.Helper()
	daemon, err := programs.Announced(w.data)
	if err != nil {
		w.b.Fatal(err)
	}
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", daemon.PID))
	if err != nil {
		w.b.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(raw), ") ")
	fields := strings.Fields(rest)
	var ticks int64
	for _, field := range fields[11:13] { // user and system mode, in hundredths of a second
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			w.b.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

// BenchmarkDecisions has 128 callers ask for decisions in many sessions, by turns
// with as many bare publishes that are acknowledged the same way.
func BenchmarkDecisions(b *testing.B) {
	for _, sessions := range []int{100, 1000} {
		b.Run("sessions="+strconv.Itoa(sessions), func(b *testing.B) {
			w := newBench(b, "power-loss")
			w.settleRules()
			hook, bare := w.connect("hook"), bareLog(b, "power-loss")
			decide := func(i int) error {
				_, err := hook.Request(b.Context(), w.request("s-"+strconv.Itoa(i*7919%sessions)))
				return err
			}
			publish := func(int) error {
				_, err := bus.Record(b.Context(), bare.Writer(bus.WriterOptions{}), schemas.Event{
					Source: "/writ/bench", Actor: schemas.ParseActor("bench"), Aggregate: schemas.Aggregate{Kind: schemas.KindAgent, ID: "bench"},
					Data: schemas.CommandFinished{CommandID: "c", OK: true, Result: strings.Repeat("x", 600)},
				})
				return err
			}
			if _, err := together(loadCallers, 2*sessions, decide); err != nil {
				b.Fatal(err)
			}
			var decisions durations
			var decideTime, publishTime, used time.Duration
			n := 0
			round := func(do func(int) error, elapsed *time.Duration) durations {
				began := time.Now()
				took, err := together(loadCallers, loadRound, do)
				if err != nil {
					b.Fatal(err)
				}
				*elapsed += time.Since(began)
				return took
			}
			for b.Loop() {
				n += loadRound
				before := w.processorTime()
				decisions = append(decisions, round(decide, &decideTime)...)
				used += w.processorTime() - before
				round(publish, &publishTime)
			}
			b.ReportMetric(float64(n)/decideTime.Seconds(), "decisions/s")
			b.ReportMetric(float64(n)/publishTime.Seconds(), "publishes/s")
			b.ReportMetric(publishTime.Seconds()/decideTime.Seconds(), "decisions/publishes")
			b.ReportMetric(float64(used.Microseconds())/1000/float64(n), "cpu-ms/decision")
			b.ReportMetric(float64(decisions.at(.5).Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(decisions.at(.99).Microseconds())/1000, "p99-ms")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkFlood asks for a decision in one session every 20 ms, alone and while
// another session asks with ten times as many callers as are answered at once.
func BenchmarkFlood(b *testing.B) {
	const callers = 640
	w := newBench(b, "power-loss")
	honest, flooding := w.connect("hook"), w.connect("hook")
	ask := func(n int) (took durations, refused int) {
		next := time.NewTicker(20 * time.Millisecond)
		defer next.Stop()
		for range n {
			<-next.C
			began := time.Now()
			reply, err := honest.Request(b.Context(), w.request("honest"))
			took = append(took, time.Since(began))
			if err != nil || strings.Contains(string(reply.Body), "more to do than") {
				refused++
			}
		}
		return took, refused
	}
	ask(10)
	var alone, beside durations
	var answered, turned, failed atomic.Int64
	refused := 0
	for b.Loop() {
		took, _ := ask(100)
		alone = append(alone, took...)
		ctx, stop := context.WithCancel(b.Context())
		var wait sync.WaitGroup
		for range callers {
			wait.Go(func() {
				for ctx.Err() == nil {
					switch reply, err := flooding.Request(ctx, w.request("flood")); {
					case err != nil:
						failed.Add(1)
					case strings.Contains(string(reply.Body), "more to do than"):
						turned.Add(1)
					default:
						answered.Add(1)
					}
				}
			})
		}
		took, n := ask(100)
		beside, refused = append(beside, took...), refused+n
		stop()
		wait.Wait()
	}
	for name, took := range map[string]durations{"alone": alone, "flooded": beside} {
		b.ReportMetric(float64(took.at(.5).Microseconds())/1000, name+"-p50-ms")
		b.ReportMetric(float64(took.at(.99).Microseconds())/1000, name+"-p99-ms")
	}
	b.ReportMetric(float64(refused), "refused")
	b.ReportMetric(float64(answered.Load()), "flood-answered")
	b.ReportMetric(float64(turned.Load()), "flood-refused")
	b.ReportMetric(float64(failed.Load()), "flood-failed")
	b.ReportMetric(0, "ns/op")
}
