package model_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/writbus/writ/observer/model"
)

// wire is a transport without a network, so that time can be simulated.
type wire func(*http.Request) (*http.Response, error)

func (w wire) RoundTrip(r *http.Request) (*http.Response, error) { return w(r) }

func answer(code int, header, body string) *http.Response {
	h := http.Header{"Content-Type": {"text/event-stream"}}
	if name, value, ok := strings.Cut(header, "="); ok {
		h.Set(name, value)
	}
	return &http.Response{StatusCode: code, Header: h, Body: io.NopCloser(strings.NewReader(body))}
}

func TestBreaker(t *testing.T) {
	for _, api := range apis {
		synctest.Test(t, func(t *testing.T) {
			calls, code := 0, 500
			c, err := model.New(model.Config{
				API: api, BaseURL: "http://model", Model: "m", Retries: -1, BreakAfter: 3, BreakFor: time.Minute,
				Transport: wire(func(*http.Request) (*http.Response, error) {
					calls++
					return answer(code, "", events(api, "x")), nil
				}),
			})
			if err != nil {
				t.Fatal(err)
			}
			ask := func(want error, made int, breaker string) {
				t.Helper()
				before := calls
				_, err := c.Chat(t.Context(), question, nil)
				if !errors.Is(err, want) || calls-before != made || c.State().Breaker != breaker {
					t.Fatalf("%v in %d calls, then %+v", err, calls-before, c.State())
				}
			}
			code = 400
			for range 5 {
				ask(model.ErrRefused, 1, "closed") // no failure of the server
			}
			code = 500
			ask(model.ErrUnavailable, 1, "closed")
			ask(model.ErrUnavailable, 1, "closed")
			ask(model.ErrUnavailable, 1, "open")
			ask(model.ErrOpen, 0, "open")
			if s := c.State(); !strings.Contains(s.Last, "500") {
				t.Errorf("%+v", s)
			}
			time.Sleep(time.Minute + time.Second)
			ask(model.ErrUnavailable, 1, "open")
			ask(model.ErrOpen, 0, "open")
			time.Sleep(time.Minute + time.Second)
			code = 200
			ask(nil, 1, "closed")
			if s := c.State(); s.Last != "" || s.Failures != 0 {
				t.Errorf("%+v", s)
			}
		})
	}
}

// Waits double, and a server that says how long to wait is believed, within
// bounds; the call's own bound is kept.
func TestWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var at []time.Duration
		begin := time.Now()
		headers := []string{"", "", "Retry-After=7", "Retry-After=9999", ""}
		c, err := model.New(model.Config{
			API: model.OpenAI, BaseURL: "http://model", Model: "m", Retries: 4, RetryWait: time.Second,
			Transport: wire(func(*http.Request) (*http.Response, error) {
				at = append(at, time.Since(begin))
				if len(at) > len(headers) {
					return answer(200, "", events(model.OpenAI, "x")), nil
				}
				return answer(429, headers[len(at)-1], "{}"), nil
			}),
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Chat(t.Context(), question, nil); !errors.Is(err, model.ErrLimited) {
			t.Fatal(err)
		}
		want := []time.Duration{0, time.Second, 3 * time.Second, 10 * time.Second, 40 * time.Second}
		for i := range want {
			if i >= len(at) || at[i] != want[i] {
				t.Fatalf("called at %v, want %v", at, want)
			}
		}
	})
}
