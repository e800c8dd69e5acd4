package daemon

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/observer/metrics"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/atomicfile"
)

// telemetryPatience bounds the last of what monitoring is told. A variable for
// tests.
var telemetryPatience = metrics.DefaultPatience

// metricsToken is the secret of those who may read the metrics, made at the first
// start.
func metricsToken(file string) (string, error) {
	raw, err := os.ReadFile(file)
	if token := strings.TrimSpace(string(raw)); err == nil && token != "" {
		return token, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	token := rand.Text()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return "", err
	}
	return token, atomicfile.Write(file, []byte(token+"\n"), 0o600)
}

// beginTelemetry starts to count and trace. Monitoring that cannot start is a
// warning: nobody is refused for want of it.
func (d *Daemon) beginTelemetry(ctx context.Context) (stop func()) {
	file := filepath.Join(d.layout.Credentials(), "metrics.token")
	token, err := metricsToken(file)
	if err != nil {
		d.warn("nobody can read /metrics: " + err.Error())
	}
	o := metrics.Options{
		Token: token, TokenFile: file,
		Address: d.settings.Metrics, Endpoint: d.settings.OTLP, Version: config.Version, Logger: d.logger, Patience: telemetryPatience,
		Status: func(ctx context.Context) (schemas.Status, error) {
			if d.serving.Load() {
				return d.status(ctx, bus.None{})
			}
			return schemas.Status{Version: config.Version, Durability: durabilityOf(d.settings)}, nil
		},
	}
	d.telemetry, err = metrics.Start(ctx, o)
	if err != nil {
		d.warn("nothing is told to monitoring: " + err.Error() + ". The settings are metrics and otlp_endpoint in " + d.layout.Settings())
		d.telemetry = nil
		return func() {}
	}
	return func() {
		if err := d.telemetry.Stop(); err != nil {
			d.logger.Warn("the last telemetry was not sent", "error", err)
		}
	}
}
