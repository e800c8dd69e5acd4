package test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/embedded"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/projections/pebblestore"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/test/programs"
)

// durations are the times of single runs.
type durations []time.Duration

// at is the quantile q (0 to 1), nearest rank.
func (d durations) at(q float64) time.Duration {
	if len(d) == 0 {
		return 0
	}
	slices.Sort(d)
	return d[min(len(d)-1, int(q*float64(len(d))))]
}

func (d durations) report(b *testing.B, name string) {
	for _, q := range []struct {
		name string
		at   float64
	}{{"p50", .5}, {"p95", .95}} {
		b.ReportMetric(float64(d.at(q.at).Microseconds())/1000, name+"-"+q.name+"-ms")
	}
}

// bench is a world outside the test's temp folder, with a daemon of its own.
type bench struct {
	b             *testing.B
	data, project string
	env           []string
}

func newBench(b *testing.B, durability string) *bench {
	b.Helper()
	return newBenchWith(b, durability, "")
}

// newBenchWith is newBench under settings of the data directory.
func newBenchWith(b *testing.B, durability, settings string) *bench {
	b.Helper()
	dir := b.TempDir()
	w := &bench{b: b, data: filepath.Join(dir, "data"), project: filepath.Join(dir, "project")}
	w.env = append(os.Environ(),
		"PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"),
		"WRIT_HOME="+w.data, "HOME="+dir, "WRIT_DURABILITY="+durability)
	if err := errors.Join(os.MkdirAll(w.project, 0o755), os.MkdirAll(w.data, 0o700), os.WriteFile(filepath.Join(w.data, "config.yaml"), []byte(settings), 0o600)); err != nil {
		b.Fatal(err)
	}
	w.run("", "init")
	w.startDaemon()
	b.Cleanup(func() {
		_ = w.command("", "down").Run()
		_ = killDaemon(w.data)
	})
	return w
}

func (w *bench) command(stdin string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(bin, "writ"), args...)
	cmd.Dir, cmd.Env, cmd.Stdin = w.project, w.env, strings.NewReader(stdin)
	return cmd
}

func (w *bench) run(stdin string, args ...string) []byte {
	w.b.Helper()
	out, err := w.command(stdin, args...).CombinedOutput()
	if err != nil {
		w.b.Fatalf("writ %v: %v\n%s", args, err, out)
	}
	return out
}

// startDaemon starts writd and returns how long it took until it announced
// itself.
func (w *bench) startDaemon() time.Duration {
	w.b.Helper()
	began := time.Now()
	cmd := exec.Command(filepath.Join(bin, "writd"))
	cmd.Env = w.env
	var out bytes.Buffer
	cmd.Stderr = &out
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		w.b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		w.b.Fatal(err)
	}
	line := make([]byte, 200)
	if _, err := stdout.Read(line); err != nil {
		w.b.Fatalf("writd did not start: %v\n%s", err, out.Bytes())
	}
	took := time.Since(began)
	go func() { _ = cmd.Wait() }()
	return took
}

func (w *bench) connect(role string) *bus.Conn {
	w.b.Helper()
	endpoint, err := programs.Announced(w.data)
	if err != nil {
		w.b.Fatal(err)
	}
	credential, err := bus.LoadCredential(filepath.Join(w.data, "credentials"), role)
	if err != nil {
		w.b.Fatal(err)
	}
	conn, err := bus.Connect(w.b.Context(), bus.Options{URL: endpoint.URL, User: credential.User, Password: credential.Password, Name: "bench"})
	if err != nil {
		w.b.Fatal(err)
	}
	w.b.Cleanup(conn.Close)
	return conn
}

func hookPayload(project, session, tool, input string) string {
	return fmt.Sprintf(`{"session_id":%q,"cwd":%q,"permission_mode":"default","hook_event_name":"PreToolUse","tool_name":%q,"tool_input":%s}`,
		session, project, tool, input)
}

