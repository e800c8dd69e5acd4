package agent

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/writbus/writ/enforcement/dialect"
	"github.com/writbus/writ/enforcement/shell"
	"github.com/writbus/writ/observer/agent/scanner"
	"github.com/writbus/writ/observer/agent/verbs"
	"github.com/writbus/writ/schemas"
)

// Diagnostics of the dispatcher, beside those of the scanner. Persisted; never
// change.
const (
	diagnosticBudget  = "skipped_budget"
	diagnosticConfirm = "needs_confirmation"
	diagnosticNotRun  = "not_run"
)

// dispatch runs the commands of a response, one after the other, and returns the
// message that the agent gets.
func (c *conversation) dispatch(ctx context.Context, r *response) (text string, images []verbs.Image) {
	budget := c.limits().Budget()
	c.images = 0
	var results []dialect.Result
	outside := false
	for i, cmd := range r.commands {
		o := &order{c: c, command: cmd, turn: r.turn, id: c.engine.o.NewID(), cut: r.cutLast && i == len(r.commands)-1}
		result := o.run(ctx, budget)
		images = append(images, result.Images...)
		outside = outside || result.Outside || result.Trust == verbs.TrustWeb || result.Trust == verbs.TrustMCP || cmd.Verb == "a2a" && result.Trust != ""
		results = append(results, dialect.Result{Verb: cmd.Verb, Args: cmd.Args, Trust: result.Trust, Body: result.Text, End: result.End})
	}
	for i, shown := range c.limits().Shown(results) {
		if results[i].Trust != "" {
			c.taint.Add(shown) // not the body itself: a cut makes another command of one
		}
	}
	if outside { // what the agent says from then on
		c.taint.Outside()
	}
	if len(results) > 0 {
		text = c.limits().Frames(newSeed(), results)
	}
	return joined(text, r.notes()), images
}

// skipAll names the commands of a response none of which is run.
func (c *conversation) skipAll(ctx context.Context, r *response, why string) {
	var all []schemas.Payload
	for _, cmd := range r.commands {
		note := fmt.Sprintf("SKIPPED: %s: %s.", commandLine(cmd), why)
		all = append(all, schemas.DiagnosticReported{Kind: diagnosticNotRun, Turn: r.turn, Line: cmd.Line, Name: cmd.Verb, Note: note})
		c.show(schemas.FrameNote, note)
	}
	_ = c.recordLast(ctx, all...) // the end of the run says that the log failed
}

// order is one command on its way.
type order struct {
	c         *conversation
	command   scanner.Command
	turn      int
	id        string
	cut       bool // the end of the response may have cut it
	confirmed bool
}

// run takes the command through every question in their order, and returns its
// result.
func (o *order) run(ctx context.Context, budget *dialect.Budget) verbs.Result {
	cmd := o.command
	if o.cut {
		return o.skip(ctx, diagnosticNotRun, verbs.Err("/"+cmd.Verb+" stands where your response was cut off and was not run", "repeat it"))
	}
	if cmd.Status != scanner.Complete {
		return o.unterminated()
	}
	if d := o.granted(); d.Verdict != dialect.Allow {
		return o.deny(ctx, d.Reason)
	}
	if ctx.Err() != nil {
		return o.skip(ctx, diagnosticNotRun, verbs.Skip("/"+cmd.Verb+": the run was stopped", ""))
	}
	if text, ok := budget.Spend(cmd.Verb); !ok {
		return o.skip(ctx, diagnosticBudget, verbs.Result{Outcome: verbs.Skipped, Text: text})
	}
	if d := o.c.taint.Check(cmd.Verb, cmd.Args); d.Verdict != dialect.Allow {
		if !o.confirm(ctx, d.Reason) {
			return o.skip(ctx, diagnosticConfirm, verbs.Result{Outcome: verbs.Asks, Text: d.Reason})
		}
	}
	if result, ok := o.known(); ok {
		return o.reuse(ctx, result)
	}
	handler := o.c.engine.handler(cmd.Verb)
	if handler == nil {
		return o.skip(ctx, diagnosticNotRun, verbs.Err("nobody handles /"+cmd.Verb+" here", "do without it"))
	}
	return o.handled(ctx, handler)
}

