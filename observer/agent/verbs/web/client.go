package web

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/writbus/writ/observer/agent/egress"
)

// Limits of one fetch, as the language has them.
const (
	maxBytes     = 8 << 20
	maxRedirects = 10
	fetchTime    = 30 * time.Second
	connectTime  = 10 * time.Second
)

// ErrRedirects is wrapped by the error of a request that was sent on too often,
// or to where the agent may not go.
var ErrRedirects = errors.New("web: redirect not followed")

// Dial is the DialContext of a transport that reaches only what a guard allows.
// The resolver may be nil.
func Dial(guard egress.Guard, resolver *net.Resolver) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return (&net.Dialer{Timeout: connectTime, Control: guard.Control, Resolver: resolver}).DialContext
}

// transport reaches only what dial allows, and knows no proxy: the address of a
// proxy is what the guard would see.
func transport(dial func(ctx context.Context, network, addr string) (net.Conn, error)) *http.Transport {
	return &http.Transport{
		Proxy:                  nil,
		DialContext:            dial,
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    connectTime,
		ResponseHeaderTimeout:  fetchTime,
		MaxResponseHeaderBytes: 256 << 10,
		MaxIdleConns:           16,
		IdleConnTimeout:        fetchTime,
	}
}

// follow takes up to maxRedirects redirects. The guard and the grant see each
// target before it is resolved; nothing of one request goes along to the next.
func (f *Fetch) follow(ctx context.Context, target *url.URL, granted func(*url.URL) error) (*http.Response, error) {
	for n := 0; ; n++ {
		response, err := f.ask(ctx, target)
		if err != nil {
			return nil, err
		}
		location := response.Header.Get("Location")
		if !redirects(response.StatusCode) || location == "" {
			return response, nil
		}
		_ = response.Body.Close() // the next one counts
		if n == maxRedirects {
			return nil, fmt.Errorf("%w: more than %d redirects", ErrRedirects, maxRedirects)
		}
		if target, err = f.next(target, location); err != nil {
			return nil, err
		}
		if err := granted(target); err != nil {
			return nil, err
		}
	}
}

func redirects(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// next is where a Location leads to.
func (f *Fetch) next(from *url.URL, location string) (*url.URL, error) {
	at, err := url.Parse(location)
	if err != nil {
		return nil, fmt.Errorf("redirected to %q: %w: not a URL", location, egress.ErrRefused)
	}
	to, err := f.guard.URL(from.ResolveReference(at).String())
	if err != nil {
		return nil, fmt.Errorf("redirected to %q: %w", location, err)
	}
	return to, nil
}

// ask makes one request and follows nothing.
func (f *Fetch) ask(ctx context.Context, target *url.URL) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("User-Agent", f.agent)
	request.Header.Set("Accept", "text/html, text/markdown, text/plain, application/json;q=0.9, image/*;q=0.8, */*;q=0.5")
	return f.transport.RoundTrip(request)
}