// BenchmarkHookProcess measures a hook as the host sees it, from the start of
// its process to its exit, with the daemon warm. The same binary doing nothing
// is measured in turn: it is what a process costs here.
func BenchmarkHookProcess(b *testing.B) {
	for _, durability := range []string{"power-loss", "interval"} {
		b.Run(durability, func(b *testing.B) {
			w := newBench(b, durability)
			payload := hookPayload(w.project, "bench", "Write", `{"file_path":"`+w.project+`/plan.md","content":"x"}`)
			w.run(payload, "hook", "claude", "PreToolUse")
			var hook, floor, outside durations
			elsewhere := b.TempDir()
			for b.Loop() {
				hook = append(hook, timed(b, w.command(payload, "hook", "claude", "PreToolUse")))
				floor = append(floor, timed(b, w.command("", "version")))
				cmd := w.command(strings.ReplaceAll(payload, w.project, elsewhere), "hook", "claude", "PreToolUse")
				cmd.Dir = elsewhere
				outside = append(outside, timed(b, cmd))
			}
			hook.report(b, "hook")
			floor.report(b, "process")
			outside.report(b, "no-project")
		})
	}
}

func timed(b *testing.B, cmd *exec.Cmd) time.Duration {
	began := time.Now()
	out, err := cmd.CombinedOutput()
	took := time.Since(began)
	if err != nil {
		b.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
	return took
}

// bareLog is the log of a server that does nothing else, and that itself syncs what
// it acknowledges.
func bareLog(b *testing.B, durability string) *bus.Conn {
	b.Helper()
	dir := b.TempDir()
	credentials, err := embedded.LoadOrCreateCredentials(filepath.Join(dir, "credentials"))
	if err != nil {
		b.Fatal(err)
	}
	server, err := embedded.Start(b.Context(), embedded.Options{Dir: filepath.Join(dir, "log"), Durability: embedded.Durability(durability), Users: credentials.Users()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = server.Shutdown(context.Background()) })
	own := credentials[embedded.RoleDaemon]
	conn, err := bus.Connect(b.Context(), bus.Options{URL: server.URL(), User: own.User, Password: own.Password, Name: "bench"})
	if err == nil {
		err = conn.EnsureStreams(b.Context(), bus.Retention{})
	}
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(conn.Close)
	return conn
}

// BenchmarkDecision compares a decision – asked over TCP from another process,
// appended and acknowledged – with the bare publish of a message of the same
// size that is acknowledged the same way.
func BenchmarkDecision(b *testing.B) {
	for _, durability := range []string{"power-loss", "interval"} {
		b.Run(durability, func(b *testing.B) {
			w := newBench(b, durability)
			hook, bare := w.connect("hook"), w.connect("daemon")
			if durability == "power-loss" {
				bare = bareLog(b, durability) // the daemon syncs for those who append through it
			}
			payload := []byte(hookPayload(w.project, "bench", "Write", `{"file_path":"`+w.project+`/plan.md","content":"x"}`))
			request := bus.Request{Subject: schemas.SvcHook, Body: payload, Header: schemas.Header{
				schemas.HookHeaderAgent: {"claude"}, schemas.HookHeaderEvent: {"PreToolUse"},
				schemas.HookHeaderDir: {w.project}, schemas.HookHeaderProject: {w.project}, schemas.HookHeaderHome: {filepath.Dir(w.project)},
			}}
			var decide, publish durations
			for b.Loop() {
				began := time.Now()
				if _, err := hook.Request(b.Context(), request); err != nil {
					b.Fatal(err)
				}
				decide = append(decide, time.Since(began))
				began = time.Now()
				_, err := bus.Record(b.Context(), bare.Writer(bus.WriterOptions{}), schemas.Event{
					ID: uuid.Must(uuid.NewV7()).String(), Time: began, Source: "/writ/bench", Actor: schemas.ParseActor("bench"),
					Aggregate: schemas.Aggregate{Kind: schemas.KindAgent, ID: "bench"},
					Data:      schemas.CommandFinished{CommandID: "c", OK: true, Result: strings.Repeat("x", 600)},
				})
				if err != nil {
					b.Fatal(err)
				}
				publish = append(publish, time.Since(began))
			}
			decide.report(b, "decision")
			publish.report(b, "publish")
			b.ReportMetric(float64(decide.at(.5))/float64(publish.at(.5)), "decision/publish-p50")
		})
	}
}

// replayEvents is how many events the log of the replay and start benchmarks
// holds; WRIT_BENCH_EVENTS overrides it.
func benchEvents(b *testing.B) int {
	if v := os.Getenv("WRIT_BENCH_EVENTS"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil {
			b.Fatal(err)
		}
		return n
	}
	return 1_000_000
}

// load fills the memory stream with observations, as fast as the server takes
// them.
func load(b *testing.B, nc *nats.Conn, n int) {
	b.Helper()
	loadAs(b, nc, n, func(i int) string { return "bench-" + strconv.Itoa(i) })
}

// loadAs is load with ids of the caller's.
func loadAs(b *testing.B, nc *nats.Conn, n int, id func(i int) string) {
	b.Helper()
	js, err := jetstream.New(nc, jetstream.WithPublishAsyncMaxPending(4000))
	if err != nil {
		b.Fatal(err)
	}
	verdicts := []string{"allow", "allow", "allow", "hold", "discard"}
	began := time.Now()
	for i := range n {
		m, err := schemas.Encode(schemas.Event{
			ID: id(i), Time: began.Add(time.Duration(i) * time.Millisecond), Source: "/writ/bench", Actor: schemas.ParseActor("bench"),
			Aggregate: schemas.Memory("scope-" + strconv.Itoa(i%100)),
			Data: schemas.ObservationRecorded{
				ObservationID: "o" + strconv.Itoa(i), Original: []byte("the build needs Go 1.26"), Text: "the build needs Go 1.26",
				Verdict: verdicts[i%len(verdicts)], Confidence: 0.8, Reason: "classified", GateVersion: "v1",
			},
		})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := js.PublishMsgAsync(&nats.Msg{Subject: m.Subject, Header: nats.Header(m.Header), Data: m.Body},
			jetstream.WithStallWait(time.Minute)); err != nil {
			b.Fatal(err)
		}
	}
	select {
	case <-js.PublishAsyncComplete():
	case <-time.After(5 * time.Minute):
		b.Fatal("the server did not take the events")
	}
	b.Logf("loaded %d events in %s", n, time.Since(began).Round(time.Millisecond))
}

// adapter lets the projections read the bus, as the daemon does.
type adapter struct{ *bus.Conn }

func (a adapter) Bounds(ctx context.Context, s schemas.Stream) (first, last uint64, err error) {
	state, err := a.State(ctx, s)
	return state.First, state.Last, err
}

func (a adapter) IDAt(ctx context.Context, s schemas.Stream, seq uint64) (string, error) {
	r, err := a.Get(ctx, s, seq)
	return r.ID(), err
}

func (a adapter) Follow(ctx context.Context, s schemas.Stream, after uint64, maxBatch int, untilEnd bool, fn func([]schemas.Record) error) error {
	return a.Conn.Follow(ctx, s, after, bus.FollowOptions{MaxBatch: maxBatch, UntilEnd: untilEnd, Unparsed: true}, fn)
}

func (adapter) Quarantine(context.Context, schemas.Record, string) error { return nil }

// BenchmarkReplay compares the replay of the whole log into the tally view
// with what a bare ordered consumer reads in the same run.
func BenchmarkReplay(b *testing.B) {
	n := benchEvents(b)
	credentials, err := embedded.LoadOrCreateCredentials(filepath.Join(b.TempDir(), "credentials"))
	if err != nil {
		b.Fatal(err)
	}
	server, err := embedded.Start(b.Context(), embedded.Options{
		Dir: filepath.Join(b.TempDir(), "streams"), Durability: embedded.Interval, Users: credentials.Users(), Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = server.Shutdown(context.Background()) }()
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
	load(b, nc, n)
	defer nc.Close()
	var bare, follow, replay float64
	runs := 0
	for b.Loop() {
		runs++
		bare += float64(n) / bareConsumer(b, nc, n).Seconds()
		began, seen := time.Now(), 0
		err := conn.Follow(b.Context(), schemas.StreamMemory, 0, bus.FollowOptions{MaxBatch: 10_000, UntilEnd: true}, func(r []schemas.Record) error {
			seen += len(r)
			return nil
		})
		if err != nil || seen != n {
			b.Fatalf("follow: %d, %v", seen, err)
		}
		follow += float64(n) / time.Since(began).Seconds()
		replay += float64(n) / replayInto(b, conn).Seconds()
	}
	b.ReportMetric(bare/float64(runs), "bare-msg/s")
	b.ReportMetric(follow/float64(runs), "follow-msg/s")
	b.ReportMetric(replay/float64(runs), "replay-msg/s")
	b.ReportMetric(replay/bare, "replay/bare")
}

// bareConsumer reads the stream with the library's ordered consumer and looks
// at nothing.
func bareConsumer(b *testing.B, nc *nats.Conn, n int) time.Duration {
	b.Helper()
	js, err := jetstream.New(nc)
	if err != nil {
		b.Fatal(err)
	}
	consumer, err := js.OrderedConsumer(b.Context(), string(schemas.StreamMemory), jetstream.OrderedConsumerConfig{})
	if err != nil {
		b.Fatal(err)
	}
	done, seen := make(chan struct{}), 0
	began := time.Now()
	reading, err := consumer.Consume(func(jetstream.Msg) {
		if seen++; seen == n {
			close(done)
		}
	}, jetstream.PullMaxMessages(10_000))
	if err != nil {
		b.Fatal(err)
	}
	defer reading.Stop()
	select {
	case <-done:
	case <-time.After(5 * time.Minute):
		b.Fatalf("the bare consumer read %d of %d", seen, n)
	}
	return time.Since(began)
}

func replayInto(b *testing.B, conn *bus.Conn) time.Duration {
	store, err := pebblestore.Open(filepath.Join(b.TempDir(), "views", strconv.FormatInt(time.Now().UnixNano(), 36)), pebblestore.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	runtime, err := projections.NewRuntime(adapter{conn}, store, projections.Options{}, projections.NewVerdicts())
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan struct{})
	began := time.Now()
	go func() {
		defer close(done)
		_ = runtime.Run(ctx)
	}()
	if err := runtime.AwaitBuilt(ctx, schemas.StreamMemory, "verdicts"); err != nil {
		b.Fatal(err)
	}
	took := time.Since(began)
	cancel()
	<-done
	return took
}

// BenchmarkDaemonStart measures a start with a large log and current views,
// and what the idle daemon then occupies.
func BenchmarkDaemonStart(b *testing.B) {
	w := newBench(b, "interval")
	w.loads(func(nc *nats.Conn) { load(b, nc, benchEvents(b)) })
	w.run("", "down")
	var starts durations
	var idle uint64
	for b.Loop() {
		starts = append(starts, w.startDaemon())
		idle = w.status().Memory
		w.run("", "down")
	}
	starts.report(b, "start")
	b.ReportMetric(float64(idle)/(1<<20), "idle-MiB")
}

// loads has a log filled as the daemon does it, and returns the daemon once all views are
// at its end.
func (w *bench) loads(load func(*nats.Conn)) programs.Daemon {
	endpoint, err := programs.Announced(w.data)
	if err != nil {
		w.b.Fatal(err)
	}
	own, err := bus.LoadCredential(filepath.Join(w.data, "credentials"), "daemon")
	if err != nil {
		w.b.Fatal(err)
	}
	nc, err := nats.Connect(endpoint.URL, nats.UserInfo(own.User, own.Password))
	if err != nil {
		w.b.Fatal(err)
	}
	load(nc)
	nc.Close()
	w.settle()
	return endpoint
}

// settle returns once all views are at the end of the log.
func (w *bench) settle() {
	w.b.Helper()
	for lagging := true; lagging; {
		lagging = false
		for _, v := range w.status().Views {
			lagging = lagging || v.Lag > 0
		}
	}
}

// settleRules returns once the shipped rules, which a first start brings in, are there
// and in all views: they are no part of what is measured.
func (w *bench) settleRules() {
	w.b.Helper()
	for range patience {
		if w.command("", "query", "retry").Run() == nil {
			w.settle()
			return
		}
	}
	w.b.Fatal("the rules are not there")
}

func (w *bench) status() schemas.Status {
	var s schemas.Status
	if err := json.Unmarshal(w.run("", "status", "--json"), &s); err != nil {
		w.b.Fatal(err)
	}
	return s
}

// BenchmarkBinarySize states what a release build of the two binaries weighs.
func BenchmarkBinarySize(b *testing.B) {
	dir := b.TempDir()
	out, err := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", dir, "../cmd/writ", "../cmd/writd").CombinedOutput()
	if err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	for b.Loop() {
	}
	for _, name := range []string{"writ", "writd"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(info.Size())/(1<<20), name+"-MiB")
	}
}
