package daemon

import (
	"context"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/observer/metrics"
	"github.com/writbus/writ/schemas"
)

// telemetryPatience bounds the last of what monitoring is told. A variable for
// tests.
var telemetryPatience = metrics.DefaultPatience

// beginTelemetry starts to count and trace. Monitoring that cannot start is a
// warning: nobody is refused for want of it.
func (d *Daemon) beginTelemetry(ctx context.Context) (stop func(), err error) {
	o := metrics.Options{
		Address: d.settings.Metrics, Endpoint: d.settings.OTLP, Version: config.Version, Logger: d.logger, Patience: telemetryPatience,
		Status: func(ctx context.Context) (schemas.Status, error) {
			if d.serving.Load() {
				return d.status(ctx, bus.None{})
			}
			return schemas.Status{Version: config.Version, Durability: d.settings.Durability}, nil
		},
	}
	d.telemetry, err = metrics.Start(ctx, o)
	if err != nil {
		d.warn("nothing is told to monitoring: " + err.Error() + ". The settings are metrics and otlp_endpoint in " + d.layout.Settings())
		d.telemetry = nil
		return func() {}, nil
	}
	return func() {
		if err := d.telemetry.Stop(); err != nil {
			d.logger.Warn("the last telemetry was not sent", "error", err)
		}
	}, nil
}

// observeTraced is observe, counted and traced.
func (d *Daemon) observeTraced(ctx context.Context, r schemas.ObserveRequest) (schemas.ObserveReply, error) {
	ctx, end := d.telemetry.Span(ctx, metrics.SpanStore)
	began := time.Now()
	reply, err := d.observe(ctx, r)
	end(err)
	if err != nil {
		return reply, err
	}
	d.telemetry.Stored(ctx, time.Since(began))
	for _, o := range reply.Observed {
		if o.Repeated {
			continue
		}
		fallback := ""
		if o.Fallback {
			fallback = o.Reason
		}
		d.telemetry.Observed(ctx, o.Verdict, fallback)
	}
	return reply, nil
}

// recallTraced is recall, counted and traced.
func (d *Daemon) recallTraced(ctx context.Context, r schemas.RecallRequest) (schemas.RecallReply, error) {
	ctx, end := d.telemetry.Span(ctx, metrics.SpanRecall)
	began := time.Now()
	reply, err := d.recall(ctx, r)
	end(err)
	d.telemetry.Recalled(ctx, time.Since(began))
	return reply, err
}
