package memory

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/embedded"
	"github.com/writbus/writ/enforcement/redact"
	"github.com/writbus/writ/observer/observation"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/projections/pebblestore"
	"github.com/writbus/writ/retrieval/embed/choice"
	"github.com/writbus/writ/retrieval/rule"
	"github.com/writbus/writ/schemas"
)

// inside opens a memory over a log and views of its own; shut ends it as a
// daemon would.
func inside(t testing.TB, data string) (d *fixture, shut func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	f := &fixture{data: data, warned: make(chan string, 8)}
	server, err := embedded.Start(ctx, embedded.Options{
		Dir: f.log(), Durability: embedded.Interval, Users: []embedded.User{{Name: "writd", Password: "x", Role: embedded.RoleDaemon}},
	})
	check(t, err)
	connect := func() *bus.Conn {
		conn, err := bus.Connect(ctx, bus.Options{Dial: server.Dial, User: "writd", Password: "x", Timeout: 3 * time.Minute})
		check(t, err)
		return conn
	}
	conn, reading := connect(), connect()
	check(t, conn.EnsureStreams(ctx, bus.Retention{}))
	now := func() time.Time { return time.Now().UTC() }
	writes := bus.WriterOptions{Source: "/writ/daemon", Now: now, Redact: redact.Payload}
	views, err := pebblestore.Open(f.views(), pebblestore.Options{})
	check(t, err)
	store := NewStore(choice.Open(choice.Settings{Name: "static"}), limits)
	rules, verdicts := projections.NewRules(rule.Evolve), projections.NewVerdicts()
	runtime, err := projections.NewRuntime(projections.OnBus(reading, reading.Writer(writes)), views, projections.Options{}, store.View(), rules, verdicts)
	check(t, err)
	running, stopViews := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	go func() { ended <- runtime.Run(running) }()
	f.Service, err = Open(store, Options{
		Log: conn.Writer(writes), Conn: conn, Views: runtime, Rules: rules, Verdicts: verdicts, Meter: noMeter{}, Now: now,
		Logger: slog.New(slog.DiscardHandler), Keys: filepath.Join(data, "memory.keys"), KeysLater: true,
		Settings: observation.DefaultSettings(), Propose: proposed, Warn: func(said string) { f.warned <- said },
	})
	check(t, err)
	stopReading, stop := f.Begin(ctx)
	var once sync.Once
	shut = func() {
		once.Do(func() {
			stopReading()
			stop()
			stopViews()
			<-ended
			check(t, views.Close())
			reading.Close()
			conn.Close()
			check(t, server.Shutdown(context.WithoutCancel(ctx)))
			cancel()
		})
	}
	t.Cleanup(shut)
	return f, shut
}

// proposed stands in for the gate of rules, which the daemon hands in: it admits
// what names its rule OPS-DEPLOY-001.
func proposed(_ context.Context, r schemas.RuleProposeRequest) (schemas.RuleProposeReply, error) {
	if strings.Contains(r.Content, "OPS-DEPLOY-001") {
		return schemas.RuleProposeReply{ID: "OPS-DEPLOY-001", Admitted: true}, nil
	}
	return schemas.RuleProposeReply{Reasons: []string{"its id does not say where it belongs", "its statement is no sentence"}}, nil
}

// fixture is a memory with its folder.
type fixture struct {
	*Service
	data   string
	warned chan string
}

func (f *fixture) log() string   { return filepath.Join(f.data, "streams") }
func (f *fixture) views() string { return filepath.Join(f.data, "views") }

// limits are the settings' defaults.
var limits = observation.DefaultLimits()

func put(t testing.TB, path, content string) {
	t.Helper()
	check(t, os.WriteFile(path, []byte(content), 0o600))
}

// secret has the form of a key, and is none.
var secret = "AKIA" + "Q3EGRZ7MNB4KXVPT"

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// noMeter counts nothing.
type noMeter struct{}

func (noMeter) Span(ctx context.Context, _ string, _ ...string) (context.Context, func(error)) {
	return ctx, func(error) {}
}
func (noMeter) Stored(context.Context, time.Duration)    {}
func (noMeter) Observed(context.Context, string, string) {}
func (noMeter) Recalled(context.Context, time.Duration)  {}

