// Package metrics tells monitoring systems what the daemon does: counters,
// gauges and durations for Prometheus at /metrics, always, and the same with
// traces over OTLP when an endpoint is configured.
//
// A trace covers the whole way of a hook: the client's process, the request's
// travel, the decision, the append to the log and the reply. Neither traces
// nor metrics carry what people, agents or files say: names of hosts, hooks,
// rules, verdicts and streams, sizes and durations only. Metrics are not
// events: they are lost with the daemon, and the log knows nothing of them.
// Without an endpoint no span is made.
package metrics
