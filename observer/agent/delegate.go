package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/writbus/writ/enforcement/dialect"
	"github.com/writbus/writ/observer/agent/verbs"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/excerpt"
)

// caller returns the conversation that a call comes from.
func (e *Engine) caller(call verbs.Call) (*conversation, verbs.Result, bool) {
	c := e.at(call.Run)
	if c == nil {
		return nil, verbs.Err("the run that asks is not at work here", "do it yourself"), false
	}
	return c, verbs.Result{}, true
}

// agent answers /agent.
func (e *Engine) agent(ctx context.Context, call verbs.Call) (verbs.Result, error) {
	c, problem, ok := e.caller(call)
	if !ok {
		return problem, nil
	}
	id, message := cutWord(call.Args)
	if message == "" {
		return verbs.Err("/agent needs an id and a message", "write /agent ID MESSAGE"), nil
	}
	child, problem, err := c.child(ctx, id, message, TriggerAgent)
	if err != nil || child == nil {
		return problem, err
	}
	defer e.end(child)
	return child.result(child.message(ctx, message)), nil
}

// child starts a conversation with another agent. Without one, the result says
// why.
func (c *conversation) child(ctx context.Context, id, message, trigger string) (*conversation, verbs.Result, error) {
	called, err := find(c.file, id)
	switch {
	case errors.Is(err, ErrNoAgent):
		return nil, verbs.Err("there is no agent "+id, "ask one of those that you know"), nil
	case err != nil:
		return nil, verbs.Err("agent "+id+" cannot be called: "+err.Error(), "ask the user to repair its constitution"), nil
	}
	run, d := c.run.Delegate(called.constitution)
	if d.Verdict != dialect.Allow {
		return nil, verbs.Result{Text: d.Reason}, nil
	}
	child := &conversation{
		engine: c.engine, id: c.engine.o.NewID(), run: run, file: c.file, workspace: c.workspace, watch: c.watch, confirm: c.confirm,
		model: cmp.Or(called.constitution.Model, c.model), taint: c.taint.Clone(), tokens: c.allowance(),
	}
	err = c.engine.register(ctx, child, schemas.AgentStarted{
		Agent: id, Message: message, Origin: c.origin(message), Trigger: trigger, Model: child.model, File: called.file, Workspace: c.workspace,
		Capabilities: called.constitution.Capabilities, Chain: run.Chain, Parent: c.id,
	})
	if err != nil {
		return nil, verbs.Result{}, err
	}
	return child, verbs.Result{}, nil
}

// allowance is how many tokens a child may write: what its caller gives, and no
// more than that has itself.
func (c *conversation) allowance() int {
	given := c.run.Constitution.Delegation.MaxTokens
	switch {
	case given == 0:
		return c.tokens
	case c.tokens == unbounded:
		return given
	default:
		return min(given, c.tokens)
	}
}

// result is a child's end as its caller is told it.
func (c *conversation) result(f schemas.AgentFinished) verbs.Result {
	r := resultOf(c.agent(), f)
	r.Outside = c.taint.FromOutside()
	return r
}

func resultOf(id string, f schemas.AgentFinished) verbs.Result {
	if f.Outcome == Answered {
		return verbs.Content(verbs.TrustPeer, cmp.Or(f.Answer, "(agent "+id+" answered nothing)"))
	}
	r := verbs.Err("agent "+id+" "+excerpt.Joined(": ", f.Outcome, f.Reason), "do it yourself or ask differently")
	if f.Answer != "" {
		r.Text += "\nWhat it said last:\n" + f.Answer
		r.Trust = verbs.TrustPeer
	}
	return r
}

// parallel answers /parallel: its children work at the same time.
func (e *Engine) parallel(ctx context.Context, call verbs.Call) (verbs.Result, error) {
	c, problem, ok := e.caller(call)
	if !ok {
		return problem, nil
	}
	if call.Args != "" {
		return verbs.Err("/parallel takes no argument, not "+call.Args, "write one /agent line per child below it"), nil
	}
	children := dialect.Children(string(call.Body))
	if len(children) == 0 {
		return verbs.Err("the block of /parallel is empty", "write one /agent line per child"), nil
	}
	allowed, skipped := call.Limits.Budget().Children(len(children))
	results := make([]dialect.Result, allowed)
	failed := make([]bool, allowed)
	outside := make([]bool, allowed)
	var wait sync.WaitGroup
	for i, child := range children[:allowed] {
		wait.Go(func() {
			r := e.safely(ctx, verbs.HandlerFunc(func(ctx context.Context, _ verbs.Call) (verbs.Result, error) {
				return c.parallelChild(ctx, child), nil
			}), call)
			results[i] = dialect.Result{Verb: "agent", Args: strings.TrimSpace(child.ID + " " + child.Message), Trust: r.Trust, Body: r.Text, End: r.End}
			failed[i], outside[i] = r.Outcome != verbs.Done, r.Outside
		})
	}
	wait.Wait()
	r := gathered(call.Limits, results, failed, skipped)
	r.Outside = slices.Contains(outside, true)
	return r, nil
}

// parallelChild asks what the dispatcher asks of a command: each child needs
// /agent of its own.
func (c *conversation) parallelChild(ctx context.Context, child dialect.Child) verbs.Result {
	if child.Problem != "" {
		return verbs.Err(fmt.Sprintf("line %d: %s", child.Line, child.Problem), "write /agent ID MESSAGE")
	}
	args := child.ID + " " + child.Message
	d := c.run.Grant.Check(dialect.Request{Verb: "agent", Args: args, Workspace: c.workspace})
	if d.Verdict == dialect.Allow {
		if called, err := find(c.file, child.ID); err == nil {
			_, d = c.run.Delegate(called.constitution)
		}
	}
	if d.Verdict != dialect.Allow {
		c.show(schemas.FrameDenied, "/agent "+child.ID+": "+d.Reason)
		denied := schemas.CommandDenied{CommandID: c.engine.o.NewID(), Verb: "agent", Args: args, Reason: d.Reason, Agent: c.agent()}
		if err := c.recordLast(ctx, denied); err != nil {
			d.Reason += " (Writ could not record the denial: " + err.Error() + ")"
		}
		return verbs.Result{Text: d.Reason}
	}
	started, problem, err := c.child(ctx, child.ID, child.Message, TriggerParallel)
	if err != nil {
		return verbs.Err("agent "+child.ID+" could not be started: "+err.Error(), "try again later")
	}
	if started == nil {
		return problem
	}
	defer c.engine.end(started)
	return started.result(started.message(ctx, child.Message))
}

// gathered puts the children's answers into frames of their own, each with its
// share of the room, so that none can pass for another's and none is left out.
func gathered(l dialect.Limits, results []dialect.Result, failed []bool, skipped string) verbs.Result {
	const overhead = 300 // bytes of a frame's marks
	share := max(l.Body/max(len(results), 1)-overhead, 0)
	bounds := l
	bounds.Body, bounds.Batch = share, l.Body
	r := verbs.Content(verbs.TrustPeer, bounds.Frames(newSeed(), results))
	all := true
	for _, f := range failed {
		all = all && f
	}
	if all {
		r.Outcome = verbs.Failed
	}
	if skipped != "" {
		r.Text = skipped + "\n" + r.Text
	}
	return r
}

// cutWord cuts the first word off a text.
func cutWord(s string) (word, rest string) {
	s = strings.Trim(s, " \t")
	if i := strings.IndexAny(s, " \t"); i >= 0 {
		return s[:i], strings.TrimLeft(s[i:], " \t")
	}
	return s, ""
}
