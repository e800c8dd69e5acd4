package bus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/excerpt"
)

// DefaultConcurrency is how many requests of one endpoint are handled at once.
// Further ones wait in order of arrival.
const DefaultConcurrency = 64

// Request is a message to a service.
type Request struct {
	Subject string
	Header  schemas.Header
	Body    []byte
}

// Reply is a service's answer.
type Reply struct {
	Header schemas.Header
	Body   []byte
}

// Endpoint is one subject a service answers.
type Endpoint struct {
	Name    string // letters, digits, "-" and "_"
	Subject string // may end in "*" or ">"
	// Handle answers a request. Its error reaches the requester as a
	// ServiceError, whose code is that of an error with a method Code() string
	// in its chain, else CodeInternal. A panic is answered as CodeInternal,
	// without its text. The context ends when the service is stopped by force.
	Handle      func(ctx context.Context, r Request) ([]byte, error)
	Concurrency int               // requests handled at once; 0 is DefaultConcurrency
	Metadata    map[string]string // shown by service discovery, such as schemas of request and reply
}

// Service is a NATS micro service: it is discovered under $SRV, and several
// instances share its requests.
type Service struct {
	Name        string // letters, digits, "-" and "_"
	Version     string // semantic version
	Description string
	Endpoints   []Endpoint
}

// Serve starts a service, at the subjects of the options' daemon. Stop it with the returned function: it takes no new
// requests, finishes those it has, and returns once the server has their answers; when its context ends first it
// cancels the handlers and returns the context's error. The end of Serve's own context cancels none of them.
func (c *Conn) Serve(ctx context.Context, s Service) (stop func(context.Context) error, err error) {
	running := &service{conn: c, stats: map[string]*endpointStats{}}
	running.ctx, running.cancel = context.WithCancel(context.WithoutCancel(ctx))
	svc, err := micro.AddService(c.nc, micro.Config{
		Name: s.Name, Version: s.Version, Description: s.Description,
		StatsHandler: func(e *micro.Endpoint) any { return running.stats[e.Name].snapshot() },
	})
	if err != nil {
		running.cancel()
		return nil, fmt.Errorf("serve %s: %w", s.Name, translate(err))
	}
	running.micro = svc
	for _, e := range s.Endpoints {
		running.stats[e.Name] = &endpointStats{}
	}
	for _, e := range s.Endpoints {
		err := svc.AddEndpoint(e.Name, micro.HandlerFunc(running.handler(e)),
			micro.WithEndpointSubject(schemas.ServiceAt(c.options.Daemon, e.Subject)), micro.WithEndpointMetadata(e.Metadata))
		if err != nil {
			running.cancel()
			_ = svc.Stop()
			return nil, fmt.Errorf("serve %s: endpoint %s: %w", s.Name, e.Name, translate(err))
		}
	}
	// The caller may tell others that the service is there.
	bounded, cancel := c.bounded(ctx)
	defer cancel()
	if err := c.nc.FlushWithContext(bounded); err != nil {
		running.cancel()
		_ = svc.Stop()
		return nil, fmt.Errorf("serve %s: %w", s.Name, translate(err))
	}
	return running.stop, nil
}

// Serve starts a service on connections; one that is nil is left out.
func Serve(ctx context.Context, on []*Conn, s Service) (stop func(context.Context) error, err error) {
	var stops []func(context.Context) error
	stop = func(ctx context.Context) (err error) {
		for _, one := range stops {
			err = errors.Join(err, one(ctx))
		}
		return err
	}
	for _, c := range on {
		if c == nil {
			continue
		}
		one, err := c.Serve(ctx, s)
		if err != nil {
			return nil, errors.Join(err, stop(ctx))
		}
		stops = append(stops, one)
	}
	return stop, nil
}

type service struct {
	conn    *Conn
	micro   micro.Service
	ctx     context.Context
	cancel  context.CancelFunc
	stats   map[string]*endpointStats
	pending sync.WaitGroup
}

// endpointStats are those of the handlers: micro itself counts only how fast
// requests are taken.
type endpointStats struct {
	active, handled, failed, panics, refused atomic.Int64
}

