// Package httphook serves the hooks of hosts that call them over HTTP, on the
// loopback interface: POST /hook/AGENT/EVENT with the host's payload, answered
// with the host's JSON.
//
// It guarantees that nobody is heard without the token of the data directory,
// that a browser which was led to this address is not heard at all, and that
// whoever is heard gets an answer with status 200 within the budget: hosts let
// an action pass for every other status, so that what cannot be judged is
// refused in the body. Only the end of a turn takes longer, as long as its
// project lets tests run there.
//
// It never takes a request for the user's own act. Any process that reads the
// token can send one, so prompts, typed commands and plan dialogs that come
// this way approve nothing; `writ hook` and `writ approve` are the ways to do
// that. It decides nothing else itself.
package httphook

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/enforcement/host"
)

// ErrAddress is returned by Start for an address that is not one of the
// loopback interface.
var ErrAddress = errors.New("httphook: http_hooks must be a loopback address such as 127.0.0.1:7411")

const (
	// maxPayload is that of `writ hook`: the largest file a host sends whole,
	// twice over, with room for JSON's escapes.
	maxPayload = host.MaxPayload
	// maxHeader bounds the headers, bytes.
	maxHeader = 16 << 10
	// atOnce bounds the payloads in memory at once; others wait their turn.
	atOnce = 16
	// headerTime, readTime and writeTime bound a connection's parts, idleTime a
	// connection without requests.
	headerTime = 2 * time.Second
	readTime   = 10 * time.Second
	writeTime  = 20 * time.Second
	idleTime   = 2 * time.Minute
	// grace is how much longer than its budget an answer may take before it is
	// given up.
	grace = 100 * time.Millisecond
	// stopTime bounds a stop, which waits for answers under way.
	stopTime = 3 * time.Second
)

// Options say where hooks are served and who answers them.
type Options struct {
	// Address is HOST:PORT of the loopback interface; port 0 is any free one. ""
	// serves nothing.
	Address     string
	DataDir     string // whose projects are guarded
	Credentials string // the folder of the token that opens the door
	// Guarded is the root of the guarded project at or above a folder.
	Guarded func(dir string) (root string, found bool)
	// FailsOpen says whether a project lets pass what cannot be judged.
	FailsOpen func(root string) bool
	// Ask answers one hook: the service of schemas.SvcHook.
	Ask func(ctx context.Context, r bus.Request) ([]byte, error)
	// Writ is the client's path, for tests that run confined; "" for none.
	Writ string
	// Budget bounds Ask.
	Budget time.Duration
	Logger *slog.Logger
}

// Server is a listener that serves hooks. A nil Server serves none.
type Server struct {
	Options
	token  string
	home   string
	port   string
	places chan struct{}
	http   *http.Server
	url    string
}

// Start listens and serves until Stop. Without an address it returns nil. It
// returns ErrAddress, ErrToken, or why it could not listen.
func Start(o Options) (*Server, error) {
	if o.Address == "" {
		return nil, nil
	}
	if err := checkAddress(o.Address); err != nil {
		return nil, err
	}
	token, err := loadOrCreateToken(o.Credentials)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", o.Address)
	if err != nil {
		return nil, fmt.Errorf("httphook: listen at %s: %w. Choose another port with http_hooks", o.Address, err)
	}
	s := newServer(o, token, listener.Addr().String())
	go func() {
		if err := s.http.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			o.Logger.Error("http hooks", "error", err)
		}
	}()
	o.Logger.Info("http hooks", "url", s.url)
	return s, nil
}

func newServer(o Options, token, address string) *Server {
	home, _ := os.UserHomeDir()
	_, port, _ := net.SplitHostPort(address)
	s := &Server{
		Options: o, token: token, home: home, port: port,
		places: make(chan struct{}, atOnce), url: "http://" + address + "/hook",
	}
	s.http = &http.Server{
		Handler: s.handler(), MaxHeaderBytes: maxHeader,
		ReadHeaderTimeout: headerTime, ReadTimeout: readTime, WriteTimeout: writeTime, IdleTimeout: idleTime,
		ErrorLog: slog.NewLogLogger(o.Logger.Handler(), slog.LevelDebug),
	}
	return s
}

// Stop takes no new requests and waits for the answers under way.
func (s *Server) Stop() {
	if s == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopTime)
	defer cancel()
	if err := s.http.Shutdown(ctx); err != nil {
		s.Logger.Error("stop the http hooks", "error", err)
		_ = s.http.Close()
	}
}

// checkAddress keeps hooks off every other interface.
func checkAddress(address string) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("%w, not %q: %w", ErrAddress, address, err)
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return fmt.Errorf("%w, not %q: the port is a number up to 65535", ErrAddress, address)
	}
	if !loopback(host) {
		return fmt.Errorf("%w, not %q", ErrAddress, address)
	}
	return nil
}

func loopback(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}
