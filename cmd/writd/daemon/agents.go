package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/enforcement/dialect"
	"github.com/writbus/writ/enforcement/project"
	"github.com/writbus/writ/observer/agent"
	"github.com/writbus/writ/observer/agent/verbs"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/retrieval"
	"github.com/writbus/writ/schemas"
)

const (
	// runsAtMost bounds the runs that people and schedules start and that are at
	// work at once. BenchmarkAgentsInParallel says what that many hold.
	runsAtMost = 1024
	// agentRulesTokens bounds the rules that go with an agent's message.
	agentRulesTokens = 1000
	// verbService is how the handlers of verbs are found by NATS discovery.
	verbService = "writ-verbs"
)

// agentWork is what runs agents here.
type agentWork struct {
	engine    *agent.Engine
	books     *agent.Books
	schedules *agent.Schedules
	handlers  map[string]verbs.Handler

	ctx    context.Context // of all runs
	cancel context.CancelFunc
	wait   sync.WaitGroup

	mu     sync.Mutex
	live   map[string]*liveRun
	atWork int
}

var errDaemonStops = errors.New("the daemon stops")

// beginAgents sets up what runs agents, serves the verbs, and lets schedules
// fire until stop.
func (d *Daemon) beginAgents(ctx context.Context) (stop func(), err error) {
	log := agentLog{d}
	w := &agentWork{live: map[string]*liveRun{}, handlers: map[string]verbs.Handler{}}
	w.ctx, w.cancel = context.WithCancel(context.WithoutCancel(ctx))
	own := fmt.Sprintf("%s:%s", hostname(), d.layout.Root)
	w.engine = agent.New(agent.Options{
		Model: &agentModel{client: d.model, problem: d.noModel}, Log: d.log, Limits: d.settings.Limits.OrDefault(), Now: d.now, NewID: bus.NewID, Daemon: own,
		Handler: w.handlerOf(d), Background: d.agentBackground,
		Problem: func(err error) { d.logger.Error("agents", "error", err) },
	})
	w.books = &agent.Books{Log: d.log, Views: log, Find: agentFinder{d.memory.Finder()}}
	w.schedules = agent.NewSchedules(agent.ScheduleOptions{
		Log: d.log, Views: log, Engine: w.engine, Now: d.now, NewID: bus.NewID, Zone: zoneName(),
		Fire:    func(_ context.Context, s agent.Start) error { return d.fireRun(s) },
		Problem: func(err error) { d.logger.Warn("schedules", "error", err) },
	})
	d.agents = w
	outside := d.newVerbs(log)
	elsewhere := strings.Fields(d.settings.VerbsElsewhere)
	for _, v := range dialect.Verbs() {
		h := w.inside(v.Name)
		if h == nil {
			h = outside.handler(v.Name)
		}
		if h != nil && !slices.Contains(elsewhere, v.Name) {
			w.handlers[v.Name] = h
		}
	}
	for _, name := range elsewhere {
		if dialect.Lookup(name) == nil {
			d.warn("verbs_elsewhere names " + name + ", which is no verb; writ agent validate --prompt and /help show them")
		}
	}
	stopVerbs, err := d.serveVerbs(ctx)
	if err != nil {
		outside.close()
		return nil, err
	}
	w.wait.Go(func() { d.endInterrupted(w.ctx, own) })
	w.wait.Go(func() { w.schedules.Run(w.ctx) })
	w.wait.Go(func() { d.wakeSchedules(w.ctx) })
	return func() {
		w.stopAll()
		w.engine.Close()
		stopVerbs()
		outside.close()
	}, nil
}

// inside is the handler of a verb that Writ's own state answers, nil for others.
func (w *agentWork) inside(verb string) verbs.Handler {
	if h := w.engine.Own()[verb]; h != nil {
		return h
	}
	if verb == "schedule" {
		return w.schedules.Handler()
	}
	return w.books.Handlers()[verb]
}

