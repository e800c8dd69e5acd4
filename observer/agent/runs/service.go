package runs

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/enforcement/dialect"
	"github.com/writbus/writ/enforcement/project"
	"github.com/writbus/writ/observer/agent"
	"github.com/writbus/writ/observer/agent/schedule"
	"github.com/writbus/writ/observer/agent/verbs"
	"github.com/writbus/writ/observer/model"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/retrieval"
	"github.com/writbus/writ/schemas"
)

const (
	// rulesTokens bounds the rules that go with an agent's message.
	rulesTokens = 1000
	// verbService is how the handlers of verbs are found by NATS discovery.
	verbService = "writ-verbs"
)

// Rules are the rules in force.
type Rules interface {
	Current() *retrieval.Index
}

// Options are what the service works with. All are required but where they say so.
type Options struct {
	Conn    *bus.Conn // reads the log and asks handlers elsewhere
	Log     *bus.Writer
	Serving *bus.Conn // what the verbs are served on
	Kept    Kept
	// Model is asked by agents; nil where there is none, which NoModel explains.
	Model   *model.Client
	NoModel error
	// Find finds what agents keep.
	Find  agent.Finder
	Rules Rules
	// Outside are the handlers of verbs that reach outside of Writ.
	Outside map[string]verbs.Handler
	// Elsewhere names verbs that other daemons handle.
	Elsewhere []string
	Limits    dialect.Limits
	Daemon    string // names this daemon in the log
	Sharing   string // Daemon, where others share the log: what their agents scheduled is theirs
	Version   string
	// Shown are the events of a record as people see them.
	Shown func(schemas.Record) []schemas.ReplayEvent
	// StopWithin bounds how long calls of verbs may still take at a stop.
	StopWithin time.Duration
	Now        func() time.Time
	Warn       func(text string) // tells whoever runs the daemon
	Logger     *slog.Logger
}

// Service runs agents here. It is safe for concurrent use once it began.
type Service struct {
	Options
	engine    *agent.Engine
	books     *agent.Books
	schedules *agent.Schedules
	handlers  map[string]verbs.Handler
	live      *liveRuns
}

// New returns the service; nothing runs before Begin.
func New(o Options) *Service {
	v := &Service{Options: o, handlers: map[string]verbs.Handler{}, live: &liveRuns{logger: o.Logger, byID: map[string]*liveRun{}}}
	v.engine = agent.New(agent.Options{
		Model: &chatModel{client: o.Model, problem: o.NoModel}, Log: o.Log, Limits: o.Limits, Now: o.Now, NewID: bus.NewID, Daemon: o.Daemon,
		Handler: v.handlerOf(), Background: v.background,
		Problem: func(err error) { o.Logger.Error("agents", "error", err) },
	})
	v.books = &agent.Books{Log: o.Log, Views: o.Kept, Find: o.Find}
	v.schedules = agent.NewSchedules(agent.ScheduleOptions{
		Log: o.Log, Views: o.Kept, Engine: v.engine, Now: o.Now, NewID: bus.NewID, Zone: zoneName(o.Now()), Daemon: o.Sharing,
		Fire:    func(_ context.Context, s agent.Start) error { return v.live.launch(s, v.converse) },
		Problem: func(err error) { o.Logger.Warn("schedules", "error", err) },
	})
	for _, verb := range dialect.Verbs() {
		h := v.inside(verb.Name)
		if h == nil {
			h = o.Outside[verb.Name]
		}
		if h != nil && !slices.Contains(o.Elsewhere, verb.Name) {
			v.handlers[verb.Name] = h
		}
	}
	for _, name := range o.Elsewhere {
		if dialect.Lookup(name) == nil {
			o.Warn("verbs_elsewhere names " + name + ", which is no verb; writ agent validate --prompt and /help show them")
		}
	}
	return v
}

// Begin serves the verbs, and lets schedules fire until stop.
func (v *Service) Begin(ctx context.Context) (stop func(), err error) {
	live := v.live
	live.ctx, live.cancel = context.WithCancel(context.WithoutCancel(ctx))
	stopVerbs, err := v.serveVerbs(ctx)
	if err != nil {
		live.cancel()
		return nil, err
	}
	live.wait.Go(func() { v.endInterrupted(live.ctx) })
	live.wait.Go(func() { v.schedules.Run(live.ctx) })
	live.wait.Go(func() { v.wakeSchedules(live.ctx) })
	return func() {
		live.stopAll()
		v.engine.Close()
		stopVerbs()
	}, nil
}

// inside is the handler of a verb that Writ's own state answers, nil for others.
func (v *Service) inside(verb string) verbs.Handler {
	if h := v.engine.Own()[verb]; h != nil {
		return h
	}
	if verb == "schedule" {
		return v.schedules.Handler()
	}
	return v.books.Handlers()[verb]
}

