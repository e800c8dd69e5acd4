package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// request is what is sent.
type request struct {
	Model  string   `json:"model"`
	Input  []string `json:"input"`
	Format string   `json:"encoding_format"`
}

// answer is what comes back.
type answer struct {
	Data []struct {
		Index  *int      `json:"index"`
		Vector []float32 `json:"embedding"`
	} `json:"data"`
}

// try sends one batch, again after failures that may pass.
func (c *Client) try(ctx context.Context, texts []string) ([][]float32, error) {
	body, err := json.Marshal(request{Model: c.opt.Model, Input: texts, Format: "float"})
	if err != nil {
		return nil, fmt.Errorf("openai: encode %d texts: %w", len(texts), err)
	}
	pause := c.opt.Backoff
	for attempt := 1; ; attempt++ {
		vectors, after, err := c.once(ctx, body, len(texts))
		if err == nil {
			return vectors, nil
		}
		if ctx.Err() != nil {
			return nil, fmt.Errorf("openai: %s: %w", c.name, ctx.Err())
		}
		if after < 0 || attempt == c.opt.Attempts {
			return nil, fmt.Errorf("%w (attempt %d of %d)", err, attempt, c.opt.Attempts)
		}
		if !c.opt.Wait(ctx, min(max(pause, after), longestWait)) {
			return nil, fmt.Errorf("openai: %s: %w, after %w", c.name, ctx.Err(), err)
		}
		pause *= 2
	}
}

// once sends one request. After an error, after says how long the endpoint
// wants to be left alone; it is negative if another attempt would be no use.
func (c *Client) once(ctx context.Context, body []byte, n int) (vectors [][]float32, after time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.opt.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.endpoint, bytes.NewReader(body))
	if err != nil {
		return nil, -1, fmt.Errorf("openai: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	if c.opt.Key != "" {
		req.Header.Set("Authorization", "Bearer "+c.opt.Key)
	}
	resp, err := c.opt.Client.Do(req)
	if err != nil {
		return nil, 0, c.unreached(ctx, err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, longestAnswer(n)))
	switch {
	case err != nil:
		return nil, 0, c.unreached(ctx, err)
	case resp.StatusCode != http.StatusOK:
		return nil, retryAfter(resp), fmt.Errorf("%w: %s: %s%s", ErrStatus, c.name, resp.Status, c.message(raw))
	case int64(len(raw)) == longestAnswer(n):
		return nil, -1, fmt.Errorf("%w: %s: more than %d bytes for %d texts", ErrResponse, c.name, len(raw)-1, n)
	}
	vectors, err = c.decode(raw, n)
	return vectors, -1, err
}

// longestAnswer allows 16,384 dimensions of 32 characters for each of n texts.
func longestAnswer(n int) int64 { return 1<<16 + int64(n)<<19 }

// unreached names what went wrong below HTTP. The error of net/http repeats the
// address, password and all, so only its cause is kept.
func (c *Client) unreached(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("%w: %s: within %v", ErrTimeout, c.name, c.opt.Timeout)
	}
	for wrapped := errors.Unwrap(err); wrapped != nil && strings.Contains(err.Error(), c.endpoint); wrapped = errors.Unwrap(err) {
		err = wrapped
	}
	return fmt.Errorf("%w: %s: %w", ErrConnection, c.name, err)
}

// retryAfter is how long to wait after a refusal, −1 if it is final.
func retryAfter(resp *http.Response) time.Duration {
	switch {
	case resp.StatusCode == http.StatusRequestTimeout, resp.StatusCode == http.StatusTooManyRequests, resp.StatusCode >= 500:
		seconds, err := strconv.Atoi(resp.Header.Get("Retry-After"))
		if err != nil || seconds < 0 {
			return 0
		}
		return time.Duration(min(seconds, int(longestWait/time.Second))) * time.Second
	}
	return -1
}

// message is what a refusal says, as one short line without the key.
func (c *Client) message(raw []byte) string {
	var refusal struct {
		Error json.RawMessage `json:"error"`
	}
	text := string(raw)
	if json.Unmarshal(raw, &refusal) == nil && refusal.Error != nil {
		var detail struct {
			Message string `json:"message"`
		}
		if json.Unmarshal(refusal.Error, &detail) == nil || json.Unmarshal(refusal.Error, &detail.Message) == nil {
			text = detail.Message
		}
	}
	if c.opt.Key != "" {
		text = strings.ReplaceAll(text, c.opt.Key, "…")
	}
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }), " ")
	if text == "" {
		return ""
	}
	const longest = 200
	if short := cut(text, longest); short != text {
		text = short + "…"
	}
	return ": " + text
}

// decode checks an answer and puts its vectors in the order of the texts.
func (c *Client) decode(raw []byte, n int) ([][]float32, error) {
	var a answer
	if err := json.Unmarshal(raw, &a); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrResponse, c.name, err)
	}
	if len(a.Data) != n {
		return nil, fmt.Errorf("%w: %s: %d vectors for %d texts", ErrResponse, c.name, len(a.Data), n)
	}
	vectors := make([][]float32, n)
	for i, item := range a.Data {
		at := i
		if item.Index != nil {
			at = *item.Index
		}
		if at < 0 || at >= n || vectors[at] != nil {
			return nil, fmt.Errorf("%w: %s: index %d twice or out of %d", ErrResponse, c.name, at, n)
		}
		if len(item.Vector) == 0 {
			return nil, fmt.Errorf("%w: %s: vector %d is empty", ErrResponse, c.name, at)
		}
		if !normalise(item.Vector) {
			return nil, fmt.Errorf("%w: %s: vector %d is all zeros", ErrResponse, c.name, at)
		}
		vectors[at] = item.Vector
	}
	for _, v := range vectors {
		if len(v) != len(vectors[0]) {
			return nil, fmt.Errorf("%w: %s gave %d and %d in one answer", ErrDimension, c.name, len(vectors[0]), len(v))
		}
	}
	return vectors, c.agree(len(vectors[0]))
}

// normalise scales v to unit length; JSON has no NaN and overflow is refused by
// its decoder, so that zeros are all that can be wrong with a vector.
func normalise(v []float32) bool {
	var square float64
	for _, x := range v {
		square += float64(x) * float64(x)
	}
	if square == 0 {
		return false
	}
	norm := math.Sqrt(square)
	for i, x := range v {
		v[i] = float32(float64(x) / norm)
	}
	return true
}