// granted asks the capabilities, and for a delegation whether the callee may be
// called. Nothing has happened yet.
func (o *order) granted() dialect.Decision {
	d := o.c.run.Grant.Check(dialect.Request{Verb: o.command.Verb, Args: o.command.Args, Workspace: o.c.workspace})
	if d.Verdict == dialect.Allow && o.command.Verb == "exec" {
		return o.c.run.Grant.Programs(o.c.workspace, func(allowed, writable func(string) bool) string {
			lands := func(name string) bool { return writable(name) && writable(landing(o.c.workspace, name)) }
			return shell.Beyond(o.command.Args, shell.Env{Dir: o.c.workspace, Project: o.c.workspace}, allowed, lands)
		})
	}
	if d.Verdict != dialect.Allow || o.command.Verb != "agent" && o.command.Verb != "pane" {
		return d
	}
	id, message := cutWord(o.command.Args)
	if message == "" {
		return d // the handler says what is missing
	}
	called, err := find(o.c.file, id)
	if err != nil {
		return d // and who is not there
	}
	_, d = o.c.run.Delegate(called.constitution)
	return d
}

// landing is where in the workspace a file of this name is written when its links
// are followed, "" where that cannot be told.
func landing(workspace, name string) string {
	root, err := filepath.EvalSymlinks(workspace)
	if err != nil {
		return ""
	}
	real, err := filepath.EvalSymlinks(name)
	if info, lost := os.Lstat(name); err != nil && (lost != nil || info.Mode()&os.ModeSymlink == 0) {
		at := strings.LastIndexByte(name, '/') + 1 // what leads upwards leads there from where links lead
		var dir string
		if dir, err = filepath.EvalSymlinks(name[:max(at, 1)]); err == nil {
			real = filepath.Join(dir, name[at:])
		}
	}
	if err != nil {
		return ""
	}
	if real, err = filepath.Rel(root, real); err != nil {
		return ""
	}
	return filepath.ToSlash(real)
}

func (o *order) deny(ctx context.Context, reason string) verbs.Result {
	o.c.show(schemas.FrameDenied, commandLine(o.command)+": "+reason)
	err := o.c.recordLast(ctx, schemas.CommandDenied{
		CommandID: o.id, Verb: o.command.Verb, Args: o.command.Args, Reason: reason, Agent: o.c.agent(), Turn: o.turn, Line: o.command.Line,
	})
	if err != nil {
		reason += " (Writ could not record the denial: " + err.Error() + ")"
	}
	return verbs.Result{Text: reason}
}

// unterminated is the result of a block that was never closed; the scanner's
// diagnostic is in the log.
func (o *order) unterminated() verbs.Result {
	cmd := o.command
	text := "the block of /" + cmd.Verb + " was never closed; nothing of it was run or written"
	if cmd.SwallowedCount > 0 {
		text += fmt.Sprintf(", and what was taken for its content holds %d command(s): %s", cmd.SwallowedCount, strings.Join(cmd.Swallowed, ", "))
		if cmd.SwallowedCount > len(cmd.Swallowed) {
			text += " and more"
		}
	}
	return verbs.Err(text, "send it again with its terminator at column 0")
}

// skip records why a command that was granted did not run.
func (o *order) skip(ctx context.Context, kind string, result verbs.Result) verbs.Result {
	o.c.show(schemas.FrameNote, result.Text)
	err := o.c.recordLast(ctx, schemas.DiagnosticReported{
		Kind: kind, Turn: o.turn, Line: o.command.Line, Name: o.command.Verb, Note: result.Text,
	})
	if err != nil {
		result.Text += " (Writ could not record this: " + err.Error() + ")"
	}
	return result
}

// confirm asks a person, who sees all that would run.
func (o *order) confirm(ctx context.Context, reason string) bool {
	if o.c.confirm == nil || !o.c.confirm(ctx, o.question(reason)) {
		return false
	}
	o.confirmed = true
	return true
}

// shownBody bounds what a question shows of a block, in bytes. The line of a
// command is shown whole: what it does may stand at its end.
const shownBody = 4 << 10

func (o *order) question(reason string) string {
	cmd := o.command
	var q strings.Builder
	fmt.Fprintf(&q, "%s wants to run:\n  %s\n", o.c.agent(), wholeLine(cmd))
	if cmd.HasBody {
		for line := range strings.Lines(dialect.Cut(cmd.Body, shownBody)) {
			fmt.Fprintf(&q, "  | %s\n", strings.TrimRight(line, "\r\n"))
		}
	}
	return q.String() + reason
}
