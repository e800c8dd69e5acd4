package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/excerpt"
)

// Outcomes of a message. Persisted; never change.
const (
	Answered  = "answered"
	Halted    = "halted"
	Exhausted = "exhausted"
	Stopped   = "stopped"
	Failed    = "failed"
)

// maxCuts is how many responses of one message may break off.
const maxCuts = 2

// wrapUp goes with the results before the last model call.
const wrapUp = "This is your last response to this message: no command in it will run. Say what you found, what was done and what is left."

// exchange is a message on its way to an answer.
type exchange struct {
	c         *conversation
	text      string
	began     time.Time
	call      int
	cuts      int
	noted     bool // notes without commands went back once
	redirects int
	finished  schemas.AgentFinished
}

// step makes one model call and does what follows from it. It reports whether
// the message is done.
func (x *exchange) step(ctx context.Context) bool {
	x.call++
	last := x.call >= x.c.limits().ModelCalls
	r := x.c.ask(ctx, x.call)
	x.count(r)
	if err := x.c.recordReply(ctx, r); err != nil {
		return x.fail(err)
	}
	switch {
	case ctx.Err() != nil:
		return x.stop(ctx, r)
	case r.problem != nil:
		return x.cut(ctx, r, last)
	case last || len(r.commands) == 0 && (x.noted || len(r.diagnostics) == 0):
		return x.answer(ctx, r, last)
	case x.exhausted():
		x.c.skipAll(ctx, r, "the agent's tokens are used up")
		return x.finish(Exhausted, r.answer(), "the agent's tokens are used up")
	}
	x.noted = x.noted || len(r.commands) == 0
	batch, images := x.c.dispatch(ctx, r)
	if ctx.Err() != nil {
		return x.finish(Stopped, r.answer(), reasonOf(ctx))
	}
	x.c.said(r.text.String())
	x.c.tell(joined(batch, x.wrapUp()), images)
	return false
}

// wrapUp announces the last model call, before it.
func (x *exchange) wrapUp() string {
	if x.call+1 >= x.c.limits().ModelCalls {
		return wrapUp
	}
	return ""
}

// answer deals with a response that ends the message, unless the advisor sends
// it back.
func (x *exchange) answer(ctx context.Context, r *response, last bool) bool {
	reason := ""
	if len(r.commands) > 0 {
		reason = "no model call was left for the results of " + r.names()
		x.c.skipAll(ctx, r, "it was the last response of the message")
	}
	if !r.reply.Whole {
		reason = excerpt.Joined(": ", reason, "the answer was ended by its bound: "+cmp.Or(r.reply.Stop, "length"))
	}
	answer := r.answer()
	judged, err := x.c.gate(ctx, x.text, answer)
	switch {
	case err != nil && ctx.Err() != nil:
		return x.finish(Stopped, "", reasonOf(ctx))
	case err != nil:
		return x.finish(Halted, "", "the advisor could not be asked: "+err.Error())
	case judged.verdict == verdictHalt:
		return x.finish(Halted, "", judged.text)
	case judged.verdict != verdictRedirect:
		x.c.said(r.text.String())
		return x.finish(Answered, answer, reason)
	case last || x.redirects >= x.c.run.Constitution.Advisor.MaxRedirects:
		return x.finish(Halted, "", fmt.Sprintf("the advisor sent the answer back and there is no further try (%d before): %s", x.redirects, judged.text))
	}
	x.redirects++
	x.c.said(r.text.String())
	x.c.tell(joined("Your advisor sends this answer back:\n"+judged.text+"\nAnswer again.", x.wrapUp()), nil)
	return false
}

// cut deals with a response that broke off: nothing of it is run, and the agent
// is told what.
func (x *exchange) cut(ctx context.Context, r *response, last bool) bool {
	x.cuts++
	x.c.skipAll(ctx, r, "the response broke off")
	if r.text.Len() == 0 || last || x.cuts >= maxCuts {
		return x.finish(Failed, "", "the model's answer broke off: "+r.problem.Error())
	}
	x.c.show(schemas.FrameNote, "the model's answer broke off and is asked for again: "+r.problem.Error())
	x.c.said(r.text.String())
	text := "WARN: your response broke off; nothing of it was run."
	if len(r.commands) > 0 {
		text += " Not run: " + r.names() + "."
	}
	x.c.tell(joined(text+" Go on, and repeat the commands you need.", x.wrapUp()), nil)
	return false
}

func (x *exchange) stop(ctx context.Context, r *response) bool {
	x.c.skipAll(ctx, r, reasonOf(ctx))
	return x.finish(Stopped, r.answer(), reasonOf(ctx))
}

func reasonOf(ctx context.Context) string {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return cause.Error()
	}
	return "it was stopped"
}

// exhausted reports whether the agent may write no more.
func (x *exchange) exhausted() bool { return x.c.tokens == 0 }

func (x *exchange) count(r *response) {
	x.finished.InputTokens += r.reply.Input
	x.finished.OutputTokens += r.reply.Output
	if x.c.tokens != unbounded {
		x.c.tokens = max(x.c.tokens-r.reply.Output, 0)
	}
}

func (x *exchange) fail(err error) bool {
	return x.finish(Failed, "", "Writ could not record what happens: "+err.Error())
}

func (x *exchange) finish(outcome, answer, reason string) bool {
	x.finished.Outcome, x.finished.Answer, x.finished.Reason = outcome, answer, reason
	return true
}

// ended records the end.
func (x *exchange) ended(ctx context.Context) schemas.AgentFinished {
	x.finished.Calls = x.call
	x.finished.Millis = x.c.engine.o.Now().Sub(x.began).Milliseconds()
	if err := x.c.recordLast(ctx, x.finished); err != nil && x.finished.Outcome != Failed {
		x.fail(err)
	}
	x.c.show(schemas.FrameFinished, excerpt.Joined(": ", x.finished.Outcome, x.finished.Reason))
	return x.finished
}

// answer is the visible text of a response.
func (r *response) answer() string {
	return strings.TrimSpace(strings.ToValidUTF8(string(r.visible), "\uFFFD"))
}
