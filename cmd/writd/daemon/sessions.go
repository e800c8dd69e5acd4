package daemon

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/observer/metrics"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/schemas"
)

const (
	// appendTries is how often a decision is taken anew when somebody else
	// appended to the session in between.
	appendTries = 4
	// keptSessions bounds the folded states in memory; others are loaded from
	// their view.
	keptSessions = 512
)

// errContended is returned when every try met a conflict.
var errContended = errors.New("daemon: the session is being changed by too many at once")

// sessions folds, decides and appends, one session at a time each.
type sessions struct {
	conn      *bus.Conn
	runtime   *projections.Runtime
	view      *projections.Fold[enforcement.State]
	now       func() time.Time
	telemetry *metrics.Telemetry
	// approved is called with every approval, after it was acknowledged.
	approved func(session, project string, files []schemas.FileState)

	mu    sync.Mutex
	live  map[string]*list.Element
	order *list.List // of *session, least recently used first
	// workers are the linked sessions of exempt sub-agents, by parent, as far as
	// this daemon saw them begin.
	workers map[string]map[string]bool
	scanned map[string]bool // parents whose earlier workers were looked for
}

// session is one aggregate in memory.
type session struct {
	id     string
	mu     sync.Mutex
	loaded bool
	state  enforcement.State
	seq    uint64 // of the last event folded in; 0 for a session without events
	// latest is the state as last folded, for those who must not wait.
	latest atomic.Pointer[enforcement.State]
}

func newSessions(conn *bus.Conn, runtime *projections.Runtime, view *projections.Fold[enforcement.State], now func() time.Time) *sessions {
	return &sessions{conn: conn, runtime: runtime, view: view, now: now, live: map[string]*list.Element{}, order: list.New(), workers: map[string]map[string]bool{}, scanned: map[string]bool{}}
}

// meta is what an event carries beside its data.
type meta struct {
	actor       schemas.Actor
	correlation string
}

// act loads a session, decides, and appends what the decision records, at the
// place the decision was made for. decide sees the state as it is at that
// place and is called again after a conflict.
func (s *sessions) act(ctx context.Context, id string, m meta, decide func(enforcement.State) (enforcement.Decision, error)) (enforcement.Decision, enforcement.State, error) {
	one := s.get(id)
	one.mu.Lock()
	defer one.mu.Unlock()
	eventID := bus.NewID()
	for range appendTries {
		if err := s.refresh(ctx, one); err != nil {
			return enforcement.Decision{}, enforcement.State{}, err
		}
		_, end := s.telemetry.Span(ctx, metrics.SpanDecide)
		d, err := decide(one.state)
		end(err)
		if err != nil || len(d.Record) == 0 {
			return d, one.state, err
		}
		err = s.append(ctx, one, eventID, m, d.Record)
		if err == nil {
			return d, one.state, nil
		}
		// Whatever went wrong, the state in memory may not be the log's.
		one.loaded = false
		if !errors.Is(err, bus.ErrConflict) {
			return enforcement.Decision{}, enforcement.State{}, err
		}
	}
	return enforcement.Decision{}, enforcement.State{}, fmt.Errorf("%w: %s", errContended, id)
}

// append writes one message, expecting the session as it was folded, and folds
// the message in.
func (s *sessions) append(ctx context.Context, one *session, eventID string, m meta, record []schemas.Payload) error {
	main := schemas.Event{
		ID: eventID, Time: s.now(), Source: source, Aggregate: schemas.Session(one.id),
		Actor: m.actor, CorrelationID: m.correlation, Data: record[0],
	}
	_, end := s.telemetry.Span(ctx, metrics.SpanAppend)
	began := time.Now()
	position, err := s.conn.Append(ctx, main, record[1:], bus.LastSeq(one.seq))
	end(err)
	if err != nil {
		return err
	}
	s.telemetry.Appended(ctx, string(position.Stream), time.Since(began))
	for _, data := range record {
		if t, ok := data.(schemas.ToolDecided); ok {
			s.telemetry.Decided(ctx, t.Verdict, t.Rule)
		}
	}
	for i, data := range record {
		e := main
		e.Data, e.Position = data, position
		e.Position.Part = i
		one.state = enforcement.Evolve(one.state, e)
	}
	one.seq = position.Seq
	one.publish()
	if s.approved != nil {
		for _, data := range record {
			if g, ok := data.(schemas.GateApproved); ok {
				s.approved(one.id, one.state.Project, g.Files)
			}
		}
	}
	return nil
}

