package dashboard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/writbus/writ/schemas"
)

// ErrAddress is returned by Start for an address that is not this machine's
// own, or that cannot be listened on.
var ErrAddress = errors.New("dashboard: the address cannot be used")

const (
	readTimeout  = 10 * time.Second
	maxRequest   = 64 << 10 // bytes of an act's body
	maxWatchers  = 16       // pages with a live connection
	stopPatience = 2 * time.Second
)

// Options say what the pages stand on.
type Options struct {
	// Address is a loopback host and port; "" is 127.0.0.1 and any free port.
	Address string
	// Ask puts a request to a service of the daemon.
	Ask func(ctx context.Context, subject string, body []byte) ([]byte, error)
	// Follow hands over what comes after a sequence of a stream, until the
	// context ends or fn fails.
	Follow func(ctx context.Context, stream schemas.Stream, after uint64, fn func([]schemas.ReplayEvent) error) error
	// End is the last sequence of a stream.
	End func(ctx context.Context, stream schemas.Stream) (uint64, error)
	// Announce is told the port before anything listens there.
	Announce func(port string) error
	// Help gives the documents of the help pages; nil is none.
	Help func() []Topic
	// Now is the clock.
	Now    func() time.Time
	Logger *slog.Logger
}

// Server serves the pages until it is stopped. It is safe for concurrent use.
type Server struct {
	options  Options
	doors    *doors
	http     *http.Server
	page     page
	port     string
	watchers chan struct{}
	ctx      context.Context
	cancel   context.CancelFunc
	done     chan struct{}
}

// Start listens. It returns ErrAddress.
func Start(o Options) (*Server, error) {
	o.Address = cmp.Or(o.Address, "127.0.0.1:0")
	host, _, err := net.SplitHostPort(o.Address)
	if err != nil || !loopback(host) {
		return nil, fmt.Errorf("%w: %q. Give a loopback address with a port, such as 127.0.0.1:7777; other machines reach it through an SSH tunnel", ErrAddress, o.Address)
	}
	listeners, port, err := listen(o.Address, o.Announce)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &Server{
		options: o, doors: newDoors(o.Now), port: port, watchers: make(chan struct{}, maxWatchers),
		ctx: ctx, cancel: cancel, done: make(chan struct{}),
	}
	s.http = &http.Server{
		Handler: s.handler(), ReadHeaderTimeout: readTimeout, ReadTimeout: readTimeout, MaxHeaderBytes: 16 << 10,
		ErrorLog:    slog.NewLogLogger(o.Logger.Handler(), slog.LevelDebug),
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	var serving sync.WaitGroup
	for _, listener := range listeners {
		serving.Go(func() {
			if err := s.http.Serve(listener); err != nil && !errors.Is(err, http.ErrServerClosed) {
				o.Logger.Error("dashboard", "error", err)
			}
		})
	}
	go func() {
		defer close(s.done)
		serving.Wait()
	}()
	return s, nil
}

// listenTries is how many free ports are looked at for one that is free on both
// loopback addresses.
const listenTries = 16

// listen takes a port of both loopback addresses: a browser looks for localhost at
// ::1 first, and whoever had the port there would have the dashboard's origin, and
// with it its passkeys.
func listen(address string, announce func(string) error) (both []net.Listener, port string, err error) {
	host, wanted, _ := net.SplitHostPort(address)
	other := "::1"
	if ip := net.ParseIP(host); ip != nil && ip.To4() == nil {
		other = "127.0.0.1"
	} else if ip == nil {
		host = "127.0.0.1"
	}
	for range listenTries {
		first, err := net.Listen("tcp", net.JoinHostPort(host, wanted))
		if err == nil {
			// Who connected before the port was announced is let go.
			_, port, _ = net.SplitHostPort(first.Addr().String())
			_ = first.Close()
			if err = announce(port); err == nil {
				first, err = net.Listen("tcp", net.JoinHostPort(host, port))
			}
		}
		if err != nil {
			return nil, "", fmt.Errorf("%w: %w", ErrAddress, err)
		}
		second, err := net.Listen("tcp", net.JoinHostPort(other, port))
		if err == nil {
			return []net.Listener{first, second}, port, nil
		}
		probe, missing := net.Listen("tcp", net.JoinHostPort(other, "0"))
		if missing != nil { // this machine has no such address
			return []net.Listener{first}, port, nil
		}
		_, _ = probe.Close(), first.Close()
		if wanted != "0" {
			return nil, "", fmt.Errorf("%w: port %s of %s is another program's, which would be taken for the dashboard: %w", ErrAddress, port, other, err)
		}
	}
	return nil, "", fmt.Errorf("%w: no port is free on both 127.0.0.1 and ::1", ErrAddress)
}

// Origin is that of the pages, as browsers name it. An IP address could be no
// relying party of passkeys.
func (s *Server) Origin() string { return "http://localhost:" + s.port }

// Link returns an address that opens the dashboard once, within LinkLife; to a reader
// only to look, and to act on nothing.
func (s *Server) Link(reads bool) string {
	return s.Origin() + "/?ticket=" + s.doors.ticket(reads)
}

// Stop ends every page's connection and stops listening.
func (s *Server) Stop() {
	s.cancel()
	ctx, cancel := context.WithTimeout(context.Background(), stopPatience)
	defer cancel()
	if err := s.http.Shutdown(ctx); err != nil {
		_ = s.http.Close()
	}
	<-s.done
}

func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
