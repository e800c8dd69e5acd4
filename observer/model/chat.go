package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/sony/gobreaker/v2"

	"github.com/writbus/writ/schemas/pause"
)

// The speakers of a conversation.
const (
	User      = "user"
	Assistant = "assistant"
)

// Request is one question to the model.
type Request struct {
	Model       string // "" is the configured one
	System      string
	Messages    []Message // at least one; the last is the user's
	MaxTokens   int       // 0 is the configured bound
	Temperature *float64  // nil is the server's own
	Stop        []string  // texts that end the answer
}

// Message is what one side said.
type Message struct {
	Role  string // User or Assistant
	Parts []Part
}

// Part is a text, or an image of the user's.
type Part struct {
	Text  string
	Image *Image
}

// Image is a picture as it is stored.
type Image struct {
	MIME string // image/png, image/jpeg, image/gif, image/webp
	Data []byte
}

// Said is a message of one text.
func Said(role, text string) Message { return Message{Role: role, Parts: []Part{{Text: text}}} }

// Usage counts tokens as the server states them, 0 where it does not.
type Usage struct {
	Input, Output int
}

// Why an answer ended.
const (
	StopEnd    = "end"    // the model had finished, or said a text of Request.Stop
	StopLength = "length" // it reached the bound on tokens
	StopFilter = "filter" // the server or the model declined to go on
)

// Reply is a whole answer.
type Reply struct {
	Text  string
	Stop  string // StopEnd, StopLength, StopFilter, or the server's own word
	Model string // as the server names it
	Usage Usage  // of the try that succeeded
	Tries int    // 1 if nothing was tried again
}

// Client asks one endpoint. It may be used by several goroutines.
type Client struct {
	config  Config
	http    *http.Client
	ask     func(context.Context, *watch, Request, func(string) error) (Reply, string, error)
	breaker *gobreaker.CircuitBreaker[Reply]

	mu     sync.Mutex
	failed string
}

