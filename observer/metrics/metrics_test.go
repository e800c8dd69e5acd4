package metrics

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	metricspb "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/writbus/writ/schemas"
)

var quietly = slog.New(slog.DiscardHandler)

func start(t *testing.T, o Options) *Telemetry {
	t.Helper()
	o.Logger, o.Token = quietly, "a token"
	m, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Stop() })
	return m
}

func scrape(t *testing.T, m *Telemetry) string {
	t.Helper()
	request, err := http.NewRequest(http.MethodGet, m.URL(), nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer a token")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%d %v", response.StatusCode, err)
	}
	return string(raw)
}

func TestPrometheusSeesWhatHappened(t *testing.T) {
	m := start(t, Options{Version: "v1", Status: func(context.Context) (schemas.Status, error) {
		return schemas.Status{
			Version: "v1", Durability: "interval", Rules: 294, Sessions: 2,
			Streams: []schemas.StreamStatus{{Name: schemas.StreamSessions, Messages: 7, Bytes: 900}},
			Views:   []schemas.ViewStatus{{Name: "rules", State: "live"}, {Name: "sessions", State: "rebuilding", Lag: 3}},
		}, nil
	}})
	ctx := t.Context()
	m.Hook(ctx, "claude", "PreToolUse", 3*time.Millisecond)
	m.Decided(ctx, "deny", "ENF-GATE-PLAN")
	m.Retrieved(ctx, "static", 4, 200*time.Microsecond)
	m.Appended(ctx, "WRIT_SESSIONS", time.Millisecond)
	m.Observed(ctx, "allow", "missing_annotation")
	m.Stored(ctx, time.Millisecond)
	m.Recalled(ctx, time.Millisecond)
	text := scrape(t, m)
	for _, line := range []string{
		`writ_decisions_total{rule="ENF-GATE-PLAN",verdict="deny"} 1`,
		`writ_hook_duration_seconds_bucket{event="PreToolUse",host="claude",le="0.003"} 1`,
		`writ_retrieval_duration_seconds_count{embedder="static"} 1`,
		`writ_rules_shown_total 4`,
		`writ_append_duration_seconds_count{stream="WRIT_SESSIONS"} 1`,
		`writ_observations_total{verdict="allow"} 1`,
		`writ_observation_fallbacks_total{reason="missing_annotation"} 1`,
		`writ_observe_duration_seconds_count 1`, `writ_recall_duration_seconds_count 1`,
		`writ_stream_messages{stream="WRIT_SESSIONS"} 7`, `writ_stream_bytes{stream="WRIT_SESSIONS"} 900`,
		`writ_view_lag_messages{view="sessions"} 3`, `writ_view_live{view="rules"} 1`, `writ_view_live{view="sessions"} 0`,
		`writ_live_sessions 2`, `writ_rules 294`, `writ_build_info{durability="interval",version="v1"} 1`,
		`go_goroutines`,
	} {
		if !strings.Contains(text, line) {
			t.Errorf("not there: %s", line)
		}
	}
	problems, err := testutil.GatherAndLint(m.registry)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		if strings.HasPrefix(p.Metric, "writ_") {
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
	}
}

func TestAStatusThatFailsCostsOnlyItsGauges(t *testing.T) {
	m := start(t, Options{Status: func(context.Context) (schemas.Status, error) { return schemas.Status{}, errors.New("no log") }})
	if text := scrape(t, m); !strings.Contains(text, "go_goroutines") || strings.Contains(text, "writ_rules ") {
		t.Errorf("%s", text)
	}
}

// collector is an OTLP receiver over HTTP.
type collector struct {
	mu      sync.Mutex
	spans   map[string]span
	metrics map[string]bool
}

type span struct {
	id, parent string
	took       time.Duration
	attributes map[string]string
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch r.URL.Path {
	case "/v1/traces":
		var request tracepb.ExportTraceServiceRequest
		if proto.Unmarshal(raw, &request) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		for _, resource := range request.ResourceSpans {
			for _, scope := range resource.ScopeSpans {
				for _, s := range scope.Spans {
					one := span{string(s.SpanId), string(s.ParentSpanId), time.Duration(s.EndTimeUnixNano - s.StartTimeUnixNano), map[string]string{}}
					for _, a := range s.Attributes {
						one.attributes[a.Key] = a.Value.GetStringValue()
					}
					c.spans[s.Name] = one
				}
			}
		}
	case "/v1/metrics":
		var request metricspb.ExportMetricsServiceRequest
		if proto.Unmarshal(raw, &request) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		for _, resource := range request.ResourceMetrics {
			for _, scope := range resource.ScopeMetrics {
				for _, m := range scope.Metrics {
					c.metrics[m.Name] = true
				}
			}
		}
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

func TestTracesAndMetricsReachAReceiver(t *testing.T) {
	received := &collector{spans: map[string]span{}, metrics: map[string]bool{}}
	server := httptest.NewServer(received)
	defer server.Close()
	m := start(t, Options{Endpoint: server.URL, Address: Off, Patience: 5 * time.Minute})
	ctx, end := m.HookSpan(t.Context(), time.Now().Add(-20*time.Millisecond), "host", "claude")
	inner, endInner := m.Span(ctx, SpanDecide)
	_, endAppend := m.Span(inner, SpanAppend)
	endAppend(nil)
	m.Decided(inner, "deny", "ENF-GATE-PLAN")
	endInner(errors.New("a secret path"))
	end(nil)
	m.Observed(ctx, "hold", "")
	if m.URL() != "" {
		t.Errorf("metrics are off, and served at %s", m.URL())
	}
	if err := m.Stop(); err != nil {
		t.Fatal(err)
	}
	received.mu.Lock()
	defer received.mu.Unlock()
	hook, travel, decide, appended := received.spans[SpanHook], received.spans[SpanTravel], received.spans[SpanDecide], received.spans[SpanAppend]
	if hook.id == "" || travel.parent != hook.id || decide.parent != hook.id || appended.parent != decide.id {
		t.Errorf("the spans do not hang together: %+v", received.spans)
	}
	if hook.took < 20*time.Millisecond || travel.took < 20*time.Millisecond || hook.attributes["host"] != "claude" {
		t.Errorf("hook %+v, travel %+v", hook, travel)
	}
	if hook.attributes["verdict"] != "deny" || hook.attributes["rule"] != "ENF-GATE-PLAN" || decide.attributes["verdict"] != "" {
		t.Errorf("the verdict belongs to the hook: %+v, decide %+v", hook, decide)
	}
	if !received.metrics["writ.observations"] {
		t.Errorf("metrics received: %v", received.metrics)
	}
}

func TestWithoutAReceiverNothingIsTraced(t *testing.T) {
	m := start(t, Options{})
	// The least of some runs: all of the process is counted.
	least := math.Inf(1)
	for range 10 {
		least = min(least, testing.AllocsPerRun(100, func() {
			_, end := m.Span(t.Context(), SpanDecide)
			end(nil)
		}))
	}
	if least != 0 {
		t.Errorf("a span that nobody receives costs %v allocations", least)
	}
	var none *Telemetry
	_, end := none.HookSpan(t.Context(), time.Now())
	end(nil)
	none.Decided(t.Context(), "allow", "")
}

func TestStartRefuses(t *testing.T) {
	for _, o := range []Options{{Address: "0.0.0.0:0"}, {Address: "9464"}, {Address: "example.com:9464"}} {
		o.Logger = quietly
		if _, err := Start(t.Context(), o); !errors.Is(err, ErrAddress) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}