func (s *endpointStats) snapshot() any {
	return map[string]int64{
		"active": s.active.Load(), "handled": s.handled.Load(), "failed": s.failed.Load(),
		"panics": s.panics.Load(), "refused": s.refused.Load(),
	}
}

// idleWorkers is how many goroutines of an endpoint wait for its next request.
// Its calls then find a stack that has grown already: growing it was a 27th of
// the processor time of asking for rules.
const idleWorkers = 16

// handler takes requests in order and handles each on a goroutine that has
// nothing else to do. While all places are taken it waits, and the requests
// behind it queue up.
func (s *service) handler(e Endpoint) func(micro.Request) {
	limit := e.Concurrency
	if limit <= 0 {
		limit = DefaultConcurrency
	}
	places, handed := make(chan struct{}, limit), make(chan micro.Request)
	var idle atomic.Int64
	stats := s.stats[e.Name]
	handle := func(r micro.Request) {
		defer s.pending.Done()
		defer func() { <-places }()
		defer stats.active.Add(-1)
		s.answer(e, stats, r)
	}
	work := func(r micro.Request) {
		for {
			handle(r)
			if idle.Add(1) > idleWorkers {
				idle.Add(-1)
				return
			}
			select {
			case r = <-handed:
				idle.Add(-1)
			case <-s.ctx.Done():
				return
			}
		}
	}
	return func(r micro.Request) {
		if !mayAnswer(r.Reply()) {
			stats.refused.Add(1)
			s.conn.onError(fmt.Errorf("bus: request to %s refused: it wants its answer at %q", r.Subject(), r.Reply()))
			return
		}
		select {
		case places <- struct{}{}:
		case <-s.ctx.Done():
			return
		}
		s.pending.Add(1)
		stats.active.Add(1)
		select {
		case handed <- r:
		default:
			go work(r)
		}
	}
}

// serviceReplyPrefix is where the server takes answers for another account.
// It lets no client name such a subject.
const serviceReplyPrefix = "_R_."

// mayAnswer keeps a requester from having the service publish in its place: an
// answer goes to an inbox and nowhere else.
func mayAnswer(reply string) bool {
	return reply == "" || strings.HasPrefix(reply, nats.InboxPrefix) || strings.HasPrefix(reply, serviceReplyPrefix)
}

// answer replies with the connection, not through micro's request, whose
// fields micro reads on another goroutine.
func (s *service) answer(e Endpoint, stats *endpointStats, r micro.Request) {
	body, err := s.call(e, stats, Request{Subject: r.Subject(), Header: received(r.Headers()), Body: r.Data()})
	stats.handled.Add(1)
	m := &nats.Msg{Subject: r.Reply(), Data: body}
	if err != nil {
		stats.failed.Add(1)
		m = errorReply(r.Reply(), err)
	}
	if r.Reply() == "" {
		return
	}
	err = s.conn.nc.PublishMsg(m)
	if errors.Is(err, nats.ErrMaxPayload) {
		err = s.conn.nc.PublishMsg(errorReply(r.Reply(), fmt.Errorf("%w: the answer has %d bytes", ErrTooLarge, len(body))))
	}
	if err != nil {
		s.conn.onError(fmt.Errorf("answer %s: %w", r.Subject(), translate(err)))
	}
}

var errPanicked = errors.New("internal error")

func (s *service) call(e Endpoint, stats *endpointStats, r Request) (body []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			stats.panics.Add(1)
			s.conn.onError(fmt.Errorf("bus: panic in endpoint %s: %v\n%s", e.Name, p, debug.Stack()))
			body, err = nil, errPanicked
		}
	}()
	return e.Handle(s.ctx, r)
}

