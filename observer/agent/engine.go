package agent

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/writbus/writ/bus"

	"github.com/writbus/writ/enforcement/dialect"
	"github.com/writbus/writ/observer/agent/verbs"
	"github.com/writbus/writ/schemas"
)

var (
	// ErrStarted is returned for a run that was started before.
	ErrStarted = errors.New("agents: this run was started before")
	// ErrWorkspace is returned for a workspace that is no folder.
	ErrWorkspace = errors.New("agents: the workspace is no folder")
	// ErrDelegation is returned for a chain of callers that may not call.
	ErrDelegation = errors.New("agents: delegation refused")
)

// What started a run. Persisted; never change.
const (
	TriggerRun      = "run"
	TriggerDispatch = "dispatch"
	TriggerAgent    = "agent"
	TriggerParallel = "parallel"
	TriggerPane     = "pane"
	TriggerSchedule = "schedule"
)

// Options are what an Engine works with.
type Options struct {
	Model  Model
	Log    *bus.Writer
	Limits dialect.Limits
	// Handler returns the handler of a verb, nil where nobody handles it. Those
	// of delegation, consultation and help are the engine's own.
	Handler func(verb string) verbs.Handler
	// Background returns what goes with a message before it is asked, such as
	// known pitfalls, "" for nothing. Nil brings nothing.
	Background func(ctx context.Context, about About) string
	Now        func() time.Time
	NewID      func() string
	// Calls bounds the model calls that are made at once; further ones wait. 0 is
	// DefaultCalls.
	Calls int
	// Daemon names where the runs are at work.
	Daemon string
	// Problem hears of Writ's own failures, such as a handler that panics. Nil
	// hears nothing.
	Problem func(error)
}

// About says whose message the background is for.
type About struct {
	Run, Agent, Workspace, Message string
}

// DefaultCalls is how many model calls are made at once.
const DefaultCalls = 64

// Engine runs agents. It is safe for concurrent use.
type Engine struct {
	o     Options
	calls chan struct{}
	// changes counts the mutating commands of all runs: a result found before one
	// is not used again after it.
	changes atomic.Uint64

	mu   sync.Mutex
	live map[string]*conversation // by run
	own  map[string]verbs.Handler // by verb
	done sync.WaitGroup           // panes
	over context.Context
	shut context.CancelFunc
}

// New returns an engine.
func New(o Options) *Engine {
	if o.Calls <= 0 {
		o.Calls = DefaultCalls
	}
	e := &Engine{o: o, calls: make(chan struct{}, o.Calls), live: map[string]*conversation{}}
	e.over, e.shut = context.WithCancel(context.Background())
	e.own = map[string]verbs.Handler{
		"agent":    verbs.HandlerFunc(e.agent),
		"parallel": verbs.HandlerFunc(e.parallel),
		"pane":     verbs.HandlerFunc(e.pane),
		"advise":   verbs.HandlerFunc(e.advise),
		"help":     verbs.HandlerFunc(help),
	}
	return e
}

func (e *Engine) problem(err error) {
	if e.o.Problem != nil {
		e.o.Problem(err)
	}
}

// Own returns the handlers that the engine itself has, by verb.
func (e *Engine) Own() map[string]verbs.Handler { return e.own }

func (e *Engine) handler(verb string) verbs.Handler {
	if h := e.own[verb]; h != nil {
		return h
	}
	if e.o.Handler == nil {
		return nil
	}
	return e.o.Handler(verb)
}

// Close stops what works beside others and returns when it has ended.
func (e *Engine) Close() {
	e.shut()
	e.done.Wait()
}

// untilClosed ends a context with the engine.
func (e *Engine) untilClosed(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	unhook := context.AfterFunc(e.over, cancel)
	return ctx, func() { unhook(); cancel() }
}

// Start is a run to begin.
type Start struct {
	Run string // its id
	// File is the absolute path of the constitution of the agent, or of its
	// outermost caller where there is a chain. Those it may call lie beside it.
	File string
	// Chain are the callers, the outermost first, and Agent is who is called then:
	// the agent may do what all of them may.
	Chain     []string
	Agent     string // "": the one of File
	Workspace string // absolute
	Model     string // "": the constitution's, else the configured one
	Message   string
	Origin    string // of the message, one of schemas; what is not known is not the user's
	Trigger   string
	Schedule  string // id, where one started it
	Watch     Watcher
	Confirm   Confirm
}

// Confirm asks a person about a command and reports whether it may run. Nil
// confirms nothing.
type Confirm func(ctx context.Context, question string) bool

// Begin starts a conversation and returns what asks the agent and tells how it
// ended; it is to be called once. An error means that nothing was started: a
// constitution or workspace that cannot be, or ErrStarted.
func (e *Engine) Begin(ctx context.Context, s Start) (ask func(context.Context) schemas.AgentFinished, err error) {
	c, err := e.begin(ctx, s)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) schemas.AgentFinished {
		defer e.end(c)
		return c.message(ctx, s.Message)
	}, nil
}

