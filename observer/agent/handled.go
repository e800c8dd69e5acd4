package agent

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/writbus/writ/enforcement/dialect"
	"github.com/writbus/writ/observer/agent/verbs"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/excerpt"
)

// grace is how long a handler may take to end after its time is up.
const grace = 5 * time.Second

// command is what makes two commands the same within a message.
type command struct {
	agent, verb, args, body string
}

// found is a result that may be used again while nothing has changed.
type found struct {
	result  verbs.Result
	changes uint64
}

func (o *order) key() command {
	return command{o.c.agent(), o.command.Verb, o.command.Args, o.command.Body}
}

// known returns the result of the same command before.
func (o *order) known() (verbs.Result, bool) {
	f, ok := o.c.reused[o.key()]
	return f.result, ok && f.changes == o.c.engine.changes.Load()
}

func (o *order) dispatched() schemas.CommandDispatched {
	return schemas.CommandDispatched{
		CommandID: o.id, Verb: o.command.Verb, Args: o.command.Args, Agent: o.c.agent(), Turn: o.turn, Line: o.command.Line,
		BodyBytes: len(o.command.Body), Confirmed: o.confirmed,
	}
}

func (o *order) reuse(ctx context.Context, result verbs.Result) verbs.Result {
	o.c.show(schemas.FrameCommand, commandLine(o.command)+" (again)")
	finished := o.finished(result, 0)
	finished.Reused = true
	if err := o.c.record(ctx, o.dispatched(), finished); err != nil {
		return unrecorded(o.command.Verb, err)
	}
	return result
}

// handled records the dispatch, runs the handler and records the result.
func (o *order) handled(ctx context.Context, h verbs.Handler) verbs.Result {
	o.c.show(schemas.FrameCommand, commandLine(o.command))
	if err := o.c.record(ctx, o.dispatched()); err != nil {
		return unrecorded(o.command.Verb, err)
	}
	v := dialect.Lookup(o.command.Verb)
	changes := v.Changes(o.command.Args)
	if changes {
		o.c.engine.changes.Add(1)
	}
	before := o.c.engine.changes.Load()
	began := o.c.engine.o.Now()
	result := o.call(ctx, h, v)
	if result.Outcome == verbs.Asks && !o.confirmed && o.confirm(ctx, result.Text) {
		result = o.call(ctx, h, v)
	}
	if changes {
		o.c.engine.changes.Add(1)
	}
	result = o.keep(ctx, result)
	took := o.c.engine.o.Now().Sub(began)
	if err := o.c.recordLast(ctx, o.finished(result, took)); err != nil {
		result = withLine(result, "(Writ could not record this result: "+err.Error()+")")
	}
	o.c.show(schemas.FrameResult, resultLine(result))
	if !changes && result.Outcome == verbs.Done && len(result.Images) == 0 { // images are attached to one turn
		kept := result
		kept.Text = dialect.CutBefore(kept.Text, o.c.limits().Body, kept.End)
		o.c.reused[o.key()] = found{kept, before}
	}
	return result
}

func unrecorded(verb string, err error) verbs.Result {
	return verbs.Err("Writ could not record /"+verb+" and did not run it: "+err.Error(), "try again later")
}

func (o *order) finished(r verbs.Result, took time.Duration) schemas.CommandFinished {
	return schemas.CommandFinished{
		CommandID: o.id, OK: r.Outcome == verbs.Done, Result: dialect.CutBefore(r.Text, o.c.limits().Body, r.End), Millis: took.Milliseconds(),
		Verb: o.command.Verb, Outcome: string(r.Outcome), Trust: r.Trust, Details: r.Details,
	}
}

// call runs the handler within its time.
func (o *order) call(ctx context.Context, h verbs.Handler, v *dialect.Verb) verbs.Result {
	limit := v.Timeout
	if v.Name == "exec" {
		limit = o.c.limits().Exec + grace // it ends its programs itself
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var body []byte
	if o.command.HasBody {
		body = []byte(o.command.Body)
	}
	call := verbs.NewCall(v.Name, o.command.Args, body)
	call.Run, call.Agent, call.Workspace, call.Constitution = o.c.id, o.c.agent(), o.c.workspace, o.c.file
	call.Grant, call.Limits, call.Confirmed = o.c.run.Grant, o.c.limits(), o.confirmed
	done := make(chan verbs.Result, 1)
	go func() { done <- o.c.engine.safely(ctx, h, call) }()
	select {
	case result := <-done:
		return result
	case <-ctx.Done():
	}
	over, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	select {
	case result := <-done:
		return result
	case <-over.Done():
		return verbs.Err(fmt.Sprintf("/%s did not end within %s", v.Name, limit), "ask for less at once")
	}
}

// safely turns failures of Writ into results.
func (e *Engine) safely(ctx context.Context, h verbs.Handler, call verbs.Call) (result verbs.Result) {
	defer func() {
		if p := recover(); p != nil {
			e.problem(fmt.Errorf("agents: panic in the handler of /%s: %v\n%s", call.Verb, p, debug.Stack()))
			result = verbs.Err("Writ failed while it ran /"+call.Verb, "do without it; the daemon's log says more")
		}
	}()
	result, err := h.Handle(ctx, call)
	switch {
	case err == nil:
		return result
	case ctx.Err() != nil:
		return verbs.Err("/"+call.Verb+" was stopped: "+context.Cause(ctx).Error(), "ask for less at once")
	default:
		return verbs.Err("Writ failed while it ran /"+call.Verb+": "+err.Error(), "do without it")
	}
}

// keep numbers the images of a result and stores its artifacts.
func (o *order) keep(ctx context.Context, r verbs.Result) verbs.Result {
	for _, image := range r.Images {
		o.c.images++
		r = withLine(r, image.Note(o.c.images))
	}
	for _, a := range r.Keep {
		o.c.artifacts++
		id := strconv.Itoa(o.c.artifacts)
		kept := schemas.ArtifactKept{ArtifactID: id, Name: a.Name, MIME: a.MIME, Size: len(a.Data), Content: a.Data}
		if err := o.c.recordLast(ctx, kept); err != nil {
			r = withLine(r, "WARN: "+a.Name+" could not be kept: "+err.Error())
			continue
		}
		r = withLine(r, fmt.Sprintf("[kept as artifact #%s — %s, %d bytes]", id, cmp.Or(a.MIME, "data"), len(a.Data)))
	}
	r.Keep = nil
	return r
}

// withLine adds a line that stays where the text is cut.
func withLine(r verbs.Result, line string) verbs.Result {
	before := len(r.Text)
	if before > 0 && r.Text[before-1] != '\n' {
		r.Text += "\n"
	}
	r.Text += line + "\n"
	r.End += len(r.Text) - before
	return r
}

// resultLine is a result as it is shown to a person.
func resultLine(r verbs.Result) string {
	outcome := "failed"
	if r.Outcome != verbs.Failed {
		outcome = string(r.Outcome)
	}
	if exit := r.Details["exit"]; exit != "" && exit != "0" {
		outcome = "exit " + exit // the command ran; what it ran failed
	}
	line := firstLine(r.Text)
	if line == "" {
		return outcome
	}
	return outcome + ": " + line
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return shortened(line)
}

// shortened cuts a line on a rune.
func shortened(line string) string { return excerpt.Bytes(line, maxCommandLine) }
