package model

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// watch sees one try's response beneath the SDK, which tells less of it: the
// status, what the server asks to wait, silence, and how the body ends.
type watch struct {
	stall  time.Duration
	most   int64
	cancel context.CancelCauseFunc

	status     int
	stream     bool // the body is an event stream
	retryAfter time.Duration
	tooLarge   bool
	cut        bool // the body ended otherwise than the server had announced
	done       bool // "[DONE]" ends it
}

// middleware is given to the SDK.
func (w *watch) middleware(r *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	response, err := next(r)
	if err != nil || response == nil {
		return response, err
	}
	w.status = response.StatusCode
	if s, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil && s > 0 {
		w.retryAfter = min(time.Duration(s)*time.Second, maxRetryAfter)
	}
	w.stream = !strings.HasPrefix(strings.ToLower(response.Header.Get("Content-Type")), "application/json")
	if w.stream {
		response.Header.Set("Content-Type", eventStream)
	}
	body := &watchedBody{ReadCloser: response.Body, watch: w}
	body.timer = time.AfterFunc(w.stall, func() { w.cancel(errStalled) })
	response.Body = body
	return response, nil
}

type watchedBody struct {
	io.ReadCloser
	watch *watch
	timer *time.Timer
	read  int64
	tail  []byte
}

var doneMark = []byte("[DONE]")

func (b *watchedBody) Read(p []byte) (int, error) {
	w := b.watch
	n, err := b.ReadCloser.Read(p)
	b.timer.Reset(w.stall)
	if b.read += int64(n); b.read > w.most {
		w.tooLarge = true
		return 0, errTooLarge
	}
	b.tail = append(b.tail, p[:n]...)
	w.done = w.done || bytes.Contains(b.tail, doneMark)
	b.tail = append(b.tail[:0], b.tail[max(len(b.tail)-len(doneMark), 0):]...)
	if err != nil {
		b.timer.Stop()
		w.cut = w.cut || !errors.Is(err, io.EOF)
	}
	return n, err
}

var errTooLarge = errors.New("model: the answer is too large")

func (b *watchedBody) Close() error {
	b.timer.Stop()
	return b.ReadCloser.Close()
}