// Run is Begin, and then what it returns.
func (e *Engine) Run(ctx context.Context, s Start) (schemas.AgentFinished, error) {
	ask, err := e.Begin(ctx, s)
	if err != nil {
		return schemas.AgentFinished{}, err
	}
	return ask(ctx), nil
}

// BeginDispatch starts a conversation and returns what runs the commands of one
// recorded response, as if the agent had just said it, and returns the message
// that it would get. The errors are those of Begin.
func (e *Engine) BeginDispatch(ctx context.Context, s Start, transcript []byte) (run func(context.Context) (string, schemas.AgentFinished), err error) {
	c, err := e.begin(ctx, s)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (string, schemas.AgentFinished) {
		defer e.end(c)
		return c.recorded(ctx, transcript)
	}, nil
}

// begin records the start of a run that a person or a schedule asks for.
func (e *Engine) begin(ctx context.Context, s Start) (*conversation, error) {
	run, err := chained(s)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(s.Workspace); err != nil || !info.IsDir() || !filepath.IsAbs(s.Workspace) {
		return nil, fmt.Errorf("%w: %s", ErrWorkspace, s.Workspace)
	}
	c := &conversation{
		engine: e, id: s.Run, run: run, file: s.File, workspace: filepath.Clean(s.Workspace), model: cmp.Or(s.Model, run.Constitution.Model),
		watch: s.Watch, confirm: s.Confirm, tokens: unbounded,
	}
	if s.Origin != schemas.OriginUser && s.Origin != schemas.OriginAgent {
		s.Origin = schemas.OriginOutside
		c.taint.Add(s.Message)
		c.taint.Outside()
	}
	return c, e.register(ctx, c, schemas.AgentStarted{
		Agent: run.Constitution.Name, Message: s.Message, Origin: s.Origin, Trigger: s.Trigger, Model: c.model, File: s.File, Workspace: c.workspace,
		Capabilities: run.Constitution.Capabilities, Chain: run.Chain, Schedule: s.Schedule,
	})
}

// chained follows the callers to the agent.
func chained(s Start) (dialect.Run, error) {
	first, err := Load(s.File)
	if err != nil {
		return dialect.Run{}, err
	}
	run := dialect.Start(first)
	if len(s.Chain) == 0 && (s.Agent == "" || s.Agent == first.Name) {
		return run, nil
	}
	if len(s.Chain) > 0 && s.Chain[0] != first.Name {
		return dialect.Run{}, fmt.Errorf("%w: %s is the constitution of %s, not of %s", ErrNoAgent, s.File, first.Name, s.Chain[0])
	}
	for _, id := range append(s.Chain[min(1, len(s.Chain)):len(s.Chain):len(s.Chain)], s.Agent) {
		called, err := find(s.File, id)
		if err != nil {
			return dialect.Run{}, err
		}
		next, decision := run.Delegate(called.constitution)
		if decision.Verdict != dialect.Allow {
			return dialect.Run{}, fmt.Errorf("%w: %s", ErrDelegation, decision.Reason)
		}
		run = next
	}
	return run, nil
}

// starter is who starts a run.
func starter(started schemas.AgentStarted) schemas.Actor {
	switch started.Trigger {
	case TriggerRun, TriggerDispatch:
		return schemas.Person("terminal", "terminal")
	case TriggerSchedule:
		return schemas.Writ(TriggerSchedule)
	default:
		return schemas.Agent(host, started.Parent, "")
	}
}

// register records a start, once for each run.
func (e *Engine) register(ctx context.Context, c *conversation, started schemas.AgentStarted) error {
	e.mu.Lock()
	if e.live[c.id] != nil {
		e.mu.Unlock()
		return fmt.Errorf("%w: %s", ErrStarted, c.id)
	}
	e.live[c.id] = c
	e.mu.Unlock()
	started.Daemon = e.o.Daemon
	err := Claim(ctx, e.o.Log, 0, schemas.AgentRun(c.id), starter(started), started)
	if errors.Is(err, bus.ErrConflict) {
		err = fmt.Errorf("%w: %s", ErrStarted, c.id)
	}
	if err != nil {
		e.mu.Lock()
		delete(e.live, c.id)
		e.mu.Unlock()
		return err
	}
	c.show(schemas.FrameStarted, started.Agent)
	return nil
}

func (e *Engine) end(c *conversation) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.live, c.id)
}

// at returns the conversation that a call belongs to, nil for one that is not at
// work here.
func (e *Engine) at(run string) *conversation {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.live[run]
}

// AtWork says whether a run is at work here.
func (e *Engine) AtWork(run string) bool { return e.at(run) != nil }

// newSeed is what the nonce of a batch is made from.
func newSeed() []byte {
	seed := make([]byte, 16)
	_, _ = rand.Read(seed) //nolint:forbidigo // never fails, and nobody may foresee a nonce
	return seed
}
