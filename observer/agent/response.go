package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/writbus/writ/observer/agent/scanner"
	"github.com/writbus/writ/observer/agent/vocabulary"
	"github.com/writbus/writ/schemas"
)

// errTooLong ends a response that goes on beyond maxResponse.
var errTooLong = errors.New("agents: the response is too long")

// response is what a model says, scanned as it arrives.
type response struct {
	c       *conversation
	turn    int
	scanner *scanner.Scanner

	text        strings.Builder
	visible     []byte
	commands    []scanner.Command
	diagnostics []scanner.Diagnostic

	reply   Reply
	problem error // why it is not whole
	cutLast bool  // the last command may go on where the response ends
	took    time.Duration
}

func newResponse(c *conversation, turn int) *response {
	r := &response{c: c, turn: turn}
	r.scanner = scanner.New(vocabulary.Table(), r)
	r.reply.Whole = true
	return r
}

// Prose implements scanner.Sink.
func (r *response) Prose(text []byte) {
	r.visible = append(r.visible, text...)
	r.c.show(schemas.FrameProse, string(text))
}

// Command implements scanner.Sink.
func (r *response) Command(c scanner.Command) { r.commands = append(r.commands, c) }

// Diagnostic implements scanner.Sink.
func (r *response) Diagnostic(d scanner.Diagnostic) { r.diagnostics = append(r.diagnostics, d) }

func (r *response) take(piece string) {
	r.text.WriteString(piece)
	_, _ = r.scanner.Write([]byte(piece)) // fails after Close only
}

// close ends the scan. The last line of a response that is not whole may go on:
// a command on it is not run.
func (r *response) close() {
	_ = r.scanner.Close() // never fails
	n := len(r.commands)
	if r.problem != nil || r.reply.Whole || n == 0 || strings.HasSuffix(r.text.String(), "\n") {
		return
	}
	last := &r.commands[n-1]
	if last.Status == scanner.Complete && last.End >= int64(r.text.Len()) {
		last.Status, r.cutLast = scanner.Unterminated, true
	}
}

// ask makes one model call. What goes wrong is the response's problem.
func (c *conversation) ask(ctx context.Context, turn int) *response {
	r := newResponse(c, turn)
	began := c.engine.o.Now()
	defer func() { r.took = c.engine.o.Now().Sub(began) }()
	defer r.close()
	select {
	case c.engine.calls <- struct{}{}:
		defer func() { <-c.engine.calls }()
	case <-ctx.Done():
		r.problem = ctx.Err()
		return r
	}
	reply, err := c.engine.o.Model.Chat(ctx, Prompt{
		Model: c.model, System: c.system(), Messages: c.messages, MaxTokens: max(c.tokens, 0),
	}, func(piece string) error {
		if r.text.Len()+len(piece) > maxResponse {
			return fmt.Errorf("%w: over %d bytes", errTooLong, maxResponse)
		}
		r.take(piece)
		return ctx.Err()
	})
	r.reply, r.problem = reply, err
	if reply.Output == 0 {
		r.reply.Output = r.text.Len() / 4 // the server does not count: about four bytes each
	}
	return r
}

// recordReply records a response and what the scanner noted about it.
func (c *conversation) recordReply(ctx context.Context, r *response) error {
	replied := schemas.AgentReplied{
		Turn: r.turn, Text: r.text.String(), Model: r.reply.Model, InputTokens: r.reply.Input, OutputTokens: r.reply.Output,
		Stop: "end", Millis: r.took.Milliseconds(),
	}
	switch {
	case r.problem != nil:
		replied.Stop, replied.Problem = "cut", r.problem.Error()
	case !r.reply.Whole:
		replied.Stop = cmp.Or(r.reply.Stop, "length")
	}
	all := []schemas.Payload{replied}
	for _, d := range r.diagnostics {
		all = append(all, schemas.DiagnosticReported{
			Kind: string(d.Kind), Turn: r.turn, Line: d.Line, Name: d.Name, Suggestion: d.Suggestion, Note: d.String(),
		})
		c.show(schemas.FrameNote, d.String())
	}
	return c.recordLast(ctx, all...)
}

// notes tells the agent what looked like a command and was none.
func (r *response) notes() string {
	if len(r.diagnostics) == 0 {
		return ""
	}
	var out strings.Builder
	out.WriteString("Notes on your response:\n")
	for _, d := range r.diagnostics {
		fmt.Fprintf(&out, "- %s\n", d)
	}
	return out.String()
}

// names lists the commands of a response as they are named to a person.
func (r *response) names() string {
	var all []string
	for _, cmd := range r.commands {
		all = append(all, commandLine(cmd))
	}
	return strings.Join(all, ", ")
}

const maxCommandLine = 120 // bytes shown of a command, and of a result

func commandLine(c scanner.Command) string { return shortened(wholeLine(c)) }

// wholeLine is a command as its response has it.
func wholeLine(c scanner.Command) string {
	return strings.TrimRight("/"+c.Verb+" "+strings.ToValidUTF8(c.Args, "\uFFFD"), " ")
}