func text(id, input string) schemas.Observation {
	return schemas.Observation{ID: id, Input: []byte(input)}
}

func observed(t testing.TB, d *fixture, all ...schemas.Observation) {
	t.Helper()
	if _, err := d.observe(t.Context(), schemas.ObserveRequest{Observations: all}); err != nil {
		t.Fatal(err)
	}
	if _, err := d.upToDate(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestPromptsGetMemoriesOncePerSession(t *testing.T) {
	data := t.TempDir()
	d, shut := inside(t, data)
	observed(t, d,
		text("a", "[gate=allow] The invoice service must be restarted after a migration of its schema"),
		text("h", "[gate=hold] The invoice service migration of the schema is perhaps not needed"),
		schemas.Observation{ID: "p", Scope: "/other", Input: []byte("[gate=allow] invoice service migration of another project's schema")},
	)
	prompt := "write the migration of the schema of the invoice service"
	for _, c := range []struct {
		session, project, prompt string
		room                     int
		want                     []string
	}{
		{"s1", "/mine", "say hello", 4000, nil},
		{"s1", "/mine", prompt, 60, nil},
		{"s1", "/mine", prompt, 4000, []string{"must be restarted"}},
		{"s1", "/mine", prompt, 4000, nil},
		{"s2", "/other", prompt, 4000, []string{"must be restarted", "another project's"}},
		{"", "/mine", prompt, 4000, nil},
	} {
		block, tokens := d.ForPrompt(t.Context(), c.session, c.project, c.prompt, c.room)
		if lines := strings.Count(block, "\n- "); lines != len(c.want) || (tokens > 0) != (len(c.want) > 0) || len(block) > c.room {
			t.Errorf("%+v: %q, %d tokens", c, block, tokens)
		}
		for _, part := range c.want {
			if !strings.Contains(block, part) {
				t.Errorf("%+v: %q lacks %q", c, block, part)
			}
		}
	}
	shut()
	d, _ = inside(t, data)
	if _, err := d.upToDate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if block, _ := d.ForPrompt(t.Context(), "s1", "/mine", prompt, 4000); block != "" {
		t.Errorf("shown again after a restart: %q", block)
	}
}

func TestDriftIsTold(t *testing.T) {
	d, _ := inside(t, t.TempDir())
	var all []schemas.Observation
	for i := range 50 {
		all = append(all, text(fmt.Sprint(i), fmt.Sprintf("[gate=discard] noise number %d", i)))
	}
	observed(t, d, all[:44]...)
	health := func() schemas.MemoryHealth {
		t.Helper()
		h, err := d.health(t.Context(), schemas.MemoryHealthRequest{})
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	if h := health(); len(h.Alarms) != 0 || h.Window.Discard != 44 || h.Window.DiscardRatio != 1 {
		t.Errorf("below the least number: %+v", h)
	}
	observed(t, d, all[44:]...)
	for range 2 {
		if h := health(); len(h.Alarms) != 1 || h.Alarms[0].Alarm != "discard" || h.Alarms[0].Ratio != 1 {
			t.Errorf("alarms %+v", h.Alarms)
		}
	}
	for i := range 40 {
		observed(t, d, text(fmt.Sprint("a", i), fmt.Sprintf("[gate=allow] fact number %d", i)))
	}
	if h := health(); len(h.Alarms) != 0 {
		t.Errorf("still %+v at %v", h.Alarms, h.Window.DiscardRatio)
	}
	drifts := map[schemas.Type]int{}
	check(t, d.Conn.Follow(t.Context(), schemas.StreamMemory, 0, bus.FollowOptions{UntilEnd: true}, func(records []schemas.Record) error {
		for _, r := range records {
			events, err := r.Events()
			if err != nil {
				return err
			}
			for _, e := range events {
				drifts[e.Type()]++
			}
		}
		return nil
	}))
	if drifts["drift.raised"] != 1 || drifts["drift.cleared"] != 1 {
		t.Errorf("events %v", drifts)
	}
	week, err := d.health(t.Context(), schemas.MemoryHealthRequest{Week: true})
	if err != nil || week.Before == nil || week.Before.Allow != 0 || week.Window.Allow != 40 || week.Total != 90 {
		t.Errorf("week %+v, %v", week, err)
	}
}