// errorReply carries the code and a one-line text in the headers, as micro
// defines them, and the whole text in the body.
func errorReply(subject string, err error) *nats.Msg {
	code := CodeInternal
	var coded interface{ Code() string }
	var remote *ServiceError
	switch {
	case errors.As(err, &coded) && coded.Code() != "":
		code = coded.Code()
	case errors.As(err, &remote) && remote.Code != "":
		code = remote.Code
	}
	text, _ := json.Marshal(err.Error())
	return &nats.Msg{
		Subject: subject,
		Header: nats.Header{
			micro.ErrorCodeHeader: []string{excerpt.Bytes(excerpt.Line(code), maxErrorLine)},
			micro.ErrorHeader:     []string{excerpt.Bytes(excerpt.Line(err.Error()), maxErrorLine)},
		},
		Data: text,
	}
}

// maxErrorLine bounds the text in a header.
const maxErrorLine = 512

func (s *service) stop(ctx context.Context) error {
	defer s.cancel()
	if err := s.micro.Stop(); err != nil {
		return fmt.Errorf("stop service: %w", translate(err))
	}
	quiet := make(chan struct{})
	go func() {
		defer close(quiet)
		s.settle(ctx)
		s.pending.Wait()
		bounded, cancel := s.conn.bounded(ctx)
		defer cancel()
		_ = s.conn.nc.FlushWithContext(bounded) // the last answers leave before whoever stops closes connection and server
	}()
	select {
	case <-quiet:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// settle waits until every request the server sent before the service stopped
// has reached its handler: the flush brings the last one into a queue, the
// barrier stands behind it.
func (s *service) settle(ctx context.Context) {
	ctx, cancel := s.conn.bounded(ctx)
	defer cancel()
	if s.conn.nc.FlushWithContext(ctx) != nil {
		return
	}
	passed := make(chan struct{})
	if s.conn.nc.Barrier(func() { close(passed) }) != nil {
		return
	}
	select {
	case <-passed:
	case <-ctx.Done():
	}
}

// Request asks a service and returns its answer. It returns a *ServiceError
// where the service refused, ErrUnavailable where nobody serves the subject or
// no answer came in time, and ErrDenied where the role may not ask.
func (c *Conn) Request(ctx context.Context, r Request) (Reply, error) {
	answer, err := c.roundTrip(ctx, &nats.Msg{Subject: schemas.ServiceAt(c.options.Daemon, r.Subject), Header: carried(r.Header), Data: r.Body})
	if err != nil {
		return Reply{}, fmt.Errorf("request %s: %w", r.Subject, err)
	}
	if code := answer.Header.Get(micro.ErrorCodeHeader); code != "" {
		return Reply{}, readError(code, answer)
	}
	return Reply{Header: schemas.Header(answer.Header), Body: answer.Data}, nil
}

// carried is a request's header as NATS carries it, which trims values and knows no
// line breaks: a value with them is quoted, and so is one that begins as if it were.
func carried(h schemas.Header) nats.Header {
	all := make(nats.Header, len(h))
	for name, values := range h {
		for _, value := range values {
			if value != strings.TrimSpace(value) || strings.HasPrefix(value, `"`) || strings.ContainsFunc(value, unicode.IsControl) {
				value = strconv.Quote(value)
			}
			all[name] = append(all[name], value)
		}
	}
	return all
}

// received is the header that carried was given.
func received(h micro.Headers) schemas.Header {
	all := make(schemas.Header, len(h))
	for name, values := range h {
		for _, value := range values {
			if plain, err := strconv.Unquote(value); err == nil && strings.HasPrefix(value, `"`) {
				value = plain
			}
			all[name] = append(all[name], value)
		}
	}
	return all
}

// Served says whether a daemon on this NATS answers. Where that cannot be told, it
// returns an error.
func Served(ctx context.Context, c *Conn, daemon string) (bool, error) {
	_, err := c.roundTrip(ctx, &nats.Msg{Subject: schemas.ServiceAt(daemon, schemas.SvcStatus), Data: []byte("{}")})
	if errors.Is(err, nats.ErrNoResponders) {
		return false, nil
	}
	return err == nil, err
}

func readError(code string, answer *nats.Msg) *ServiceError {
	e := &ServiceError{Code: code, Text: answer.Header.Get(micro.ErrorHeader)}
	var whole string
	if json.Unmarshal(answer.Data, &whole) == nil && whole != "" {
		e.Text = whole
	}
	return e
}
