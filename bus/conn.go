package bus

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/writbus/writ/schemas"
)

// DefaultTimeout bounds a call whose context has no deadline.
const DefaultTimeout = 5 * time.Second

// reconnectWait is the pause between attempts to reach a lost server. It is
// short because the server is usually on this machine and restarts in
// milliseconds.
const reconnectWait = 50 * time.Millisecond

// Options say where to connect and as whom.
type Options struct {
	URL            string // such as "nats://127.0.0.1:4222"; several are separated by commas
	User, Password string // "" connects without credentials
	// Creds is a file with a user's JWT and its seed, Seed one with the seed of an
	// NKey; they are read at every connect, so that a replaced one is used.
	Creds, Seed string
	// CredentialText is what such a file holds, where it is kept elsewhere.
	CredentialText string
	// Daemon is the one whose services are asked and answered, where several share
	// the NATS; "" where there is one.
	Daemon string
	Name   string // shown in the server's list of connections
	// Timeout bounds connecting, and each call whose context has no deadline.
	// 0 is DefaultTimeout.
	Timeout time.Duration
	// Dial connects in-process, without a socket; nil uses URL. It is called
	// again after a connection is lost.
	Dial func() (net.Conn, error)
	TLS  *tls.Config // nil connects without TLS unless the URL's scheme is tls
	// WriteThrough writes each message at once, where it is published. Who asks
	// and waits is answered sooner, as no other thread must wake up to write;
	// who publishes many messages in a row does better without.
	WriteThrough bool
	// Ready is asked before each append: its error is returned, and nothing is
	// sent. nil is always ready. It must not block.
	Ready func() error
	// Synced returns once what a stream holds is as durable as an acknowledgement
	// says. It is called after each append that the server stored; nil where the
	// server stores nothing that is not.
	Synced func(context.Context, schemas.Stream) error
	// Archive is where records lie that left their stream; nil finds those that lie
	// at an absolute path.
	Archive *Archive
	// OnGap is told of a stream in which a reader met records that are missing, and
	// that nobody gave up; nil for nobody. It must not block.
	OnGap func(schemas.Stream)
	// OnAsyncError receives what no call can return: a slow consumer, a lost
	// connection, a handler's panic. nil drops it. It must not block.
	OnAsyncError func(error)
}

// Conn is a connection to the log and its services. It is safe for concurrent
// use and reconnects by itself for as long as it is open.
type Conn struct {
	nc      *nats.Conn
	js      jetstream.JetStream
	options Options
	timeout time.Duration
	onError func(error)
	guards  guards
	appends sync.RWMutex // read while one is on its way, written to hold them back

	// noDirect is set once the server has shown that its streams refuse direct
	// reads, as replicated ones do here; reads then go to the stream's leader.
	noDirect atomic.Bool

	lost lostRecords

	// trimming is set while the archived stream lets go of old records, and stays set
	// where it could not be made to keep the others: an append would push one out.
	trimming atomic.Bool
	// unanswered are appends to that stream which the server may still store.
	unanswered unanswered

	mu          sync.Mutex
	reconnected chan struct{} // closed and replaced at every reconnect
}

type inProcess func() (net.Conn, error)

func (d inProcess) InProcessConn() (net.Conn, error) { return d() }

// pipes are the in-process connections of one attempt to connect, kept to end
// an attempt that gets no answer: a server waits its whole write deadline for
// a pipe that nobody reads.
type pipes struct {
	mu    sync.Mutex
	open  []net.Conn
	given bool // the attempt is settled: what is dialed now is the connection's
}

func (p *pipes) through(dial func() (net.Conn, error)) func() (net.Conn, error) {
	return func() (net.Conn, error) {
		c, err := dial()
		p.mu.Lock()
		defer p.mu.Unlock()
		if err == nil && !p.given {
			p.open = append(p.open, c)
		}
		return c, err
	}
}

func (p *pipes) keep() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.given, p.open = true, nil
}

