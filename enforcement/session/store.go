package session

import (
	"container/list"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/enforcement/confine/runner"
	"github.com/writbus/writ/enforcement/project"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/schemas"
)

const (
	// keptSessions bounds the folded states in memory, of up to 25 KiB each where writes
	// never end; others are loaded from their view.
	keptSessions = 1024
	// restingSessions is how many of them stay where nobody asks for any.
	restingSessions = 64
)

// Meter is what the monitoring is told of decisions and appends.
type Meter interface {
	Span(ctx context.Context, name string, attributes ...string) (context.Context, func(error))
	Appended(ctx context.Context, stream string, took time.Duration)
	Decided(ctx context.Context, verdict, rule string)
}

// The parts of a call that are traced here.
const (
	spanDecide = "decide"
	spanAppend = "append"
)

// Options are what sessions need of others.
type Options struct {
	Conn     *bus.Conn
	Log      *bus.Writer // the way into the log
	Runtime  *projections.Runtime
	States   *projections.Fold[enforcement.State] // the view of what decisions are taken over
	List     projections.Sessions                 // the view that lists sessions
	Projects *project.Cache
	Known    func(rule string) bool // a plan may cite the rule
	Approved string                 // the folder that keeps what was approved
	Runner   runner.Runner          // what holds a test file that runs before its approval
	Before   func(ctx context.Context, root string, at time.Time) (commit string)
	// Committed is what a commit has of a file.
	Committed func(ctx context.Context, root, commit, rel string) (content []byte, known bool)
	// Persons are the keys of those whose approvals count where two are needed; nil
	// for none.
	Persons func(ctx context.Context) []string
	Meter   Meter
	Now     func() time.Time
	Logger  *slog.Logger
}