// New makes a client, or returns ErrConfig. It connects with the first call.
func New(c Config) (*Client, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	client := &Client{config: c, http: &http.Client{
		Transport:     c.Transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	client.ask = client.openAI()
	if c.API == Anthropic {
		client.ask = client.anthropic()
	}
	client.breaker = gobreaker.NewCircuitBreaker[Reply](gobreaker.Settings{
		Name: c.Model, Timeout: c.BreakFor,
		ReadyToTrip: func(n gobreaker.Counts) bool { return n.ConsecutiveFailures >= uint32(c.BreakAfter) }, //nolint:gosec // checked not to be negative
		IsExcluded:  func(err error) bool { return err != nil && !passing(err) },
	})
	return client, nil
}

// Model is the name of the configured model.
func (c *Client) Model() string { return c.config.Model }

// State says what became of the last calls.
type State struct {
	Breaker  string // closed: calls are made; open: none; half-open: one is tried
	Failures int    // in a row
	Last     string // the last failure, "" after a success
}

// State returns the client's, as it is now.
func (c *Client) State() State {
	c.mu.Lock()
	defer c.mu.Unlock()
	return State{Breaker: c.breaker.State().String(), Failures: int(c.breaker.Counts().ConsecutiveFailures), Last: c.failed}
}

// Chat asks and returns the whole answer. heard, if not nil, gets its text in
// pieces as it arrives, in order, from the calling goroutine; an error of its
// own ends the call and is returned. The errors are those of this package, the
// listener's, or what the context ended with.
func (c *Client) Chat(ctx context.Context, r Request, heard func(piece string) error) (Reply, error) {
	if err := r.check(); err != nil {
		return Reply{}, err
	}
	r.Model = cmp.Or(r.Model, c.config.Model)
	r.MaxTokens = cmp.Or(r.MaxTokens, c.config.MaxTokens)
	reply, err := c.breaker.Execute(func() (Reply, error) { return c.tries(ctx, r, heard) })
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case err == nil:
		c.failed = ""
	case errors.Is(err, gobreaker.ErrOpenState), errors.Is(err, gobreaker.ErrTooManyRequests):
		return Reply{}, fmt.Errorf("%w; the last was: %s", ErrOpen, c.failed)
	case ctx.Err() == nil:
		c.failed = err.Error()
	}
	return reply, err
}

// tries calls until it succeeds, fails for good, or somebody heard a part of an
// answer that cannot be taken back.
func (c *Client) tries(ctx context.Context, r Request, heard func(string) error) (Reply, error) {
	ctx, cancel := context.WithTimeout(ctx, c.config.Timeout)
	defer cancel()
	said := false
	for n := 1; ; n++ {
		reply, w, err := c.try(ctx, r, func(piece string) error {
			if heard == nil || piece == "" {
				return nil
			}
			said = true
			return heard(piece)
		})
		if err == nil {
			reply.Tries = n
			return reply, nil
		}
		if said || n > c.config.Retries || !passing(err) || ctx.Err() != nil {
			return Reply{}, err
		}
		if !pause.For(ctx, max(c.config.RetryWait<<(n-1), w.retryAfter)) {
			return Reply{}, err
		}
	}
}

// errListener marks what a listener returned.
type errListener struct{ error }

func (e errListener) Unwrap() error { return e.error }

// try makes one call.
func (c *Client) try(ctx context.Context, r Request, heard func(string) error) (Reply, *watch, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	w := &watch{stall: c.config.Stall, most: c.config.MaxBytes, cancel: cancel}
	var text strings.Builder
	reply, said, err := c.ask(ctx, w, r, func(piece string) error {
		text.WriteString(piece)
		if err := heard(piece); err != nil {
			return errListener{err}
		}
		return nil
	})
	reply.Text = text.String()
	var listener errListener
	switch {
	case errors.As(err, &listener):
		return Reply{}, w, listener.error
	case reply.Stop != "" && !w.tooLarge: // what comes after the end does not matter
		return reply, w, nil
	case err != nil:
		return Reply{}, w, c.failure(ctx, w, err, said)
	case w.status < 200 || w.status >= 300:
		return Reply{}, w, c.failure(ctx, w, errors.New("no answer"), said)
	case !w.stream:
		return Reply{}, w, fmt.Errorf("%w: it is no event stream", ErrGarbage)
	case w.done:
		reply.Stop = StopEnd
		return reply, w, nil
	}
	return Reply{}, w, fmt.Errorf("%w: the stream ended before the answer", ErrCut)
}

var pictures = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// check returns ErrRequest for what no model can be asked.
func (r Request) check() error {
	if len(r.Messages) == 0 || r.Messages[len(r.Messages)-1].Role != User {
		return fmt.Errorf("%w: the last message must be the user's", ErrRequest)
	}
	if r.MaxTokens < 0 {
		return fmt.Errorf("%w: %d tokens", ErrRequest, r.MaxTokens)
	}
	for i, m := range r.Messages {
		switch {
		case m.Role != User && m.Role != Assistant:
			return fmt.Errorf("%w: message %d is of %q", ErrRequest, i, m.Role)
		case len(m.Parts) == 0:
			return fmt.Errorf("%w: message %d is empty", ErrRequest, i)
		}
		for _, p := range m.Parts {
			switch {
			case p.Image == nil && p.Text == "":
				return fmt.Errorf("%w: message %d has an empty part", ErrRequest, i)
			case p.Image != nil && (m.Role != User || p.Text != "" || len(p.Image.Data) == 0):
				return fmt.Errorf("%w: message %d: an image is a part of its own, of the user's, and has data", ErrRequest, i)
			case p.Image != nil && !slices.Contains(pictures, p.Image.MIME):
				return fmt.Errorf("%w: message %d: an image is one of %s, not %q", ErrRequest, i, strings.Join(pictures, ", "), p.Image.MIME)
			}
		}
	}
	return nil
}