// handlerOf finds the handler of a verb: here, or behind its subject.
func (w *agentWork) handlerOf(d *Daemon) func(string) verbs.Handler {
	remote := agent.Remote(func(ctx context.Context, verb string, body []byte) ([]byte, error) {
		reply, err := d.conn.Request(ctx, bus.Request{Subject: schemas.VerbSubject(verb), Body: body})
		return reply.Body, err
	})
	return func(verb string) verbs.Handler {
		if h := w.handlers[verb]; h != nil {
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
func (d *Daemon) serveVerbs(ctx context.Context) (stop func(), err error) {
	s := bus.Service{Name: verbService, Version: config.Version, Description: "handlers of the command language's verbs"}
	for verb, h := range d.agents.handlers {
		serve := agent.Serve(h)
		s.Endpoints = append(s.Endpoints, bus.Endpoint{
			Name: verb, Subject: schemas.VerbSubject(verb),
			Handle: func(ctx context.Context, r bus.Request) ([]byte, error) { return serve(ctx, r.Body) },
		})
	}
	shut, err := d.services.Serve(ctx, s)
	if err != nil {
		return nil, err
	}
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), stopBudget)
		defer cancel()
		if err := shut(ctx); err != nil {
			d.logger.Error("stop the verbs", "error", err)
		}
	}, nil
}

// stopAll ends every run, records that, and lets followers go.
func (w *agentWork) stopAll() {
	w.mu.Lock()
	for _, l := range w.live {
		l.cancel(errDaemonStops)
	}
	w.mu.Unlock()
	w.cancel()
	w.wait.Wait()
}

// endInterrupted records the end of runs that this daemon left at work when it
// was killed.
func (d *Daemon) endInterrupted(ctx context.Context, own string) {
	log := agentLog{d}
	var left []projections.RunSummary
	err := log.Read(ctx, projections.ViewAgentRuns, func(r projections.Reader) (err error) {
		left, err = d.views.agents.runs.AtWork(r)
		return err
	})
	for _, s := range left {
		if s.Daemon != own || !s.Started.Before(d.started) {
			continue
		}
		ended := agent.Claim(ctx, d.log, s.Seq, schemas.AgentRun(s.Run), schemas.Writ("runs"), schemas.AgentFinished{
			Outcome: agent.Stopped, Reason: "the daemon ended while it was at work", Calls: s.Calls, Millis: s.Last.Sub(s.Started).Milliseconds(),
		})
		if !errors.Is(ended, bus.ErrConflict) {
			err = errors.Join(err, ended)
		}
	}
	if err != nil && ctx.Err() == nil {
		d.logger.Warn("runs that were at work", "error", err)
	}
}

// wakeSchedules has the runner look again when the log has something new.
func (d *Daemon) wakeSchedules(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.views.agents.changed:
			d.agents.schedules.Wake()
		}
	}
}

// agentBackground is what goes with a message: the pitfalls and the rules that it
// retrieves. A failure means less of it, never a failed message.
func (d *Daemon) agentBackground(ctx context.Context, about agent.About) string {
	pitfalls, err := d.agents.books.Pitfalls(ctx, about.Workspace, about.Message)
	if err != nil {
		d.logger.Warn("pitfalls of a message", "error", err)
	}
	index := d.corpus.Current()
	rules := ""
	answer := index.Search(retrieval.Query{
		Text: about.Message, Session: about.Run, BudgetTokens: agentRulesTokens,
		Domains: project.Project{}.Domains(index.Domains(), project.LanguagesOf(about.Workspace)),
	})
	if answer.Tier == retrieval.TierInject {
		rules = answer.Block
	}
	return join(pitfalls, rules)
}

func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return "localhost"
	}
	return name
}

// zoneName is the machine's time zone by a name that means the same elsewhere.
func zoneName() string {
	for _, name := range []string{os.Getenv("TZ"), linkedZone(), time.Local.String()} {
		if _, err := agent.LoadZone(strings.TrimPrefix(name, ":")); err == nil {
			return strings.TrimPrefix(name, ":")
		}
	}
	return time.Now().Format("-07:00")
}

func linkedZone() string {
	path, err := filepath.EvalSymlinks("/etc/localtime")
	if err != nil {
		return ""
	}
	_, name, _ := strings.Cut(filepath.ToSlash(path), "zoneinfo/")
	return name
}
