package federation

import (
	"bytes"
	"cmp"
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
	"github.com/a2aproject/a2a-go/a2aclient"

	"github.com/writbus/writ/observer/agent/egress"
)

// maxAnswer bounds what a peer answers, in bytes.
const maxAnswer = 16 << 20

// peerError says, in words for the agent, why a peer cannot be talked to.
type peerError struct{ err error }

func (e *peerError) Error() string { return e.err.Error() }
func (e *peerError) Unwrap() error { return e.err }

func peerErrorf(format string, args ...any) error {
	return &peerError{fmt.Errorf(format, args...)}
}

// rpcError is what a peer answers instead of a result. The SDK keeps only its
// code.
type rpcError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data"`
}

func (e *rpcError) Error() string {
	var more string
	var detailed struct{ Error string } // as the SDKs of Go write it
	if json.Unmarshal(e.Data, &more) != nil && json.Unmarshal(e.Data, &detailed) == nil {
		more = detailed.Error
	}
	if more == "" || more == e.Message {
		return cmp.Or(e.Message, fmt.Sprintf("error %d", e.Code))
	}
	return cmp.Or(e.Message, fmt.Sprintf("error %d", e.Code)) + ": " + more
}

// connect makes the SDK's client of where a peer's card leads to.
func connect(ctx context.Context, p Peer, card *a2a.AgentCard) (*a2aclient.Client, error) {
	used := *card
	if used.PreferredTransport == "" { // A2A 0.3, section 5.5
		used.PreferredTransport = a2a.TransportProtocolJSONRPC
	}
	if kinds, ok := spoken(&used); !ok {
		return nil, peerErrorf("it speaks %s, and JSON-RPC is needed", kinds)
	}
	open := func(_ context.Context, at string, _ *a2a.AgentCard) (a2aclient.Transport, error) {
		client, err := clientFor(p, at)
		if err != nil {
			return nil, err
		}
		return a2aclient.NewJSONRPCTransport(at, client), nil
	}
	return a2aclient.NewFromCard(ctx, &used, a2aclient.WithDefaultsDisabled(), a2aclient.WithTransport(a2a.TransportProtocolJSONRPC, a2aclient.TransportFactoryFn(open)))
}

// clientFor makes a client for where a peer's card leads to. The user chose the
// peer's host; another host, which only the card names, has to be public and gets
// none of the headers.
func clientFor(p Peer, at string) (*http.Client, error) {
	chosen, err := url.Parse(p.URL)
	if err != nil {
		return nil, &peerError{err}
	}
	to, err := url.Parse(at)
	if err != nil || to.Host == "" || to.Scheme != "http" && to.Scheme != "https" {
		return nil, peerErrorf("its card names %q, which is no http or https address", at)
	}
	if to.Host == chosen.Host && to.Scheme == chosen.Scheme {
		return understood(withHeaders(p.Headers)), nil
	}
	var guard egress.Guard
	if _, err = guard.URL(at); err != nil {
		return nil, peerErrorf("its card leads to %s: %w", at, err)
	}
	dialer := net.Dialer{Timeout: 10 * time.Second, Control: guard.Control}
	return understood(&http.Client{
		Transport:     &http.Transport{Proxy: nil, DialContext: dialer.DialContext, ForceAttemptHTTP2: true, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}), nil
}

// cancel tells a peer that nobody waits any more.
func cancel(ctx context.Context, client *a2aclient.Client, id a2a.TaskID) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer stop()
	_, _ = client.CancelTask(ctx, &a2a.TaskIDParams{ID: id}) // it may be through by now
}

// understood makes a client tell what is no JSON-RPC result, in the peer's words
// where it has some: the SDK would say neither.
func understood(c *http.Client) *http.Client {
	c = bounded(c)
	c.Transport = answers{c.Transport}
	return c
}

type answers struct{ next http.RoundTripper }

func (a answers) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := a.next.RoundTrip(r)
	if err != nil || response.StatusCode >= 300 && response.StatusCode < 400 {
		return response, err
	}
	defer func() { _ = response.Body.Close() }() // all of it is read, or no more of it is wanted
	if response.StatusCode != http.StatusOK {
		return nil, peerErrorf("it answered %s", response.Status)
	}
	raw, err := io.ReadAll(response.Body)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, peerErrorf("its answer broke off after %d bytes", len(raw))
	case err != nil:
		return nil, err
	}
	var answer struct {
		Error *rpcError `json:"error"`
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return nil, peerErrorf("its answer is no JSON-RPC: %w", err)
	}
	if answer.Error != nil {
		return nil, answer.Error
	}
	response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(raw)), int64(len(raw))
	return response, nil
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
