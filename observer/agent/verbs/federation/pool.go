package federation

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/writbus/writ/observer/agent/verbs"
)

const (
	idleTime  = 10 * time.Minute // after which a connection nobody uses is closed
	leaveTime = 2 * time.Second  // that a server gets to end by itself
	maxSaid   = 2 << 10          // bytes kept of a server's standard error
	maxConns  = 64
)

// errFull is returned while as many servers as may are in use.
var errFull = errors.New("too many servers are in use at once")

// key is one connection.
type key struct{ server, dir string }

// pool keeps connections open between calls.
type pool struct {
	version string

	mu     sync.Mutex
	closed bool
	open   map[key]*link
}

// link is one connection, made by the first who needs it.
type link struct {
	ready   chan struct{} // closed when session or err is set
	giveUp  context.CancelFunc
	session *sdk.ClientSession
	err     error
	end     func()
	users   int
	idle    *time.Timer
}

func newPool(version string) *pool { return &pool{version: version, open: map[key]*link{}} }

// use runs fn on a connection. One that turns out to be broken is replaced, once.
func (p *pool) use(ctx context.Context, k key, s Server, fn func(*sdk.ClientSession) error) error {
	for again := false; ; again = true {
		l, fresh, err := p.get(ctx, k, s)
		if err != nil {
			return err
		}
		err = fn(l.session)
		broken := errors.Is(err, sdk.ErrConnectionClosed) || errors.Is(err, sdk.ErrSessionMissing)
		p.put(k, l, broken)
		if !broken || fresh || again || ctx.Err() != nil {
			return err
		}
	}
}

// get returns a connection that is ready; fresh says that it was made for this.
func (p *pool) get(ctx context.Context, k key, s Server) (l *link, fresh bool, err error) {
	p.mu.Lock()
	l = p.open[k]
	switch {
	case p.closed:
		p.mu.Unlock()
		return nil, false, context.Canceled
	case l == nil && len(p.open) >= maxConns:
		p.mu.Unlock()
		return nil, false, errFull
	case l == nil:
		fresh = true
		l = &link{ready: make(chan struct{})}
		p.open[k] = l
		// The connection outlives the call that made it.
		var connecting context.Context
		connecting, l.giveUp = context.WithTimeout(context.WithoutCancel(ctx), connectTime)
		go p.connect(connecting, l, k, s)
	}
	l.users++
	if l.idle != nil {
		l.idle.Stop()
	}
	p.mu.Unlock()
	select {
	case <-l.ready:
	case <-ctx.Done():
		p.put(k, l, false)
		return nil, false, ctx.Err()
	}
	if l.err != nil {
		p.put(k, l, true)
		return nil, false, l.err
	}
	return l, fresh, nil
}

// put gives a connection back.
func (p *pool) put(k key, l *link, broken bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l.users--
	if broken && p.open[k] == l {
		delete(p.open, k)
	}
	switch {
	case l.users > 0:
	case p.open[k] != l:
		go l.close()
	default:
		l.idle = time.AfterFunc(idleTime, func() { p.expire(k, l) })
	}
}

func (p *pool) expire(k key, l *link) {
	p.mu.Lock()
	unused := l.users == 0 && p.open[k] == l
	if unused {
		delete(p.open, k)
	}
	p.mu.Unlock()
	if unused {
		l.close()
	}
}

// connectTime bounds the start of a server: one from a package registry is
// downloaded first.
const connectTime = 50 * time.Second

func (p *pool) connect(ctx context.Context, l *link, k key, s Server) {
	defer close(l.ready)
	defer l.giveUp()
	client := sdk.NewClient(&sdk.Implementation{Name: "writ", Title: "Writ", Version: p.version}, &sdk.ClientOptions{Capabilities: &sdk.ClientCapabilities{}})
	if len(s.Command) == 0 {
		transport := &sdk.StreamableClientTransport{Endpoint: s.URL, HTTPClient: withHeaders(s.Headers), DisableStandaloneSSE: true, MaxRetries: 1}
		l.session, l.err = client.Connect(ctx, transport, nil)
		return
	}
	cmd := exec.Command(s.Command[0], s.Command[1:]...) //nolint:noctx // it outlives the call that started it
	said := &tail{}
	cmd.Dir, cmd.Stderr, cmd.Env = k.dir, said, verbs.Environment(os.Environ())
	for name, value := range s.Env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	verbs.Group(cmd)
	l.end = func() { verbs.EndGroup(cmd) }
	l.session, l.err = client.Connect(ctx, &sdk.CommandTransport{Command: cmd, TerminateDuration: leaveTime}, nil)
	if l.err != nil {
		verbs.EndGroup(cmd)
		if text := said.text(); text != "" {
			l.err = fmt.Errorf("%w; it says: %s", l.err, text)
		}
	}
}

// close ends a connection, and the server if it was started for it. One that is
// still being made is given up.
func (l *link) close() {
	l.giveUp()
	<-l.ready
	if l.session != nil {
		_ = l.session.Close() // it is not used again
	}
	if l.end != nil {
		l.end()
	}
}

// close ends all connections and lets nobody open another one.
func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	all := p.open
	p.open = map[key]*link{}
	p.mu.Unlock()
	var wait sync.WaitGroup
	for _, l := range all {
		wait.Go(l.close)
	}
	wait.Wait()
}

// withHeaders is a client that sends headers, to the host it was made for alone.
func withHeaders(headers map[string]string) *http.Client {
	return &http.Client{
		Transport: header{headers},
		CheckRedirect: func(next *http.Request, via []*http.Request) error {
			if next.URL.Host != via[0].URL.Host || next.URL.Scheme != via[0].URL.Scheme || len(via) > 5 {
				return http.ErrUseLastResponse
			}
			return nil
		},
	}
}

type header struct{ set map[string]string }

func (h header) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, value := range h.set {
		r.Header.Set(name, value)
	}
	return http.DefaultTransport.RoundTrip(r)
}

// tail keeps the end of what a server says on its standard error.
type tail struct {
	mu   sync.Mutex
	said []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.said = append(t.said, b...)
	t.said = t.said[max(len(t.said)-maxSaid, 0):]
	return len(b), nil
}

func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(strings.Fields(strings.ToValidUTF8(string(t.said), "\uFFFD")), " ")
}
