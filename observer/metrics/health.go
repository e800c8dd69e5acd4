package metrics

import (
	"context"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/writbus/writ/schemas"
)

// health reports the daemon's state as it is when somebody asks.
type health struct {
	status func(context.Context) (schemas.Status, error)
	logger *slog.Logger
}

func gauge(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("writ_"+name, help, labels, nil)
}

var (
	streamMessages  = gauge("stream_messages", "Messages in a stream of the log.", "stream")
	streamBytes     = gauge("stream_bytes", "Size of a stream of the log.", "stream")
	viewLag         = gauge("view_lag_messages", "Messages a view is behind the log.", "view")
	viewLive        = gauge("view_live", "1 where a view is live, 0 where it is rebuilt or stopped.", "view")
	viewQuarantined = gauge("view_quarantined", "Messages a view put aside because it could not read them.", "view")
	liveSessions    = gauge("live_sessions", "Sessions the daemon keeps in memory.")
	rules           = gauge("rules", "Rules that can be found.")
	warnings        = gauge("warnings", "Warnings that writ status shows.")
	buildInfo       = gauge("build_info", "1, with the version and how the log is kept.", "version", "durability")
)

// Describe implements prometheus.Collector.
func (h health) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{streamMessages, streamBytes, viewLag, viewLive, viewQuarantined, liveSessions, rules, warnings, buildInfo} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (h health) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeBudget)
	defer cancel()
	s, err := h.status(ctx)
	if err != nil {
		h.logger.Warn("metrics: read the daemon's state", "error", err)
		return
	}
	set := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	for _, x := range s.Streams {
		set(streamMessages, float64(x.Messages), string(x.Name))
		set(streamBytes, float64(x.Bytes), string(x.Name))
	}
	for _, v := range s.Views {
		set(viewLag, float64(v.Lag), v.Name)
		live := 0.0
		if v.State == "live" {
			live = 1
		}
		set(viewLive, live, v.Name)
		set(viewQuarantined, float64(v.Quarantined), v.Name)
	}
	set(liveSessions, float64(s.Sessions))
	set(rules, float64(s.Rules))
	set(warnings, float64(len(s.Warnings)))
	set(buildInfo, 1, s.Version, s.Durability)
}
