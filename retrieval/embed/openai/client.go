package openai

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/writbus/writ/schemas/pause"
)

var (
	// ErrOptions is returned by [New].
	ErrOptions = errors.New("openai: unusable options")
	// ErrTimeout is returned when no attempt was answered in time.
	ErrTimeout = errors.New("openai: the endpoint did not answer in time")
	// ErrConnection is returned when the endpoint could not be reached or broke off.
	ErrConnection = errors.New("openai: the endpoint cannot be reached")
	// ErrStatus is returned for an answer other than 200.
	ErrStatus = errors.New("openai: the endpoint refused")
	// ErrResponse is returned for a 200 that does not hold the vectors asked for.
	ErrResponse = errors.New("openai: the endpoint's answer makes no sense")
	// ErrDimension is returned for vectors of another length than configured, or
	// than those before.
	ErrDimension = errors.New("openai: unexpected dimensions")
	// ErrCooling is returned, without a request, for a while after a call failed.
	ErrCooling = errors.New("openai: not asked again yet after a failure")
)

// The defaults of [Options].
const (
	DefaultTimeout  = 5 * time.Second
	DefaultAttempts = 3
	DefaultBackoff  = 200 * time.Millisecond
	DefaultCooldown = 15 * time.Second
	DefaultBatch    = 64
	DefaultMaxText  = 32 << 10
)

// longestWait bounds what an endpoint may ask for with Retry-After.
const longestWait = 30 * time.Second

// Options describe an endpoint. All but URL and Model have defaults.
type Options struct {
	URL      string        // the base, such as http://127.0.0.1:8080/v1; /embeddings is added
	Model    string        // as the endpoint calls it
	Key      string        // sent as a bearer token; may be empty
	Dim      int           // that every vector must have; 0 is whatever the first has
	Timeout  time.Duration // of one attempt
	Attempts int           // for failures that may pass: no connection, no answer, 408, 429 and 5xx
	Backoff  time.Duration // before the second attempt; doubles each time
	Cooldown time.Duration // after a failed call, during which calls fail at once; negative for none
	Batch    int           // texts per request
	MaxText  int           // bytes of a text that are sent
	Client   *http.Client  // nil for one of its own
	// Now and Wait replace the clock in tests.
	Now  func() time.Time
	Wait func(ctx context.Context, d time.Duration) bool
}

// Client asks one endpoint.
type Client struct {
	opt      Options
	endpoint string
	name     string

	mu      sync.Mutex
	dim     int       // 0 until known
	until   time.Time // of the cooldown
	failure error     // that began it
}

// New checks the options. It sends nothing.
func New(opt Options) (*Client, error) {
	base, err := url.Parse(opt.URL)
	switch {
	case err != nil:
		// The parser's error repeats the address, which may hold a password.
		return nil, fmt.Errorf("%w: the address is no URL", ErrOptions)
	case base.Scheme != "http" && base.Scheme != "https" || base.Host == "":
		return nil, fmt.Errorf("%w: the address must begin with http:// or https:// and name a host", ErrOptions)
	case opt.Model == "":
		return nil, fmt.Errorf("%w: no model is named", ErrOptions)
	case opt.Dim < 0:
		return nil, fmt.Errorf("%w: %d dimensions", ErrOptions, opt.Dim)
	case opt.Timeout < 0 || opt.Attempts < 0 || opt.Backoff < 0 || opt.Batch < 0 || opt.MaxText < 0:
		return nil, fmt.Errorf("%w: a negative limit", ErrOptions)
	}
	setDefaults(&opt)
	c := &Client{opt: opt, dim: opt.Dim, endpoint: base.JoinPath("embeddings").String()}
	c.name = "http:" + opt.Model + "@" + base.Host
	if opt.Dim > 0 {
		c.name += fmt.Sprintf("/%d", opt.Dim)
	}
	return c, nil
}

func setDefaults(opt *Options) {
	opt.Timeout = cmp.Or(opt.Timeout, DefaultTimeout)
	opt.Attempts = cmp.Or(opt.Attempts, DefaultAttempts)
	opt.Backoff = cmp.Or(opt.Backoff, DefaultBackoff)
	opt.Cooldown = cmp.Or(opt.Cooldown, DefaultCooldown)
	opt.Batch = cmp.Or(opt.Batch, DefaultBatch)
	opt.MaxText = cmp.Or(opt.MaxText, DefaultMaxText)
	if opt.Client == nil {
		opt.Client = &http.Client{}
	}
	client := *opt.Client
	// A redirect is refused: it would take the texts and the key elsewhere.
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	opt.Client = &client
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Wait == nil {
		opt.Wait = pause.For
	}
}

// Name is "http:", the model, the host and, if configured, the dimensions.
func (c *Client) Name() string { return c.name }

// Dim is the number of dimensions, 0 until configured or learned.
func (c *Client) Dim() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dim
}

// Embed returns the unit vector of a text.
func (c *Client) Embed(text string) ([]float32, error) {
	out, err := c.EmbedBatch(context.Background(), []string{text})
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

// EmbedBatch returns the unit vectors of many texts, or an error and none. A
// blank text has a vector of zeros and is not sent, since endpoints refuse it.
func (c *Client) EmbedBatch(ctx context.Context, texts []string) ([][]float32, error) {
	if err := c.cooling(); err != nil {
		return nil, err
	}
	out := make([][]float32, len(texts))
	var at []int
	for i, text := range texts {
		if strings.TrimSpace(text) != "" {
			at = append(at, i)
		}
	}
	for len(at) > 0 {
		n := min(len(at), c.opt.Batch)
		part := make([]string, n)
		for i, to := range at[:n] {
			part[i] = cut(texts[to], c.opt.MaxText)
		}
		vectors, err := c.try(ctx, part)
		if err != nil {
			return nil, c.failed(ctx, err)
		}
		for i, to := range at[:n] {
			out[to] = vectors[i]
		}
		at = at[n:]
	}
	return out, c.blank(out)
}

// blank fills in the vectors of texts that were not sent.
func (c *Client) blank(out [][]float32) error {
	dim := c.Dim()
	for i := range out {
		if out[i] != nil {
			continue
		}
		if dim == 0 {
			return fmt.Errorf("%w: a blank text, and the endpoint's dimensions are not known yet", ErrDimension)
		}
		out[i] = make([]float32, dim)
	}
	return nil
}

func (c *Client) cooling() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if left := c.until.Sub(c.opt.Now()); left > 0 {
		return fmt.Errorf("%w: %s, again in %v: %w", ErrCooling, c.name, left.Round(time.Second), c.failure)
	}
	return nil
}

// failed begins the cooldown, unless the caller gave up.
func (c *Client) failed(ctx context.Context, err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if ctx.Err() == nil && c.opt.Cooldown > 0 {
		c.until, c.failure = c.opt.Now().Add(c.opt.Cooldown), err
	}
	return err
}

// agree learns the dimensions from the first vectors and holds later ones to
// them.
func (c *Client) agree(dim int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dim = cmp.Or(c.dim, dim)
	if dim != c.dim {
		return fmt.Errorf("%w: %s gave %d, wanted %d", ErrDimension, c.name, dim, c.dim)
	}
	return nil
}

// cut is the longest prefix of at most n bytes that ends with a character.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}
