package metrics

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// Names of the spans. Persisted in people's dashboards; never change.
const (
	SpanHook     = "hook"          // the hook's process, as far as the daemon can see it
	SpanTravel   = "hook.travel"   // from the hook's start until the daemon had its payload
	SpanDecide   = "decide"        // the decision, with what it needs from files
	SpanAppend   = "append"        // until the log acknowledged
	SpanRetrieve = "retrieve"      // the rules for a prompt or a file
	SpanReply    = "reply"         // the host's answer is made
	SpanStore    = "observe.store" // observations are stored
	SpanClassify = "observe.classify"
	SpanRecall   = "recall.search"
)

// Span begins a part of what ctx already traces. end takes what went wrong,
// nil for nothing; attributes come in pairs of key and value.
func (t *Telemetry) Span(ctx context.Context, name string, attributes ...string) (context.Context, func(error)) {
	if t == nil || t.traces == nil {
		return ctx, ended
	}
	ctx, span := t.tracer.Start(ctx, name, trace.WithAttributes(pairs(attributes)...))
	return ctx, closing(span)
}

// ofHook is the key under which a context has the span of the hook.
type ofHook struct{}

// HookSpan begins the trace of a hook's whole way, from when its process began.
// What lies between that and now is its first part. began is zero where the
// caller does not say. [Telemetry.Decided] gives it the verdict.
func (t *Telemetry) HookSpan(ctx context.Context, began time.Time, attributes ...string) (context.Context, func(error)) {
	if t == nil || t.traces == nil {
		return ctx, ended
	}
	now := time.Now()
	if began.IsZero() || began.After(now) || now.Sub(began) > time.Minute {
		began = now
	}
	ctx, span := t.tracer.Start(ctx, SpanHook, trace.WithTimestamp(began), trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(pairs(attributes)...))
	if began.Before(now) {
		_, travel := t.tracer.Start(ctx, SpanTravel, trace.WithTimestamp(began))
		travel.End(trace.WithTimestamp(now))
	}
	return context.WithValue(ctx, ofHook{}, span), closing(span)
}

func ended(error) {}

func closing(span trace.Span) func(error) {
	return func(err error) {
		if err != nil {
			// The text may quote a file or a prompt, and stays here.
			span.SetStatus(codes.Error, "failed")
		}
		span.End()
	}
}

func pairs(attributes []string) []attribute.KeyValue {
	out := make([]attribute.KeyValue, 0, len(attributes)/2)
	for i := 0; i+1 < len(attributes); i += 2 {
		out = append(out, attribute.String(attributes[i], attributes[i+1]))
	}
	return out
}
