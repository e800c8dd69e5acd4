package daemon

import (
	"context"

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
			return schemas.Status{Version: config.Version, Durability: d.durability()}, nil
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