func (one *session) publish() {
	state := one.state
	one.latest.Store(&state)
}

// peek returns a session's state without waiting for whoever works on it: for
// decisions on other sessions, which would lock each other otherwise.
func (s *sessions) peek(ctx context.Context, id string) (enforcement.State, error) {
	s.mu.Lock()
	e := s.live[id]
	s.mu.Unlock()
	if e != nil {
		if state := e.Value.(*session).latest.Load(); state != nil {
			return *state, nil
		}
	}
	cold := session{id: id}
	err := s.refresh(ctx, &cold)
	return cold.state, err
}

// state returns a session as the log has it.
func (s *sessions) state(ctx context.Context, id string) (enforcement.State, uint64, error) {
	one := s.get(id)
	one.mu.Lock()
	defer one.mu.Unlock()
	err := s.refresh(ctx, one)
	return one.state, one.seq, err
}

// refresh loads a session that is not in memory: from its view, and then the
// tail of its own subject.
func (s *sessions) refresh(ctx context.Context, one *session) error {
	if one.loaded {
		return nil
	}
	aggregate := schemas.Session(one.id)
	if err := aggregate.Check(); err != nil {
		return err
	}
	var err error
	if one.state, one.seq, err = s.viewed(aggregate); err != nil {
		return err
	}
	if !s.stands(ctx, aggregate, one.seq) {
		one.state, one.seq = enforcement.State{}, 0
	}
	for record, err := range s.conn.Tail(ctx, aggregate, one.seq) {
		if err != nil {
			return err
		}
		one.seq = record.Seq
		events, err := record.Events()
		if err != nil {
			continue // the projection keeps it in the quarantine
		}
		for _, e := range events {
			one.state = enforcement.Evolve(one.state, e)
		}
	}
	one.loaded = true
	one.publish()
	return nil
}

// viewed is a session as its view has it. While the view is being built for the
// first time it has nothing, and the log is read from its start: slower, and as
// right.
func (s *sessions) viewed(a schemas.Aggregate) (state enforcement.State, seq uint64, err error) {
	reader, err := s.runtime.Reader(viewState)
	if errors.Is(err, projections.ErrNotReady) {
		return state, 0, nil
	}
	if err != nil {
		return state, 0, err
	}
	defer func() { _ = reader.Close() }()
	if reader.Version() == s.view.Version() {
		state, seq, _, err = s.view.Load(reader, a)
	}
	return state, seq, err
}

// stands reports whether the log still has the event that the view of a session
// ends with. It has not after it lost its tail, until the view is rebuilt.
func (s *sessions) stands(ctx context.Context, a schemas.Aggregate, seq uint64) bool {
	if seq == 0 {
		return true
	}
	record, err := s.conn.Get(ctx, a.Kind.Stream(), seq)
	if err != nil {
		return false
	}
	there, _, err := schemas.ParseSubject(record.Message.Subject)
	return err == nil && there == a
}

func (s *sessions) get(id string) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, known := s.live[id]; known {
		s.order.MoveToBack(e)
		return e.Value.(*session)
	}
	one := &session{id: id}
	s.live[id] = s.order.PushBack(one)
	if s.order.Len() > keptSessions {
		s.evict()
	}
	return one
}

// evict drops the least recently used session that nobody is working on.
func (s *sessions) evict() {
	for e := s.order.Front(); e != nil; e = e.Next() {
		one := e.Value.(*session)
		if one.mu.TryLock() {
			delete(s.live, one.id)
			s.order.Remove(e)
			one.mu.Unlock()
			return
		}
	}
}

// len is the number of sessions in memory.
func (s *sessions) len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.order.Len()
}