// handlerOf finds the handler of a verb: here, or behind its subject.
func (v *Service) handlerOf() func(string) verbs.Handler {
	remote := agent.Remote(func(ctx context.Context, verb string, body []byte) ([]byte, error) {
		reply, err := v.Conn.Request(ctx, bus.Request{Subject: schemas.VerbSubject(verb), Body: body})
		return reply.Body, err
	})
	return func(verb string) verbs.Handler {
		if h := v.handlers[verb]; h != nil {
			return h
		}
		return verbs.HandlerFunc(func(ctx context.Context, c verbs.Call) (verbs.Result, error) {
			r, err := remote.Handle(ctx, c)
			if errors.Is(err, bus.ErrUnavailable) && ctx.Err() == nil {
				return verbs.Err("nobody handles /"+c.Verb+" at the moment", "do without it"), nil
			}
			return r, err
		})
	}
}

// serveVerbs announces each handler under its subject, so that other daemons may
// use it.
func (v *Service) serveVerbs(ctx context.Context) (stop func(), err error) {
	s := bus.Service{Name: verbService, Version: v.Version, Description: "handlers of the command language's verbs"}
	for verb, h := range v.handlers {
		serve := agent.Serve(h)
		s.Endpoints = append(s.Endpoints, bus.Endpoint{
			Name: verb, Subject: schemas.VerbSubject(verb),
			Handle: func(ctx context.Context, r bus.Request) ([]byte, error) { return serve(ctx, r.Body) },
		})
	}
	shut, err := v.Serving.Serve(ctx, s)
	if err != nil {
		return nil, err
	}
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), v.StopWithin)
		defer cancel()
		if err := shut(ctx); err != nil {
			v.Logger.Error("stop the verbs", "error", err)
		}
	}, nil
}

// endInterrupted records the end of runs that this daemon left at work when it
// was killed.
func (v *Service) endInterrupted(ctx context.Context) {
	var left []projections.RunSummary
	err := v.Kept.Read(ctx, projections.ViewAgentRuns, func(r projections.Reader) (err error) {
		left, err = v.Kept.Views.runs.AtWork(r)
		return err
	})
	for _, s := range left {
		if s.Daemon != v.Daemon || v.engine.AtWork(s.Run) {
			continue
		}
		ended := agent.Claim(ctx, v.Log, s.Seq, schemas.AgentRun(s.Run), schemas.Writ("runs"), schemas.AgentFinished{
			Outcome: agent.Stopped, Reason: "the daemon ended while it was at work", Calls: s.Calls, Millis: s.Last.Sub(s.Started).Milliseconds(),
		})
		if !errors.Is(ended, bus.ErrConflict) {
			err = errors.Join(err, ended)
		}
	}
	if err != nil && ctx.Err() == nil {
		v.Logger.Warn("runs that were at work", "error", err)
	}
}

// wakeSchedules has the runner look again when the log has something new.
func (v *Service) wakeSchedules(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-v.Kept.Views.changed:
			v.schedules.Wake()
		}
	}
}

// background is what goes with a message: the pitfalls and the rules that it
// retrieves. A failure means less of it, never a failed message.
func (v *Service) background(ctx context.Context, about agent.About) string {
	pitfalls, err := v.books.Pitfalls(ctx, about.Workspace, about.Message)
	if err != nil {
		v.Logger.Warn("pitfalls of a message", "error", err)
	}
	index := v.Rules.Current()
	rules := ""
	answer := index.Search(retrieval.Query{
		Text: about.Message, Session: about.Run, BudgetTokens: rulesTokens,
		Domains: project.Project{}.Domains(index.Domains(), project.LanguagesOf(about.Workspace), about.Message),
	})
	if answer.Tier == retrieval.TierInject {
		rules = answer.Block
	}
	return strings.TrimSpace(strings.TrimSpace(pitfalls) + "\n\n" + strings.TrimSpace(rules))
}

// zoneName is the machine's time zone by a name that means the same elsewhere.
func zoneName(now time.Time) string {
	for _, name := range []string{os.Getenv("TZ"), linkedZone(), time.Local.String()} {
		if _, err := schedule.LoadZone(strings.TrimPrefix(name, ":")); err == nil {
			return strings.TrimPrefix(name, ":")
		}
	}
	return now.Local().Format("-07:00")
}

func linkedZone() string {
	path, err := filepath.EvalSymlinks("/etc/localtime")
	if err != nil {
		return ""
	}
	_, name, _ := strings.Cut(filepath.ToSlash(path), "zoneinfo/")
	return name
}