// Sessions folds, decides and appends, one session at a time each.
type Sessions struct {
	Options
	approved approvedFiles

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

// New returns the sessions of a log. Contents that were approved long ago are
// let go.
func New(o Options) *Sessions {
	if o.Persons == nil {
		o.Persons = func(context.Context) []string { return nil }
	}
	s := &Sessions{Options: o, approved: approvedFiles{o.Approved}, live: map[string]*list.Element{}, order: list.New(), workers: map[string]map[string]bool{}, scanned: map[string]bool{}}
	if err := s.approved.prune(o.Now()); err != nil {
		o.Logger.Warn("forget what was approved long ago", "error", err)
	}
	return s
}

// Decide is a decision over the state of a session.
type Decide = func(enforcement.State) (enforcement.Decision, error)

// Act loads a session, decides, and appends what the decision records, at the
// place the decision was made for. decide sees the state as it is at that
// place and is called again after a conflict. once may hold an id: what was recorded
// under it before is not recorded again.
func (s *Sessions) Act(ctx context.Context, id string, actor schemas.Actor, correlation string, decide Decide, once ...string) (enforcement.Decision, enforcement.State, error) {
	one := s.get(id)
	one.mu.Lock()
	defer one.mu.Unlock()
	var d enforcement.Decision
	state, position, err := bus.Decide(ctx, s.Log, func(ctx context.Context) (enforcement.State, uint64, error) {
		err := s.refresh(ctx, one)
		return one.state, one.seq, err
	}, enforcement.Evolve, func(state enforcement.State) (record []schemas.Payload, err error) {
		_, end := s.Meter.Span(ctx, spanDecide)
		d, err = decide(state)
		end(err)
		return d.Record, err
	}, bus.Change{
		Event:     schemas.Event{ID: strings.Join(once, ""), Aggregate: schemas.Session(id), Actor: actor, CorrelationID: correlation},
		Appending: func(ctx context.Context) func(schemas.Position, error) { return s.appending(ctx, one) },
	})
	if err != nil {
		return enforcement.Decision{}, enforcement.State{}, err
	}
	if position.Seq <= one.seq { // nothing was recorded, or it was before
		return d, state, nil
	}
	one.state, one.seq = state, position.Seq
	one.publish()
	s.recorded(ctx, one, d.Record)
	return d, state, nil
}

// appending measures an append. Whatever goes wrong in it, the state in memory
// may not be the log's.
func (s *Sessions) appending(ctx context.Context, one *session) func(schemas.Position, error) {
	_, end := s.Meter.Span(ctx, spanAppend)
	began := s.Now()
	return func(at schemas.Position, err error) {
		end(err)
		if err != nil {
			one.loaded = false
			return
		}
		s.Meter.Appended(ctx, string(at.Stream), s.Now().Sub(began))
	}
}

// recorded tells others of what was decided, once the log has it.
func (s *Sessions) recorded(ctx context.Context, one *session, record []schemas.Payload) {
	for _, data := range record {
		switch e := data.(type) {
		case schemas.ToolDecided:
			s.Meter.Decided(ctx, e.Verdict, e.Rule)
		case schemas.GateApproved:
			if err := s.approved.keep(one.id, one.state.Project, e.Files); err != nil {
				s.Logger.Warn("keep what was approved, for later differences", "session", one.id, "error", err)
			}
		}
	}
}

func (one *session) publish() {
	state := one.state
	one.latest.Store(&state)
}

// Peek returns a session's state without waiting for whoever works on it: for
// decisions on other sessions, which would lock each other otherwise.
func (s *Sessions) Peek(ctx context.Context, id string) (enforcement.State, error) {
	one := s.get(id)
	if state := one.latest.Load(); state != nil {
		return *state, nil
	}
	if one.mu.TryLock() {
		defer one.mu.Unlock()
		err := s.refresh(ctx, one)
		return one.state, err
	}
	cold := session{id: id}
	err := s.refresh(ctx, &cold)
	return cold.state, err
}

// State returns a session as the log has it, and the sequence of its last event,
// 0 for a session without events.
func (s *Sessions) State(ctx context.Context, id string) (enforcement.State, uint64, error) {
	one := s.get(id)
	one.mu.Lock()
	defer one.mu.Unlock()
	err := s.refresh(ctx, one)
	return one.state, one.seq, err
}

// refresh loads a session that is not in memory: from its view, and then the
// tail of its own subject.
func (s *Sessions) refresh(ctx context.Context, one *session) error {
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
	// Most views are at the end of the session, and most of the others have none: one look tells.
	if last, err := s.Conn.LastOf(ctx, aggregate); err == nil && last.Seq == one.seq || errors.Is(err, bus.ErrNotFound) && one.seq == 0 {
		one.loaded = true
		one.publish()
		return nil
	}
	if !s.stands(ctx, aggregate, one.seq) {
		one.state, one.seq = enforcement.State{}, 0
	}
	for record, err := range s.Conn.Tail(ctx, aggregate, one.seq) {
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

// viewed is a session as its view has it, or as the build has it that will be its
// view. Where neither has it the log is read from its start: slower, and as
// right.
func (s *Sessions) viewed(a schemas.Aggregate) (state enforcement.State, seq uint64, err error) {
	reader, err := s.Runtime.Current(s.States.Name())
	if errors.Is(err, projections.ErrNotReady) {
		return state, 0, nil
	}
	if err != nil {
		return state, 0, err
	}
	defer func() { _ = reader.Close() }()
	state, seq, _, err = s.States.Load(reader, a)
	return state, seq, err
}

// shown is a session as it is in memory, else as its view has it: a list would read the
// log for each of many while that view is far behind.
func (s *Sessions) shown(ctx context.Context, id string) (enforcement.State, error) {
	s.mu.Lock()
	e := s.live[id]
	s.mu.Unlock()
	if e != nil {
		if state := e.Value.(*session).latest.Load(); state != nil {
			return *state, nil
		}
	}
	state, seq, err := s.viewed(schemas.Session(id))
	if err == nil && seq == 0 {
		state, _, err = s.State(ctx, id)
	}
	return state, err
}

// stands reports whether the log still has the event that the view of a session
// ends with. It has not after it lost its tail, until the view is rebuilt.
func (s *Sessions) stands(ctx context.Context, a schemas.Aggregate, seq uint64) bool {
	if seq == 0 {
		return true
	}
	record, err := s.Conn.Get(ctx, a.Kind.Stream(), seq)
	if err != nil {
		return false
	}
	there, _, err := schemas.ParseSubject(record.Message.Subject)
	return err == nil && there == a
}

func (s *Sessions) get(id string) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, known := s.live[id]; known {
		s.order.MoveToBack(e)
		return e.Value.(*session)
	}
	one := &session{id: id}
	s.live[id] = s.order.PushBack(one)
	s.evict(keptSessions)
	return one
}

// Relax lets go of sessions that nobody asked for of late.
func Relax(s *Sessions) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.evict(restingSessions)
}

// evict drops sessions that nobody is working on, the least recently used first,
// until no more than some are left.
func (s *Sessions) evict(most int) {
	for e := s.order.Front(); e != nil && s.order.Len() > most; {
		one, next := e.Value.(*session), e.Next()
		if one.mu.TryLock() {
			delete(s.live, one.id)
			s.order.Remove(e)
			one.mu.Unlock()
		}
		e = next
	}
}