func (p *pipes) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.open {
		_ = c.Close()
	}
	p.given, p.open = true, nil
}

// Connect opens a connection. It returns ErrBadCredentials, or ErrUnavailable
// when nobody answers within the timeout; both name the address.
func Connect(ctx context.Context, o Options) (*Conn, error) {
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Ready == nil {
		o.Ready = func() error { return nil }
	}
	if o.Synced == nil {
		o.Synced = func(context.Context, schemas.Stream) error { return nil }
	}
	if o.Archive == nil {
		o.Archive = NewArchive("")
	}
	timeout := o.Timeout
	if deadline, ok := ctx.Deadline(); ok {
		timeout = min(timeout, time.Until(deadline))
	}
	if err := ctx.Err(); err != nil || timeout <= 0 {
		return nil, fmt.Errorf("%w: connecting to %s: %w", ErrUnavailable, o.address(), context.Cause(ctx))
	}
	c := &Conn{options: o, timeout: o.Timeout, onError: o.OnAsyncError, reconnected: make(chan struct{})}
	if c.onError == nil {
		c.onError = func(error) {}
	}
	bounded, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var attempt pipes
	options := append(o.natsOptions(c), nats.Timeout(timeout))
	if o.Dial != nil {
		options = append(options, nats.InProcessServer(inProcess(attempt.through(o.Dial))))
	}
	if o.WriteThrough {
		options = append(options, nats.WriteBufferSize(1), nats.FlusherTimeout(o.Timeout))
	}
	nc, err := dial(bounded, o, options)
	if err != nil {
		attempt.end()
		return nil, connectError(o, err)
	}
	attempt.keep()
	c.nc = nc
	c.js, err = jetstream.New(nc, jetstream.WithDefaultTimeout(o.Timeout))
	if err != nil {
		nc.Close()
		return nil, fmt.Errorf("bus: connecting to %s: %w", o.address(), err)
	}
	return c, nil
}

// dial gives up when the context ends, which nats.Connect cannot.
func dial(ctx context.Context, o Options, options []nats.Option) (*nats.Conn, error) {
	type result struct {
		nc  *nats.Conn
		err error
	}
	done := make(chan result, 1)
	go func() {
		nc, err := nats.Connect(o.URL, options...)
		done <- result{nc, err}
	}()
	select {
	case r := <-done:
		return r.nc, r.err
	case <-ctx.Done():
		go func() {
			if r := <-done; r.nc != nil {
				r.nc.Close()
			}
		}()
		return nil, context.Cause(ctx)
	}
}

func (o Options) address() string {
	if o.Dial != nil {
		return "the embedded server"
	}
	if o.URL == "" {
		return nats.DefaultURL
	}
	return o.URL
}

func (o Options) natsOptions(c *Conn) []nats.Option {
	options := []nats.Option{
		nats.Name(o.Name),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(reconnectWait),
		nats.ReconnectJitter(reconnectWait/2, reconnectWait/2),
		// A publish while disconnected fails at once: its caller knows best
		// whether to wait, and a buffered one would be acknowledged by nobody.
		nats.ReconnectBufSize(-1),
		nats.IgnoreAuthErrorAbort(),
		nats.PermissionErrOnSubscribe(true),
		nats.CustomInboxPrefix(InboxPrefix(o.User)),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			if !c.guards.violated(err) {
				c.onError(translate(err))
			}
		}),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err == nil { // closed by us
				c.guards.lost(ErrClosed)
				return
			}
			err = fmt.Errorf("%w: connection lost: %w", ErrUnavailable, err)
			c.guards.lost(err)
			c.onError(err)
		}),
		nats.ReconnectHandler(func(*nats.Conn) { c.announceReconnect() }),
	}
	switch {
	case o.Creds != "":
		options = append(options, nats.UserCredentials(o.Creds))
	case o.Seed != "":
		options = append(options, seedOption(o.Seed))
	case o.CredentialText != "":
		options = append(options, func(to *nats.Options) error {
			option, err := textOption(o.CredentialText)
			if err != nil {
				return err
			}
			return option(to)
		})
	case o.User != "":
		options = append(options, nats.UserInfo(o.User, o.Password))
	}
	if o.TLS != nil {
		options = append(options, nats.Secure(o.TLS))
	}
	return options
}

