package browse

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/writbus/writ/observer/agent/egress"
)

// maxTraffic bounds what one page may load, in bytes.
const maxTraffic = 64 << 20

// dialer reaches what a guard allows.
type dialer func(ctx context.Context, network, addr string) (net.Conn, error)

// proxy is a forward proxy on loopback for one browser.
type proxy struct {
	guard     egress.Guard
	dial      dialer
	transport *http.Transport
	listener  net.Listener
	server    *http.Server
	left      atomic.Int64 // of maxTraffic

	mu      sync.Mutex
	closed  bool
	tunnels map[net.Conn]bool
	refused map[string]error // by host as the browser names it
}

func newProxy(guard egress.Guard, dial dialer) (*proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("browse: proxy: %w", err)
	}
	p := &proxy{
		guard: guard, dial: dial, listener: listener, tunnels: map[net.Conn]bool{}, refused: map[string]error{},
		transport: &http.Transport{Proxy: nil, DialContext: dial, DisableCompression: true, MaxResponseHeaderBytes: 256 << 10},
	}
	p.left.Store(maxTraffic)
	p.server = &http.Server{Handler: p, ReadHeaderTimeout: pageTime, MaxHeaderBytes: 256 << 10}
	go func() { _ = p.server.Serve(listener) }() // ends when it is closed
	return p, nil
}

func (p *proxy) url() string { return "http://" + p.listener.Addr().String() }

// close ends all connections.
func (p *proxy) close() {
	_ = p.server.Close() // the listener too
	p.transport.CloseIdleConnections()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for c := range p.tunnels {
		_ = c.Close() // nothing in it is wanted
	}
}

// why returns the reason why the guard refused a host, nil where it did not.
func (p *proxy) why(host string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.refused[strings.ToLower(host)]
}

func (p *proxy) refuse(w http.ResponseWriter, host string, err error) {
	status := http.StatusBadGateway
	if errors.Is(err, egress.ErrRefused) {
		status = http.StatusForbidden
		p.mu.Lock()
		if len(p.refused) < 1000 {
			p.refused[strings.ToLower(host)] = err
		}
		p.mu.Unlock()
	}
	http.Error(w, err.Error(), status)
}

// ServeHTTP takes what a browser asks of a proxy: tunnels and whole URLs.
func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodConnect:
		p.tunnel(w, r)
	case r.URL.IsAbs():
		p.forward(w, r)
	default:
		http.Error(w, "this is a proxy", http.StatusBadRequest)
	}
}

func (p *proxy) tunnel(w http.ResponseWriter, r *http.Request) {
	target, err := p.guard.URL("https://" + r.Host + "/")
	if err != nil {
		p.refuse(w, hostOf(r.Host), err)
		return
	}
	addr := target.Host
	if target.Port() == "" {
		addr = net.JoinHostPort(target.Hostname(), "443")
	}
	there, err := p.dial(r.Context(), "tcp", addr)
	if err != nil {
		p.refuse(w, hostOf(r.Host), err)
		return
	}
	defer func() { _ = there.Close() }() // both sides are through
	here, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer func() { _ = here.Close() }()
	if !p.keep(here, there) {
		return
	}
	defer p.drop(here, there)
	if _, err := io.WriteString(here, "HTTP/1.1 200 OK\r\n\r\n"); err != nil {
		return
	}
	var wait sync.WaitGroup
	wait.Go(func() {
		_, _ = io.Copy(there, buffered.Reader) // ends with either side
		_ = there.Close()
	})
	_, _ = io.Copy(here, &metered{there, &p.left})
	_ = here.Close()
	wait.Wait()
}

func (p *proxy) keep(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		p.tunnels[c] = true
	}
	return !p.closed
}

func (p *proxy) drop(conns ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		delete(p.tunnels, c)
	}
}

// hop are the headers that are for a proxy alone (RFC 9110, 7.6.1).
var hop = []string{"Connection", "Proxy-Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Te", "Trailer", "Transfer-Encoding", "Upgrade"}

func (p *proxy) forward(w http.ResponseWriter, r *http.Request) {
	target, err := p.guard.URL(r.URL.String())
	if err == nil && target.Scheme != "http" {
		err = fmt.Errorf("%w: scheme %q", egress.ErrRefused, target.Scheme)
	}
	if err != nil {
		p.refuse(w, r.URL.Hostname(), err)
		return
	}
	out := r.Clone(r.Context())
	out.URL, out.Host, out.RequestURI = target, target.Host, ""
	for _, name := range hop {
		out.Header.Del(name)
	}
	response, err := p.transport.RoundTrip(out)
	if err != nil {
		p.refuse(w, r.URL.Hostname(), err)
		return
	}
	defer func() { _ = response.Body.Close() }() // read as far as it is wanted
	for _, name := range hop {
		response.Header.Del(name)
	}
	for name, values := range response.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(response.StatusCode)
	if _, err := io.Copy(w, &metered{response.Body, &p.left}); err != nil {
		panic(http.ErrAbortHandler) // the browser must not take a part for the whole
	}
}

// hostOf is a host without its port.
func hostOf(hostport string) string {
	if u, err := url.Parse("//" + hostport); err == nil {
		return u.Hostname()
	}
	return hostport
}

var errTraffic = fmt.Errorf("browse: the page loads more than %d bytes", maxTraffic)

// metered ends where the page's traffic is used up.
type metered struct {
	from io.Reader
	left *atomic.Int64
}

func (m *metered) Read(b []byte) (int, error) {
	if m.left.Load() <= 0 {
		return 0, errTraffic
	}
	n, err := m.from.Read(b)
	m.left.Add(-int64(n))
	return n, err
}

// pageTime bounds one page from start to end.
const pageTime = 45 * time.Second
