package bus_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/bustest"
	"github.com/writbus/writ/bus/embedded"
	"github.com/writbus/writ/schemas"
)

type codedError struct{ code string }

func (e codedError) Error() string { return "refused:\nwith reasons" }
func (e codedError) Code() string  { return e.code }

func serve(t *testing.T, c *bus.Conn, endpoints ...bus.Endpoint) func(context.Context) error {
	t.Helper()
	stop, err := c.Serve(t.Context(), bus.Service{Name: "writ", Version: "1.0.0", Description: "test", Endpoints: endpoints})
	must(t, err)
	return stop
}

func answering(name string, handle func(context.Context, bus.Request) ([]byte, error)) bus.Endpoint {
	return bus.Endpoint{Name: name, Subject: "writ.svc." + name, Handle: handle}
}

func TestServiceAnswers(t *testing.T) {
	h := newHost(t, embedded.Options{})
	var seen error
	var mu sync.Mutex
	o := h.as(embedded.RoleDaemon)
	o.OnAsyncError = func(err error) { mu.Lock(); seen = err; mu.Unlock() }
	c := connect(t, o)
	serve(t, c,
		answering("echo", func(_ context.Context, r bus.Request) ([]byte, error) {
			return []byte(r.Header.Get("X-Who") + string(r.Body)), nil
		}),
		answering("coded", func(context.Context, bus.Request) ([]byte, error) {
			return nil, fmt.Errorf("wrapped: %w", codedError{"ENF-GATE-PLAN"})
		}),
		answering("plain", func(context.Context, bus.Request) ([]byte, error) { return nil, errors.New("plain") }),
		answering("relayed", func(context.Context, bus.Request) ([]byte, error) {
			return nil, &bus.ServiceError{Code: "far", Text: "from afar"}
		}),
		answering("panics", func(context.Context, bus.Request) ([]byte, error) { panic("secret") }),
		answering("huge", func(context.Context, bus.Request) ([]byte, error) { return make([]byte, 33<<20), nil }),
	)
	asker := connect(t, h.as(embedded.RoleAdmin))
	ask := func(name string) (bus.Reply, error) {
		return asker.Request(t.Context(), bus.Request{Subject: "writ.svc." + name, Header: schemas.Header{"X-Who": {"me:"}}, Body: []byte("hi")})
	}
	if reply, err := ask("echo"); err != nil || string(reply.Body) != "me:hi" {
		t.Errorf("echo: %q, %v", reply.Body, err)
	}
	for _, want := range []struct{ endpoint, code, text string }{
		{"coded", "ENF-GATE-PLAN", "wrapped: refused:\nwith reasons"},
		{"plain", bus.CodeInternal, "plain"},
		{"relayed", "far", "from afar"},
		{"panics", bus.CodeInternal, "internal error"},
		{"huge", bus.CodeInternal, "bus: message is too large: the answer has 34603008 bytes"},
	} {
		_, err := ask(want.endpoint)
		var failure *bus.ServiceError
		if !errors.As(err, &failure) || failure.Code != want.code || failure.Text != want.text {
			t.Errorf("%s: got %#v, want %+v", want.endpoint, err, want)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if seen == nil || !strings.Contains(seen.Error(), "secret") {
		t.Errorf("the panic was reported as %v", seen)
	}
	if _, err := ask("nobody"); !errors.Is(err, bus.ErrUnavailable) {
		t.Errorf("nobody there: %v", err)
	}
}

// TestServiceConcurrency: as many requests at once as the endpoint allows, not
// one more, and all are answered.
// A value comes out of a request's header as it went in, whatever NATS does to values.
func TestServiceHeadersArriveAsTheyWere(t *testing.T) {
	h := newHost(t, embedded.Options{})
	var got schemas.Header
	serve(t, connect(t, h.as(embedded.RoleDaemon)), answering("header", func(_ context.Context, r bus.Request) ([]byte, error) {
		got = r.Header
		return nil, nil
	}))
	asker := connect(t, h.as(embedded.RoleAdmin))
	for _, value := range []string{
		"/shop", "/shop ", " /shop", "/sh\nop", "/sh\r\nop\t", `/sh"op`, "/sh\xffop ", `C:\shop`, "", `/"a"`, `"a"`, `"`, "\"a\n",
		"/bin:/opt/my tools ", "/bin\n:/sbin", "\u00a0/shop", "/sh\x00op", "a: b", "`a`",
	} {
		_, err := asker.Request(t.Context(), bus.Request{Subject: "writ.svc.header", Header: schemas.Header{schemas.HookHeaderPath: {value}}})
		if err != nil || got.Get(schemas.HookHeaderPath) != value {
			t.Errorf("%q came out as %q, %v", value, got.Get(schemas.HookHeaderPath), err)
		}
	}
}

func TestServiceConcurrency(t *testing.T) {
	h := newHost(t, embedded.Options{})
	c := connect(t, h.as(embedded.RoleDaemon))
	const limit, requests = 3, 12
	var active, most atomic.Int32
	full := make(chan struct{})
	var once sync.Once
	e := answering("slow", func(context.Context, bus.Request) ([]byte, error) {
		n := active.Add(1)
		defer active.Add(-1)
		for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
		}
		if n == limit {
			once.Do(func() { close(full) })
		}
		<-full
		return nil, nil
	})
	e.Concurrency = limit
	serve(t, c, e)
	var all sync.WaitGroup
	for range requests {
		all.Go(func() {
			if _, err := c.Request(t.Context(), bus.Request{Subject: "writ.svc.slow"}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if most.Load() != limit {
		t.Fatalf("%d requests were handled at once, want %d", most.Load(), limit)
	}
}

// TestServiceStopFinishes: what was taken before the stop is answered, though whoever
// serves is ending already; what comes after finds nobody.
func TestServiceStopFinishes(t *testing.T) {
	h := newHost(t, embedded.Options{})
	c := connect(t, h.as(embedded.RoleDaemon))
	entered, proceed := make(chan struct{}), make(chan struct{})
	serving, end := context.WithCancel(t.Context())
	slow := answering("slow", func(ctx context.Context, _ bus.Request) ([]byte, error) {
		close(entered)
		<-proceed
		return []byte("done"), ctx.Err()
	})
	stop, err := c.Serve(serving, bus.Service{Name: "writ", Version: "1.0.0", Description: "test", Endpoints: []bus.Endpoint{slow}})
	must(t, err)
	answered := make(chan error, 1)
	go func() {
		reply, err := c.Request(t.Context(), bus.Request{Subject: "writ.svc.slow"})
		if err == nil && string(reply.Body) != "done" {
			err = fmt.Errorf("answered %q", reply.Body)
		}
		answered <- err
	}()
	<-entered
	end()
	stopped := make(chan error, 1)
	go func() { stopped <- stop(t.Context()) }()
	select {
	case err := <-stopped:
		t.Fatalf("stopped with a request under way: %v", err)
	default:
	}
	close(proceed)
	must(t, <-stopped)
	must(t, <-answered)
	if _, err := c.Request(t.Context(), bus.Request{Subject: "writ.svc.slow"}); !errors.Is(err, bus.ErrUnavailable) {
		t.Fatalf("after the stop: %v", err)
	}
}

// TestServiceForcedStop: a handler that does not end is told to.
func TestServiceForcedStop(t *testing.T) {
	h := newHost(t, embedded.Options{})
	c := connect(t, h.as(embedded.RoleDaemon))
	entered, told := make(chan struct{}), make(chan struct{})
	stop := serve(t, c, answering("stuck", func(ctx context.Context, _ bus.Request) ([]byte, error) {
		close(entered)
		<-ctx.Done()
		close(told)
		return nil, ctx.Err()
	}))
	go func() { _, _ = c.Request(t.Context(), bus.Request{Subject: "writ.svc.stuck"}) }()
	<-entered
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := stop(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	<-told
}

// TestServiceRefusesForeignReply: a requester cannot have the service publish
// where it may not itself.
func TestServiceRefusesForeignReply(t *testing.T) {
	h := newHost(t, embedded.Options{})
	refused := make(chan error, 10)
	o := h.as(embedded.RoleDaemon)
	o.OnAsyncError = func(err error) { refused <- err }
	c := connect(t, o)
	must(t, c.EnsureStreams(t.Context(), bus.Retention{}))
	serve(t, c, answering("status", func(context.Context, bus.Request) ([]byte, error) { return []byte("{}"), nil }))
	raw := dialRaw(t, h, embedded.RoleDaemon)
	must(t, raw.PublishMsg(&nats.Msg{Subject: "writ.svc.status", Reply: "writ.session.s.gate.approved"}))
	if err := <-refused; !strings.Contains(err.Error(), "writ.session.s.gate.approved") {
		t.Fatalf("reported %v", err)
	}
	state, err := c.State(t.Context(), schemas.StreamSessions)
	if err != nil || state.Last != 0 {
		t.Fatalf("the stream holds %d records, %v", state.Last, err)
	}
}

func dialRaw(t testing.TB, h *host, role embedded.Role) *nats.Conn {
	t.Helper()
	one := h.creds[role]
	nc, err := nats.Connect(h.server().URL(), nats.UserInfo(one.User, one.Password), nats.CustomInboxPrefix(bus.InboxPrefix(one.User)), nats.Timeout(patient))
	must(t, err)
	t.Cleanup(nc.Close)
	return nc
}

// TestRoles asks for everything as everybody.
func TestRoles(t *testing.T) {
	h := newHost(t, embedded.Options{})
	c := daemon(t, h)
	_, err := c.Append(t.Context(), bustest.Event("s", "1", "p"), nil, bus.Any())
	must(t, err)
	var endpoints []bus.Endpoint
	for _, name := range []string{
		"status", "retrieve", "emit", "approve", "gate.decide", "rule.list", "rule.add", "session.start",
		"recall", "rule.propose", "gate.hook", "session.mode", "session.advance", "observe", "memory.regate", "rule.verdict", "phase", "stop",
	} {
		e := answering(strings.ReplaceAll(name, ".", "-"), func(context.Context, bus.Request) ([]byte, error) { return nil, nil })
		e.Subject = "writ.svc." + name
		endpoints = append(endpoints, e)
	}
	serve(t, c, endpoints...)
	ask := func(name string) func(*bus.Conn) error {
		return func(c *bus.Conn) error {
			_, err := c.Request(t.Context(), bus.Request{Subject: "writ.svc." + name})
			return err
		}
	}
	remembers := bus.DefaultDuplicates
	for _, a := range []struct {
		name    string
		act     func(*bus.Conn) error
		allowed string // roles besides the daemon's
	}{
		{"append", func(c *bus.Conn) error {
			_, err := c.Append(t.Context(), bustest.Event("s", "2", "p"), nil, bus.Any())
			return err
		}, ""},
		{"streams", func(c *bus.Conn) error {
			remembers++ // what is already so takes no permission
			return c.EnsureStreams(t.Context(), bus.Retention{Duplicates: remembers})
		}, ""},
		{"state", func(c *bus.Conn) error { _, err := c.State(t.Context(), schemas.StreamSessions); return err }, "dashboard admin"},
		{"get", func(c *bus.Conn) error { _, err := c.Get(t.Context(), schemas.StreamSessions, 1); return err }, "dashboard admin"},
		{"last", func(c *bus.Conn) error { _, err := c.LastOf(t.Context(), schemas.Session("s")); return err }, "dashboard admin"},
		{"follow", func(c *bus.Conn) error { _, err := countAll(t, c, schemas.StreamSessions); return err }, "dashboard admin"},
		{"status", ask("status"), "hook dashboard admin agent"},
		{"retrieve", ask("retrieve"), "hook admin agent"},
		{"emit", ask("emit"), "hook admin"},
		{"gate", ask("gate.decide"), "hook admin"},
		{"session", ask("session.start"), "hook admin"},
		{"recall", ask("recall"), "hook admin agent"},
		{"rule propose", ask("rule.propose"), "hook admin agent"},
		{"hook", ask("gate.hook"), "hook admin"},
		{"mode", ask("session.mode"), "hook admin"},
		{"advance", ask("session.advance"), "hook admin"},
		{"observe", ask("observe"), "hook admin"},
		{"regate", ask("memory.regate"), "admin"},
		{"verdict on a rule", ask("rule.verdict"), "admin"},
		{"phase", ask("phase"), "admin"},
		{"stop", ask("stop"), "admin"},
		{"rule list", ask("rule.list"), "hook admin dashboard agent"},
		{"rule add", ask("rule.add"), "admin"},
		{"approve", ask("approve"), "admin"},
	} {
		for _, role := range embedded.Roles() {
			t.Run(a.name+" as "+string(role), func(t *testing.T) {
				err := a.act(connect(t, h.as(role)))
				if role == embedded.RoleDaemon || strings.Contains(a.allowed, string(role)) {
					must(t, err)
				} else if !errors.Is(err, bus.ErrDenied) {
					t.Fatalf("got %v, want %v", err, bus.ErrDenied)
				}
			})
		}
	}
}

func countAll(t testing.TB, c *bus.Conn, s schemas.Stream) (int, error) {
	n := 0
	err := c.Follow(t.Context(), s, 0, bus.FollowOptions{UntilEnd: true}, func(batch []schemas.Record) error {
		n += len(batch)
		return nil
	})
	return n, err
}

// TestAnswersStayWithTheClient: a client that may only read cannot have the
// server copy a record, or anything else, into a stream by naming a stream's
// subject as the place for its answer, nor hear another's answers.
func TestAnswersStayWithTheClient(t *testing.T) {
	h := newHost(t, embedded.Options{})
	c := connect(t, h.as(embedded.RoleDaemon))
	must(t, c.EnsureStreams(t.Context(), bus.Retention{Duplicates: 100 * time.Millisecond}))
	_, err := c.Append(t.Context(), bustest.Event("a", "1", "p"), nil, bus.Any())
	must(t, err)
	raw := dialRaw(t, h, embedded.RoleDashboard)
	const target = "writ.session.b.prompt.submitted"
	for subject, body := range map[string]string{
		"$JS.API.DIRECT.GET.WRIT_SESSIONS":     `{"seq":1}`,
		"$JS.API.STREAM.MSG.GET.WRIT_SESSIONS": `{"seq":1}`,
		"$JS.API.STREAM.INFO.WRIT_SESSIONS":    ``,
		"$SRV.PING":                            ``,
	} {
		must(t, raw.PublishMsg(&nats.Msg{Subject: subject, Reply: target, Data: []byte(body)}))
	}
	// An answered request behind them shows that the server has dealt with them.
	_, err = raw.Request("$JS.API.STREAM.INFO.WRIT_SESSIONS", nil, patient)
	must(t, err)
	if n, err := countAll(t, c, schemas.StreamSessions); n != 1 || err != nil {
		t.Fatalf("the stream holds %d records, %v", n, err)
	}
	sub, err := raw.SubscribeSync("_INBOX.>")
	must(t, err)
	must(t, raw.Flush())
	if _, err := sub.NextMsg(time.Millisecond); err == nil {
		t.Fatal("heard another's inbox")
	}
	if !errors.Is(raw.LastError(), nats.ErrPermissionViolation) {
		t.Fatalf("listening to every inbox: %v", raw.LastError())
	}
}

// TestPushConsumers: a reader may have records pushed to its own subject, nobody
// else hears them, and none can be had delivered into a stream.
func TestPushConsumers(t *testing.T) {
	h := newHost(t, embedded.Options{})
	c := daemon(t, h)
	_, err := c.Append(t.Context(), bustest.Event("s", "1", "p"), nil, bus.Any())
	must(t, err)
	raw := dialRaw(t, h, embedded.RoleDashboard)
	sub, err := raw.SubscribeSync("writ.deliver.dashboard.mine")
	must(t, err)
	create := func(stream schemas.Stream, name, deliver string) {
		t.Helper()
		body := `{"stream_name":"` + string(stream) + `","config":{"name":"` + name + `","deliver_subject":"` + deliver + `","deliver_policy":"all","ack_policy":"none","replay_policy":"instant","max_deliver":-1,"mem_storage":true,"num_replicas":1,"inactive_threshold":60000000000}}`
		_, err := raw.Request("$JS.API.CONSUMER.CREATE."+string(stream)+"."+name, []byte(body), patient)
		must(t, err)
	}
	create(schemas.StreamSessions, "mine", "writ.deliver.dashboard.mine")
	m, err := sub.NextMsg(patient)
	must(t, err)
	if m.Header.Get(schemas.HeaderType) != "prompt.submitted" {
		t.Errorf("it got %v", m.Header)
	}
	create(schemas.StreamSessions, "others", "writ.rule.R-1.rule.promoted")
	// What is delivered behind it shows that the server has dealt with it.
	create(schemas.StreamSessions, "again", "writ.deliver.dashboard.mine")
	_, err = sub.NextMsg(patient)
	must(t, err)
	if n, err := countAll(t, c, schemas.StreamRules); n != 0 || err != nil {
		t.Errorf("%d records were delivered into a stream, %v", n, err)
	}
	other := dialRaw(t, h, embedded.RoleAgent)
	heard, err := other.SubscribeSync("writ.deliver.dashboard.mine")
	must(t, err)
	must(t, other.Flush())
	if _, err := heard.NextMsg(time.Millisecond); err == nil || !errors.Is(other.LastError(), nats.ErrPermissionViolation) {
		t.Errorf("another heard it: %v, %v", err, other.LastError())
	}
}

// heldBack is a connection on which nothing leaves any more from a text on, until it
// may. wrote hears of what left, is is closed once something is held.
type heldBack struct {
	net.Conn
	text    string
	wrote   chan struct{}
	is, may chan struct{}
	mu      sync.Mutex
	held    []byte
}

func (c *heldBack) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.held != nil:
	case bytes.Contains(b, []byte(c.text)):
		close(c.is)
		go c.letGo()
	default:
		c.wrote <- struct{}{}
		return c.Conn.Write(b)
	}
	c.held = append(c.held, b...)
	return len(b), nil
}

func (c *heldBack) letGo() {
	<-c.may
	c.mu.Lock()
	defer c.mu.Unlock()
	_, _ = c.Conn.Write(c.held)
	c.held, c.text = nil, "\x00" // which is in no protocol
}

// TestTheLastAnswersLeaveBeforeAServiceStops: who stops a service closes connection
// and server next.
func TestTheLastAnswersLeaveBeforeAServiceStops(t *testing.T) {
	h := newHost(t, embedded.Options{})
	o, held := h.inProcess(embedded.RoleDaemon), &heldBack{text: "the last answer", wrote: make(chan struct{}, 1000), is: make(chan struct{}), may: make(chan struct{})}
	dial := o.Dial
	o.Dial = func() (_ net.Conn, err error) {
		held.Conn, err = dial()
		return held, err
	}
	release := make(chan struct{})
	stop := serve(t, connect(t, o), answering("stop", func(context.Context, bus.Request) ([]byte, error) {
		<-release
		return []byte("the last answer"), nil
	}))
	raw := dialRaw(t, h, embedded.RoleAdmin)
	inbox := raw.NewInbox()
	sub, err := raw.SubscribeSync(inbox)
	must(t, err)
	must(t, raw.PublishRequest("writ.svc.stop", inbox, nil))
	must(t, raw.Flush())
	stopped := make(chan error, 1)
	go func() { stopped <- stop(t.Context()) }()
	for quiet := false; !quiet; { // it waits for the answer alone
		select {
		case <-held.wrote:
		case <-time.After(300 * time.Millisecond):
			quiet = true
		}
	}
	close(release)
	<-held.is
	select {
	case err := <-stopped:
		t.Errorf("it stopped before its answer left: %v", err)
		stopped <- err
	case <-time.After(300 * time.Millisecond):
	}
	close(held.may)
	must(t, <-stopped)
	must(t, raw.Flush())
	if n, _, err := sub.Pending(); n != 1 || err != nil {
		t.Errorf("%d answers, %v", n, err)
	}
}