// InboxPrefix is where a user's replies arrive. Every user has his own, so
// that none may listen to another's.
func InboxPrefix(user string) string {
	if user == "" {
		return nats.InboxPrefix[:len(nats.InboxPrefix)-1]
	}
	return nats.InboxPrefix + schemas.EncodeToken(user)
}

// DeliveryPrefix is where a push consumer of a user's delivers: an inbox is of the
// clients' account, and records come from the log's. "*" is every user.
func DeliveryPrefix(user string) string {
	if user != "*" {
		user = schemas.EncodeToken(user)
	}
	return "writ.deliver." + user
}

func connectError(o Options, err error) error {
	translated := translate(err)
	switch {
	case errors.Is(err, nats.ErrMaxAccountConnectionsExceeded):
		return ErrBusy
	case o.Dial != nil && (errors.Is(err, io.ErrClosedPipe) || outOfTime(err)):
		// A pipe has no buffer: the server's refusal meets a client that is
		// still writing, and is lost.
		return fmt.Errorf("%w: %s accepted the connection and then gave no answer, as it does for a wrong user or password (user %q): %w",
			ErrBadCredentials, o.address(), o.User, err)
	case errors.Is(translated, ErrBadCredentials):
		return fmt.Errorf("%w: %s refused user %q", ErrBadCredentials, o.address(), o.User)
	case errors.Is(translated, ErrUnavailable), errors.Is(translated, context.Canceled):
		return fmt.Errorf("%w: nobody answers at %s: %w", ErrUnavailable, o.address(), err)
	}
	var network net.Error
	if errors.As(err, &network) {
		return fmt.Errorf("%w: %s: %w", ErrUnavailable, o.address(), err)
	}
	return fmt.Errorf("bus: connecting to %s: %w", o.address(), err)
}

// outOfTime says that a connection was given up because its time was over,
// whichever of the clocks that watch it was the first to say so.
func outOfTime(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, nats.ErrTimeout)
}

// Close ends the connection at once. Calls under way return ErrClosed or
// ErrUnavailable.
func (c *Conn) Close() { c.nc.Close() }

// Drain stops receiving, lets what was received be handled, sends what is
// still to be sent, and closes. It closes in any case, and returns the
// context's error where that ended first.
func (c *Conn) Drain(ctx context.Context) error {
	closed := c.nc.StatusChanged(nats.CLOSED)
	defer c.nc.RemoveStatusListener(closed)
	if c.nc.IsClosed() {
		return nil
	}
	if err := c.nc.Drain(); err != nil {
		c.nc.Close()
		return translate(err)
	}
	select {
	case <-closed:
		return nil
	case <-ctx.Done():
		c.nc.Close()
		return context.Cause(ctx)
	}
}

// RoundTrip measures the time to the server and back.
func (c *Conn) RoundTrip(ctx context.Context) (time.Duration, error) {
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	start := time.Now()
	if err := c.nc.FlushWithContext(ctx); err != nil {
		return 0, translate(err)
	}
	return time.Since(start), nil
}

func (c *Conn) announceReconnect() {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.reconnected)
	c.reconnected = make(chan struct{})
}

// Interrupt ends the calls under way with ErrUnavailable and has readers begin
// anew where they are, as a lost connection does: for a server that says that it
// will not answer.
func (c *Conn) Interrupt(cause error) {
	c.guards.lost(fmt.Errorf("%w: interrupted: %w", ErrUnavailable, cause))
	c.announceReconnect()
}

func (c *Conn) nextReconnect() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reconnected
}

// bounded gives a context a deadline where it has none.
func (c *Conn) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, has := ctx.Deadline(); has {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, c.timeout)
}
