package model

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/writbus/writ/schemas/excerpt"
)

// What Chat returns, wrapped with what the server said.
var (
	// ErrConfig: New was given what cannot be.
	ErrConfig = errors.New("model: bad configuration")
	// ErrRequest: Chat was given what cannot be asked; nothing was sent.
	ErrRequest = errors.New("model: bad request")
	// ErrRefused: the server understood and refused (4xx, or a redirection);
	// asking again is no use.
	ErrRefused = errors.New("model: the request was refused")
	// ErrUnauthorized: the key is missing or wrong (401, 403).
	ErrUnauthorized = errors.New("model: the key was not accepted")
	// ErrTooLong: the request does not fit into the model (413, or a server that
	// says so).
	ErrTooLong = errors.New("model: the request is too long")
	// ErrLimited: too many requests (429), or the account is used up.
	ErrLimited = errors.New("model: the server asks to wait")
	// ErrUnavailable: no connection, or the server failed (5xx).
	ErrUnavailable = errors.New("model: the server is unavailable")
	// ErrTimeout: Config.Timeout or Config.Stall went by.
	ErrTimeout = errors.New("model: the answer took too long")
	// ErrCut: the stream ended before the answer did.
	ErrCut = errors.New("model: the answer was cut off")
	// ErrGarbage: the answer is not what the API answers, or more than
	// Config.MaxBytes.
	ErrGarbage = errors.New("model: the answer cannot be understood")
	// ErrOpen: too many calls failed; none is made for a while.
	ErrOpen = errors.New("model: calls are suspended after repeated failures")
)

// passing says that the same call may succeed a little later.
func passing(err error) bool {
	for _, e := range []error{ErrLimited, ErrUnavailable, ErrTimeout, ErrCut, ErrGarbage} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// errStalled is the cause of a call that is cancelled for its silence.
var errStalled = errors.New("nothing was heard")

// streamError is what both SDKs put in front of an error event of a stream.
const streamError = "received error while streaming: "

// maxSaid cuts what a server says about a failure, in runes.
const maxSaid = 300

// failure names what went wrong with a try: w saw the response, err came from
// the SDK, said is the server's own message.
func (c *Client) failure(ctx context.Context, w *watch, err error, said string) error {
	if err != nil && said == "" {
		_, said, _ = strings.Cut(err.Error(), streamError)
	}
	kind, detail := ErrGarbage, said
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errStalled):
		kind, detail = ErrTimeout, fmt.Sprintf("nothing was heard for %s", c.config.Stall)
	case errors.Is(cause, context.DeadlineExceeded):
		kind, detail = ErrTimeout, fmt.Sprintf("more than %s", c.config.Timeout)
	case cause != nil:
		return fmt.Errorf("model: %w", cause)
	case w.tooLarge:
		detail = fmt.Sprintf("it has more than %d bytes", c.config.MaxBytes)
	case w.status == 0:
		kind, detail = ErrUnavailable, err.Error()
	case w.status >= 300:
		kind, detail = refusal(w.status, said), fmt.Sprintf("status %d %s", w.status, strings.TrimSpace(http.StatusText(w.status)+" "+said))
	case said != "":
		kind = ofMessage(said)
	case w.cut:
		kind, detail = ErrCut, "the connection ended"
	case detail == "":
		detail = err.Error()
	}
	return fmt.Errorf("%w: %s", kind, c.tell(detail))
}

// refusal is what a status means.
func refusal(status int, said string) error {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return ErrUnauthorized
	case status == http.StatusTooManyRequests:
		return ErrLimited
	case status == http.StatusRequestEntityTooLarge:
		return ErrTooLong
	case status == http.StatusRequestTimeout, status == http.StatusConflict, status == http.StatusTooEarly, status >= 500:
		return ErrUnavailable
	case tooLong(said):
		return ErrTooLong
	}
	return ErrRefused
}

// ofMessage is what an error within a stream means, which has no status of its
// own.
func ofMessage(said string) error {
	lower := strings.ToLower(said)
	switch {
	case tooLong(said):
		return ErrTooLong
	case strings.Contains(lower, "rate_limit"), strings.Contains(lower, "rate limit"):
		return ErrLimited
	case strings.Contains(lower, "invalid_request"):
		return ErrRefused
	}
	return ErrUnavailable
}

func tooLong(said string) bool {
	lower := strings.ToLower(said)
	for _, sign := range []string{"context_length", "context length", "prompt is too long", "maximum context", "context window"} {
		if strings.Contains(lower, sign) {
			return true
		}
	}
	return false
}

// tell makes one line of what a server said, without the key.
func (c *Client) tell(said string) string {
	if c.config.Key != "" {
		said = strings.ReplaceAll(said, c.config.Key, "[key]")
	}
	return excerpt.Runes(excerpt.Line(said), maxSaid+1)
}
