package agent

import (
	"context"
	"sync"

	"github.com/writbus/writ/observer/agent/verbs"
	"github.com/writbus/writ/schemas"
)

const (
	maxPanes  = 16 // of one conversation
	paneQueue = 16 // messages that wait in one
)

// panes are conversations beside another one: messages to them are answered
// there, and nobody waits for the answers.
type panes struct {
	mu  sync.Mutex
	all map[string]*pane // by agent
}

// pane is one of them.
type pane struct {
	c      *conversation
	queue  []waiting
	closed bool
}

// waiting is a message with its origin.
type waiting struct{ message, origin string }

func firstPanes(p *panes) *panes {
	if p != nil {
		return p
	}
	return &panes{all: map[string]*pane{}}
}

// pane answers /pane. The conversation goes on when the caller's ends, and ends
// when nothing waits in it any more; a later message begins a new one.
func (e *Engine) pane(ctx context.Context, call verbs.Call) (verbs.Result, error) {
	c, problem, ok := e.caller(call)
	if !ok {
		return problem, nil
	}
	id, message := cutWord(call.Args)
	if message == "" {
		return verbs.Err("/pane needs an id and a message", "write /pane ID MESSAGE"), nil
	}
	c.panes.mu.Lock()
	defer c.panes.mu.Unlock()
	if p := c.panes.all[id]; p != nil && !p.closed {
		if len(p.queue) == paneQueue {
			return verbs.Skip("agent "+id+" has 16 messages waiting", "Wait for it"), nil
		}
		p.queue = append(p.queue, waiting{message, c.origin(message)})
		return verbs.OK("agent %s gets the message after those before it (run %s)", id, p.c.id).With("run", p.c.id), nil
	}
	open := 0
	for _, p := range c.panes.all {
		if !p.closed {
			open++
		}
	}
	if open >= maxPanes {
		return verbs.Skip("16 panes are at work", "Wait for one of them"), nil
	}
	child, problem, err := c.child(ctx, id, message, TriggerPane)
	if err != nil || child == nil {
		return problem, err
	}
	child.confirm = nil // its caller may be gone
	p := &pane{c: child}
	c.panes.all[id] = p
	e.done.Add(1)
	go e.work(context.WithoutCancel(ctx), c.panes, p, message)
	return verbs.OK("agent %s works on it (run %s)", id, child.id).With("run", child.id), nil
}

// work answers the messages of a pane until none waits.
func (e *Engine) work(ctx context.Context, all *panes, p *pane, message string) {
	defer e.done.Done()
	defer e.end(p.c)
	ctx, cancel := e.untilClosed(ctx)
	defer cancel()
	for {
		e.safely(ctx, verbs.HandlerFunc(func(ctx context.Context, _ verbs.Call) (r verbs.Result, err error) {
			p.c.message(ctx, message)
			return r, nil
		}), verbs.Call{Verb: "pane"})
		all.mu.Lock()
		if len(p.queue) == 0 || ctx.Err() != nil {
			p.closed = true
			left := p.queue
			p.queue = nil
			all.mu.Unlock()
			for _, w := range left {
				_ = p.c.recordLast(ctx, schemas.AgentMessaged{Message: w.message, Origin: w.origin, From: p.c.run.Chain[len(p.c.run.Chain)-1]},
					schemas.AgentFinished{Outcome: Stopped, Reason: reasonOf(ctx)})
			}
			return
		}
		var w waiting
		w, p.queue = p.queue[0], p.queue[1:]
		all.mu.Unlock()
		if message = w.message; w.origin == schemas.OriginOutside {
			p.c.taint.Add(message)
			p.c.taint.Outside()
		}
		if err := p.c.record(ctx, schemas.AgentMessaged{Message: message, Origin: w.origin, From: p.c.run.Chain[len(p.c.run.Chain)-1]}); err != nil {
			e.problem(err)
		}
	}
}
