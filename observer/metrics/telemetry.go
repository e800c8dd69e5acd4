package metrics

import (
	"cmp"
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	otelprometheus "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/writbus/writ/schemas"
)

// ErrAddress is returned by Start for an address that is not this machine's
// own, or that cannot be listened on.
var ErrAddress = errors.New("metrics: the address cannot be used")

// ErrEndpoint is returned by Start for an OTLP endpoint that is no URL.
var ErrEndpoint = errors.New("metrics: the OTLP endpoint cannot be used")

const (
	scope        = "github.com/writbus/writ"
	scrapeBudget = 5 * time.Second
	// DefaultPatience is how long a stop waits for the endpoint.
	DefaultPatience = 3 * time.Second
	// exportEvery is how often metrics go to an OTLP endpoint, the SDK's default.
	exportEvery = time.Minute
	// Off as the address serves no metrics.
	Off = "off"
)

// Options say what is told, and to whom.
type Options struct {
	// Address is the loopback address of /metrics; "" is any free port, Off none.
	Address string
	// Endpoint is the base URL of an OTLP receiver over HTTP, such as
	// http://127.0.0.1:4318; "" sends nothing.
	Endpoint string
	Version  string
	// Status is the daemon's health, read at every scrape; nil for none.
	Status func(context.Context) (schemas.Status, error)
	Logger *slog.Logger
	// Patience is how long Stop waits for the endpoint; 0 is DefaultPatience.
	Patience time.Duration
	// Token is what a scrape has to send, without which nothing is told, and
	// TokenFile where it is kept.
	Token, TokenFile string
}

// Telemetry counts and traces. It is safe for concurrent use; its methods never
// fail and never wait, and those of a nil one do nothing.
type Telemetry struct {
	instruments
	tracer   trace.Tracer
	traces   *sdktrace.TracerProvider // nil without an endpoint
	meters   *metric.MeterProvider
	registry *prometheus.Registry
	server   *http.Server
	address  string
	patience time.Duration
}

// Start begins to count, and to serve /metrics. It returns ErrAddress or
// ErrEndpoint. An endpoint that does not answer is no error: what it misses is
// logged and lost.
func Start(ctx context.Context, o Options) (t *Telemetry, err error) {
	t = &Telemetry{tracer: noop.NewTracerProvider().Tracer(scope), registry: prometheus.NewRegistry(), patience: cmp.Or(o.Patience, DefaultPatience)}
	t.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if o.Status != nil {
		t.registry.MustRegister(health{o.Status, o.Logger})
	}
	about := resource.NewSchemaless(attribute.String("service.name", "writd"), attribute.String("service.version", o.Version))
	reader, err := otelprometheus.New(otelprometheus.WithRegisterer(t.registry), otelprometheus.WithoutScopeInfo(), otelprometheus.WithoutTargetInfo())
	if err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	meters := []metric.Option{metric.WithReader(reader), metric.WithResource(about)}
	if o.Endpoint != "" {
		otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { o.Logger.Warn("telemetry is not received", "endpoint", o.Endpoint, "error", err) }))
		spans, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(o.Endpoint+"/v1/traces"))
		if err != nil {
			return nil, fmt.Errorf("%w: %q: %w", ErrEndpoint, o.Endpoint, err)
		}
		numbers, err := otlpmetrichttp.New(ctx, otlpmetrichttp.WithEndpointURL(o.Endpoint+"/v1/metrics"))
		if err != nil {
			return nil, fmt.Errorf("%w: %q: %w", ErrEndpoint, o.Endpoint, err)
		}
		t.traces = sdktrace.NewTracerProvider(sdktrace.WithBatcher(spans), sdktrace.WithResource(about))
		t.tracer = t.traces.Tracer(scope)
		meters = append(meters, metric.WithReader(metric.NewPeriodicReader(numbers, metric.WithInterval(exportEvery))))
	}
	t.meters = metric.NewMeterProvider(meters...)
	if t.instruments, err = newInstruments(t.meters.Meter(scope)); err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	return t, t.serve(o)
}

// guarded lets only those scrape who can read the token's file: a port of loopback
// is open to everybody on the machine.
func (o Options) guarded(scrapes http.Handler) http.Handler {
	want := []byte("Bearer " + o.Token)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if o.Token == "" || subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), want) != 1 {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "writ: metrics are told to those who send the token in "+o.TokenFile+" as `Authorization: Bearer TOKEN`; Prometheus does with `authorization: {credentials_file: …}`", http.StatusUnauthorized)
			return
		}
		scrapes.ServeHTTP(w, r)
	})
}

// serve listens for scrapes.
func (t *Telemetry) serve(o Options) error {
	address := o.Address
	switch address {
	case Off:
		return nil
	case "":
		address = "127.0.0.1:0"
	}
	host, _, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err != nil || host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("%w: %q. Give a loopback address with a port, such as 127.0.0.1:9464, or off", ErrAddress, o.Address)
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrAddress, err)
	}
	t.address = listener.Addr().String()
	routes := http.NewServeMux()
	routes.Handle("GET /metrics", o.guarded(promhttp.HandlerFor(t.registry, promhttp.HandlerOpts{Timeout: scrapeBudget, ErrorHandling: promhttp.ContinueOnError})))
	t.server = &http.Server{Handler: routes, ReadHeaderTimeout: scrapeBudget, ErrorLog: slog.NewLogLogger(o.Logger.Handler(), slog.LevelDebug)}
	go func() {
		if err := t.server.Serve(listener); err != nil && !errors.Is(err, http.ErrServerClosed) {
			o.Logger.Error("metrics", "error", err)
		}
	}()
	return nil
}

// URL is where metrics are scraped, "" where they are not served.
func (t *Telemetry) URL() string {
	if t == nil || t.address == "" {
		return ""
	}
	return "http://" + t.address + "/metrics"
}

// Stop sends what was not sent yet, within the patience, and stops serving.
func (t *Telemetry) Stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), t.patience)
	defer cancel()
	var all []error
	if t.server != nil {
		all = append(all, t.server.Close())
	}
	if t.traces != nil {
		all = append(all, t.traces.Shutdown(ctx))
	}
	return errors.Join(append(all, t.meters.Shutdown(ctx))...)
}
