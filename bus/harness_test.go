package bus_test

import (
	"context"
	"math/rand/v2"
	"net"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/embedded"
)

// host is a server that a test may stop and start again at the same port.
type host struct {
	t       testing.TB
	dir     string
	creds   embedded.Credentials
	options embedded.Options

	mu sync.Mutex
	s  *embedded.Server
}

func newHost(t testing.TB, o embedded.Options) *host {
	t.Helper()
	h := &host{t: t, dir: t.TempDir(), options: o}
	var err error
	if h.creds, err = embedded.LoadOrCreateCredentials(filepath.Join(h.dir, "credentials")); err != nil {
		t.Fatal(err)
	}
	if h.options.Dir == "" {
		h.options.Dir = filepath.Join(h.dir, "store")
	}
	h.options.Users = h.creds.Users()
	if h.options.Port == 0 {
		h.options.Host, h.options.Port = ownAddress(t)
	}
	h.start()
	t.Cleanup(h.stop)
	return h
}

// ownAddress returns an address that a server can take again and again: where
// the system has more than one of loopback, nobody else is given a port there, not
// even a connection that a client of the stopped server tries to make.
func ownAddress(t testing.TB) (host string, port int) {
	t.Helper()
	host = "127.0.0.1"
	if runtime.GOOS == "linux" {
		host = net.IPv4(127, byte(1+rand.IntN(250)), byte(rand.IntN(250)), byte(1+rand.IntN(250))).String()
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return host, l.Addr().(*net.TCPAddr).Port
}

func (h *host) start() {
	h.t.Helper()
	s, err := embedded.Start(context.Background(), h.options)
	if err != nil {
		h.t.Fatal(err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.s = s
}

func (h *host) stop() {
	if err := h.server().Shutdown(context.Background()); err != nil {
		h.t.Error(err)
	}
}

func (h *host) server() *embedded.Server {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.s
}

func (h *host) as(role embedded.Role) bus.Options {
	return bus.Options{URL: h.server().URL(), User: h.creds[role].User, Password: h.creds[role].Password, Name: string(role), Timeout: patient}
}

func (h *host) inProcess(role embedded.Role) bus.Options {
	o := h.as(role)
	o.Dial = func() (net.Conn, error) { return h.server().Dial() }
	return o
}

func connect(t testing.TB, o bus.Options) *bus.Conn {
	t.Helper()
	c, err := bus.Connect(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// daemon connects as the daemon, with streams.
func daemon(t testing.TB, h *host) *bus.Conn {
	t.Helper()
	c := connect(t, h.as(embedded.RoleDaemon))
	must(t, c.EnsureStreams(t.Context(), bus.Retention{}))
	return c
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// patient bounds what must happen; no result depends on it.
const patient = 3 * time.Minute

// status is a service that does nothing.
var status = bus.Endpoint{
	Name: "status", Subject: "writ.svc.status",
	Handle: func(context.Context, bus.Request) ([]byte, error) { return nil, nil },
}
