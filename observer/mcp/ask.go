package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/schemas"
)

const (
	// AskBudget bounds one request to the daemon, a start of it apart.
	AskBudget = 10 * time.Second
	// dialBudget bounds reaching the daemon. One with a log of a million events
	// starts in about a second.
	dialBudget = 20 * time.Second
	// maxText bounds what a tool takes as a question, bytes.
	maxText = 64 << 10
	// maxProposal bounds what it takes as a rule, bytes.
	maxProposal = 256 << 10
)

// desk answers the tools' calls.
type desk struct{ Options }

// ask makes one request of the daemon and decodes its answer. Its errors are
// for the agent to read.
func ask[T any](ctx context.Context, d desk, subject string, request any) (T, error) {
	var reply T
	body, err := json.Marshal(request)
	if err != nil {
		return reply, err
	}
	dialing, stop := context.WithTimeout(ctx, dialBudget)
	defer stop()
	s, err := d.Dial(dialing)
	if err != nil {
		return reply, d.unreachable(err)
	}
	defer s.Close()
	ctx, cancel := context.WithTimeout(ctx, AskBudget)
	defer cancel()
	answer, err := s.Request(ctx, bus.Request{Subject: subject, Header: schemas.Header{}, Body: body})
	if err != nil {
		return reply, d.explained(err)
	}
	if err := json.Unmarshal(answer.Body, &reply); err != nil {
		return reply, fmt.Errorf("the daemon's answer to %s cannot be read: %w. writ and writd may be of different versions", subject, err)
	}
	return reply, nil
}

func (d desk) unreachable(err error) error {
	next := "Ask the user to run `writ doctor` in a terminal; it says what to repair"
	if d.NotRunning(err) {
		next = "Ask the user to run `writ up`"
	}
	return fmt.Errorf("writ's daemon cannot be reached: %w. %s", err, next)
}

// told is what a service says against a request.
type told struct{ text, code string }

func (t told) Error() string { return t.text }

func (d desk) explained(err error) error {
	var refused *bus.ServiceError
	switch {
	case errors.As(err, &refused) && refused.Code == schemas.CodeNotReady:
		return fmt.Errorf("%s. Try again in a moment", refused.Text)
	case errors.As(err, &refused):
		return told{refused.Text, refused.Code}
	case errors.Is(err, bus.ErrTooLarge):
		return fmt.Errorf("the request is larger than the daemon takes: %w. Send less", err)
	case errors.Is(err, bus.ErrUnavailable), errors.Is(err, bus.ErrClosed):
		return d.unreachable(err)
	}
	return err
}

// bounded refuses a text that is missing or too long.
func bounded(name, text string, most int) error {
	switch {
	case strings.TrimSpace(text) == "":
		return fmt.Errorf("%q is empty", name)
	case len(text) > most:
		return fmt.Errorf("%q has %d bytes, more than the %d that are taken. Send less", name, len(text), most)
	}
	return nil
}

// says is a result that a model reads as text.
func says(text string) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}
}

// refuses is a result that says no.
func refuses(text string) *sdk.CallToolResult {
	r := says(text)
	r.IsError = true
	return r
}
