package federation

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/a2aproject/a2a-go/a2a"
	"github.com/google/uuid"

	"github.com/writbus/writ/enforcement/dialect/address"
)

// maxAnswer bounds what a peer answers, in bytes.
const maxAnswer = 16 << 20

// rpc speaks A2A's JSON-RPC transport (A2A 0.3, section 7) with one endpoint.
type rpc struct {
	at     string
	client *http.Client
}

// rpcError is what a peer answers instead of a result.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *rpcError) Error() string { return fmt.Sprintf("error %d: %s", e.Code, e.Message) }

// clientFor makes a client for where a peer's card leads to. The user chose the
// peer's host; another host, which only the card names, has to be public and gets
// none of the headers.
func clientFor(p Peer, at string) (*rpc, error) {
	chosen, err := url.Parse(p.URL)
	if err != nil {
		return nil, err
	}
	to, err := url.Parse(at)
	if err != nil || to.Host == "" || to.Scheme != "http" && to.Scheme != "https" {
		return nil, fmt.Errorf("its card names %q, which is no http or https address", at)
	}
	if to.Host == chosen.Host && to.Scheme == chosen.Scheme {
		return &rpc{at, bounded(withHeaders(p.Headers))}, nil
	}
	var guard address.Guard
	if to, err = guard.URL(at); err != nil {
		return nil, fmt.Errorf("its card leads to %s: %w", at, err)
	}
	dialer := net.Dialer{Timeout: 10 * time.Second, Control: guard.Control}
	client := &http.Client{
		Transport:     &http.Transport{Proxy: nil, DialContext: dialer.DialContext, ForceAttemptHTTP2: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return &rpc{to.String(), bounded(client)}, nil
}

// send sends a message and returns the task or the message that came back.
func (r *rpc) send(ctx context.Context, params *a2a.MessageSendParams) (a2a.Event, error) {
	raw, err := r.ask(ctx, "message/send", params)
	if err != nil {
		return nil, err
	}
	event, err := a2a.UnmarshalEventJSON(raw)
	if err != nil {
		return nil, fmt.Errorf("its answer is neither a task nor a message: %w", err)
	}
	return event, nil
}

func (r *rpc) task(ctx context.Context, id a2a.TaskID) (*a2a.Task, error) {
	raw, err := r.ask(ctx, "tasks/get", &a2a.TaskQueryParams{ID: id})
	if err != nil {
		return nil, err
	}
	var task a2a.Task
	if err := json.Unmarshal(raw, &task); err != nil {
		return nil, fmt.Errorf("its answer is no task: %w", err)
	}
	return &task, nil
}

// cancel tells a peer that nobody waits any more.
func (r *rpc) cancel(ctx context.Context, id a2a.TaskID) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	_, _ = r.ask(ctx, "tasks/cancel", &a2a.TaskIDParams{ID: id}) // it may be through by now
}

func (r *rpc) ask(ctx context.Context, method string, params any) (json.RawMessage, error) {
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": uuid.NewString(), "method": method, "params": params})
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.at, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json")
	response, err := r.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }() // read as far as it is wanted
	raw, err := io.ReadAll(response.Body)
	switch {
	case err != nil:
		return nil, err
	case response.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("it answered %s", response.Status)
	}
	var answer struct {
		Result json.RawMessage `json:"result"`
		Error  *rpcError       `json:"error"`
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return nil, fmt.Errorf("its answer is no JSON-RPC: %w", err)
	}
	if answer.Error != nil {
		return nil, answer.Error
	}
	return answer.Result, nil
}

var errTooMuch = errors.New("its answer is too large")

// bounded makes a client read no more than maxAnswer of any answer.
func bounded(c *http.Client) *http.Client {
	c.Transport = limited{c.Transport}
	return c
}

type limited struct{ next http.RoundTripper }

func (l limited) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := l.next.RoundTrip(r)
	if err == nil {
		response.Body = &limitedBody{response.Body, maxAnswer}
	}
	return response, err
}

type limitedBody struct {
	io.ReadCloser
	left int
}

func (b *limitedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooMuch
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}
