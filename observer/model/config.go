package model

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// The APIs a Client speaks.
const (
	OpenAI    = "openai"    // POST {BaseURL}/chat/completions
	Anthropic = "anthropic" // POST {BaseURL}/v1/messages
)

// Config says which model is asked, and how patiently. Zero values are the
// defaults in parentheses.
type Config struct {
	API     string // OpenAI or Anthropic
	BaseURL string // without the parts above (https://api.openai.com/v1, https://api.anthropic.com)
	Model   string
	Key     string // "" sends none

	// Timeout bounds one call with all its tries (2 min).
	Timeout time.Duration
	// Stall bounds the silence within a stream that has begun (30 s).
	Stall time.Duration
	// Retries is how often a call that failed is tried again (2); negative is
	// never.
	Retries int
	// RetryWait is waited before the first of them, and doubled each time
	// (500 ms). A server that says how long to wait is waited for, up to
	// maxRetryAfter.
	RetryWait time.Duration
	// MaxTokens bounds an answer where the request does not (4096).
	MaxTokens int
	// MaxBytes bounds what is read of one answer (16 MiB).
	MaxBytes int64
	// BreakAfter calls that failed in a row open the breaker (5), for BreakFor
	// (30 s).
	BreakAfter int
	BreakFor   time.Duration
	// Transport carries the requests (a clone of http.DefaultTransport).
	Transport http.RoundTripper
}

const maxRetryAfter = 30 * time.Second

// withDefaults fills what is zero, or returns ErrConfig.
func (c Config) withDefaults() (Config, error) {
	standard := map[string]string{OpenAI: "https://api.openai.com/v1", Anthropic: "https://api.anthropic.com"}
	address, known := standard[c.API]
	switch {
	case !known:
		return c, fmt.Errorf("%w: the API is %q, must be %s or %s", ErrConfig, c.API, OpenAI, Anthropic)
	case strings.TrimSpace(c.Model) == "":
		return c, fmt.Errorf("%w: no model is named", ErrConfig)
	case strings.ContainsAny(c.Key, "\r\n\x00"):
		return c, fmt.Errorf("%w: the key has more than one line", ErrConfig)
	}
	c.BaseURL = cmp.Or(c.BaseURL, address)
	u, err := url.Parse(c.BaseURL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return c, fmt.Errorf("%w: the address %q is no http or https URL of an API", ErrConfig, c.BaseURL)
	}
	c.BaseURL = strings.TrimRight(c.BaseURL, "/") + "/"
	c.Timeout = cmp.Or(c.Timeout, 2*time.Minute)
	c.Stall = cmp.Or(c.Stall, 30*time.Second)
	c.RetryWait = cmp.Or(c.RetryWait, 500*time.Millisecond)
	c.BreakFor = cmp.Or(c.BreakFor, 30*time.Second)
	c.Retries = cmp.Or(c.Retries, 2)
	c.MaxTokens = cmp.Or(c.MaxTokens, 4096)
	c.MaxBytes = cmp.Or(c.MaxBytes, 16<<20)
	c.BreakAfter = cmp.Or(c.BreakAfter, 5)
	if c.Timeout < 0 || c.Stall < 0 || c.RetryWait < 0 || c.BreakFor < 0 || c.MaxTokens < 0 || c.MaxBytes < 0 || c.BreakAfter < 0 {
		return c, fmt.Errorf("%w: a bound is negative", ErrConfig)
	}
	if c.Transport == nil {
		c.Transport = http.DefaultTransport.(*http.Transport).Clone()
	}
	return c, nil
}
