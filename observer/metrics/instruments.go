package metrics

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
)

// instruments are the counters and histograms. Names follow the conventions of
// OpenTelemetry; Prometheus shows them with underscores, the unit, and _total
// for counters.
type instruments struct {
	hooks, retrievals, appends, observes, recalls metric.Float64Histogram

	decisions, shown, observations, fallbacks metric.Int64Counter

	// ofStream are the attributes of appends, by stream: making them takes longer
	// than counting.
	ofStream *sync.Map
}

// durations are the bounds of the histograms' buckets, in seconds: from what a
// retrieval takes to what a hook may take.
var durations = []float64{.00005, .0001, .0002, .0003, .0005, .00075, .001, .002, .003, .005, .01, .02, .05, .1, .25, .5, 1, 2, 5}

func newInstruments(m metric.Meter) (i instruments, err error) {
	var all []error
	i.ofStream = new(sync.Map)
	histogram := func(name, description string) metric.Float64Histogram {
		h, err := m.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(description), metric.WithExplicitBucketBoundaries(durations...))
		all = append(all, err)
		return h
	}
	counter := func(name, description string) metric.Int64Counter {
		c, err := m.Int64Counter(name, metric.WithDescription(description))
		all = append(all, err)
		return c
	}
	i.hooks = histogram("writ.hook.duration", "Time the daemon took for a hook, by host and event.")
	i.retrievals = histogram("writ.retrieval.duration", "Time a retrieval of rules took.")
	i.appends = histogram("writ.append.duration", "Time until an append to the log was acknowledged, by stream.")
	i.observes = histogram("writ.observe.duration", "Time until observations were stored.")
	i.recalls = histogram("writ.recall.duration", "Time a search of the memory took.")
	i.decisions = counter("writ.decisions", "Decisions on tool requests, by verdict and the rule that refused.")
	i.shown = counter("writ.rules.shown", "Rules shown to agents.")
	i.observations = counter("writ.observations", "Observations stored, by verdict of the write gate.")
	i.fallbacks = counter("writ.observation.fallbacks", "Observations that the write gate let pass for want of a verdict, by reason.")
	return i, errors.Join(all...)
}

// Hook counts a hook that was answered.
func (t *Telemetry) Hook(ctx context.Context, host, event string, took time.Duration) {
	if t == nil {
		return
	}
	t.instruments.hooks.Record(ctx, took.Seconds(), metric.WithAttributes(attribute.String("host", host), attribute.String("event", event)))
}

// Decided counts a decision; rule is "" where nothing refused.
func (t *Telemetry) Decided(ctx context.Context, verdict, rule string) {
	if t == nil {
		return
	}
	attributes := []attribute.KeyValue{attribute.String("verdict", verdict), attribute.String("rule", rule)}
	t.instruments.decisions.Add(ctx, 1, metric.WithAttributes(attributes...))
	if span, traced := ctx.Value(ofHook{}).(trace.Span); traced {
		span.SetAttributes(attributes...)
	}
}

// Appended counts an append that was acknowledged.
func (t *Telemetry) Appended(ctx context.Context, stream string, took time.Duration) {
	if t == nil {
		return
	}
	of, known := t.instruments.ofStream.Load(stream)
	if !known {
		of, _ = t.instruments.ofStream.LoadOrStore(stream, metric.WithAttributeSet(attribute.NewSet(attribute.String("stream", stream))))
	}
	t.instruments.appends.Record(ctx, took.Seconds(), of.(metric.MeasurementOption))
}

// Retrieved counts a retrieval and the rules it showed.
func (t *Telemetry) Retrieved(ctx context.Context, embedder string, rules int, took time.Duration) {
	if t == nil {
		return
	}
	t.instruments.retrievals.Record(ctx, took.Seconds(), metric.WithAttributes(attribute.String("embedder", embedder)))
	t.instruments.shown.Add(ctx, int64(rules))
}

// Observed counts an observation that was stored, with its verdict, and the
// reason of a fallback, "" for none.
func (t *Telemetry) Observed(ctx context.Context, verdict, fallback string) {
	if t == nil {
		return
	}
	t.instruments.observations.Add(ctx, 1, metric.WithAttributes(attribute.String("verdict", verdict)))
	if fallback != "" {
		t.instruments.fallbacks.Add(ctx, 1, metric.WithAttributes(attribute.String("reason", fallback)))
	}
}

// Stored counts a request to store observations.
func (t *Telemetry) Stored(ctx context.Context, took time.Duration) {
	if t == nil {
		return
	}
	t.instruments.observes.Record(ctx, took.Seconds())
}

// Recalled counts a search of the memory.
func (t *Telemetry) Recalled(ctx context.Context, took time.Duration) {
	if t == nil {
		return
	}
	t.instruments.recalls.Record(ctx, took.Seconds())
}
