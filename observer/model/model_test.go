package model_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/writbus/writ/observer/model"
)

var apis = []string{model.OpenAI, model.Anthropic}

var question = model.Request{Messages: []model.Message{model.Said(model.User, "why?")}}

// each runs a test against both APIs.
func each(t *testing.T, run func(t *testing.T, api string)) {
	for _, api := range apis {
		t.Run(api, func(t *testing.T) {
			t.Parallel()
			run(t, api)
		})
	}
}

func TestChatStreams(t *testing.T) {
	each(t, func(t *testing.T, api string) {
		pieces := []string{"one ", "ü€🟡", "\nthree"}
		s := script(t, byteByByte(events(api, pieces...)))
		var heard []string
		reply, err := s.client(t, api, nil).Chat(t.Context(), question, func(p string) error { heard = append(heard, p); return nil })
		want := model.Reply{Text: strings.Join(pieces, ""), Stop: model.StopEnd, Model: "m-1", Usage: model.Usage{Input: 7, Output: 3}, Tries: 1}
		if err != nil || reply != want {
			t.Errorf("%+v, %v", reply, err)
		}
		if !reflect.DeepEqual(heard, pieces) {
			t.Errorf("heard %q", heard)
		}
	})
}

func TestChatSends(t *testing.T) {
	half := 0.5
	request := model.Request{
		System: "be brief", MaxTokens: 9, Temperature: &half, Stop: []string{"END"}, Model: "other",
		Messages: []model.Message{
			model.Said(model.User, "a"), model.Said(model.Assistant, "b"),
			{Role: model.User, Parts: []model.Part{{Text: "c"}, {Image: &model.Image{MIME: "image/png", Data: []byte("png")}}}},
		},
	}
	for api, want := range map[string]struct{ path, header, body string }{
		model.OpenAI: {"/chat/completions", "Authorization=Bearer sk-secret", `map[max_tokens:9 messages:[map[content:be brief role:system] map[content:a role:user] map[content:b role:assistant] ` +
			`map[content:[map[text:c type:text] map[image_url:map[url:data:image/png;base64,cG5n] type:image_url]] role:user]] model:other stop:[END] stream:true stream_options:map[include_usage:true] temperature:0.5]`},
		model.Anthropic: {"/v1/messages", "X-Api-Key=sk-secret", `map[max_tokens:9 messages:[map[content:[map[text:a type:text]] role:user] map[content:[map[text:b type:text]] role:assistant] ` +
			`map[content:[map[text:c type:text] map[source:map[data:cG5n media_type:image/png type:base64] type:image]] role:user]] model:other stop_sequences:[END] stream:true system:[map[text:be brief type:text]] temperature:0.5]`},
	} {
		t.Run(api, func(t *testing.T) {
			s := script(t, says(events(api, "x")))
			if _, err := s.client(t, api, nil).Chat(t.Context(), request, nil); err != nil {
				t.Fatal(err)
			}
			got := s.calls()[0]
			name, value, _ := strings.Cut(want.header, "=")
			if got.path != want.path || got.header.Get(name) != value || fmt.Sprint(got.body) != want.body {
				t.Errorf("%s %q\n%v\nwant\n%s", got.path, got.header.Get(name), got.body, want.body)
			}
		})
	}
}

// A server without a key gets none, whatever the environment holds.
func TestNoKeyOfTheEnvironment(t *testing.T) {
	for _, name := range []string{"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"} {
		t.Setenv(name, "sk-foreign")
	}
	for _, name := range []string{"OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"} {
		t.Setenv(name, "http://127.0.0.1:1/")
	}
	for _, api := range apis {
		s := script(t, says(events(api, "x")))
		if _, err := s.client(t, api, func(c *model.Config) { c.Key = "" }).Chat(t.Context(), question, nil); err != nil {
			t.Fatal(err)
		}
		if h := fmt.Sprint(s.calls()[0].header); strings.Contains(h, "sk-") {
			t.Errorf("%s: %s", api, h)
		}
	}
}

func TestChatFails(t *testing.T) {
	quick := func(c *model.Config) { c.Stall = 30 * time.Millisecond }
	head := "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
	each(t, func(t *testing.T, api string) {
		whole := events(api, "a part ", "and the rest")
		part := whole[:strings.Index(whole, "and the")]
		for name, c := range map[string]struct {
			step   http.HandlerFunc
			change func(*model.Config)
			want   error
			tells  string
		}{
			"cut within an event":           {step: raw(head + "Content-Length: 9999\r\n\r\n" + part), want: model.ErrCut},
			"ends between events":           {step: says(part[:strings.LastIndex(part, "\n\n")+2]), want: model.ErrCut},
			"cut within a chunk":            {step: raw(head + "Transfer-Encoding: chunked\r\n\r\nfff\r\n" + part), want: model.ErrCut},
			"longer than it says":           {step: raw(head + "Content-Length: 40\r\n\r\n" + whole), want: model.ErrCut},
			"nothing at all":                {step: says(""), want: model.ErrCut},
			"no HTTP":                       {step: raw("hello\n"), want: model.ErrUnavailable},
			"hangs up":                      {step: raw(""), want: model.ErrUnavailable},
			"silence before the answer":     {step: func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, change: func(c *model.Config) { c.Timeout = 30 * time.Millisecond }, want: model.ErrTimeout},
			"silence within the answer":     {step: stalls(part), change: quick, want: model.ErrTimeout, tells: "nothing was heard"},
			"an endless answer":             {step: endless, change: func(c *model.Config) { c.MaxBytes = 10_000 }, want: model.ErrGarbage, tells: "more than 10000 bytes"},
			"one endless line":              {step: says("data: " + strings.Repeat("x", 50_000)), change: func(c *model.Config) { c.MaxBytes = 10_000 }, want: model.ErrGarbage},
			"no JSON in an event":           {step: says("event: message_start\ndata: {\"id\": oops\n\n"), want: model.ErrGarbage},
			"a web page":                    {step: says("<html><body>Sign in</body></html>\n\n"), want: model.ErrCut},
			"an object instead of a stream": {step: status(200, `{"choices":[{"message":{"content":"x"}}]}`), want: model.ErrGarbage},
			"an error within the stream":    {step: says(part[:strings.LastIndex(part, "\n\n")+2] + "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"too busy\"}}\n\n"), want: model.ErrUnavailable},
			"wrong key":                     {step: status(401, `{"error":{"type":"authentication_error","message":"no such key sk-secret"}}`), want: model.ErrUnauthorized, tells: "no such key [key]"},
			"refused":                       {step: status(400, `{"error":{"type":"invalid_request_error","message":"bad model"}}`), want: model.ErrRefused, tells: "bad model"},
			"too long":                      {step: status(400, `{"error":{"type":"invalid_request_error","code":"context_length_exceeded","message":"prompt is too long: 9 tokens"}}`), want: model.ErrTooLong},
			"limited":                       {step: status(429, `{"error":{"message":"slow down"}}`), want: model.ErrLimited, tells: "slow down"},
			"broken":                        {step: status(503, "<html>\x00 oops"), want: model.ErrUnavailable, tells: "503"},
			"redirected":                    {step: status(307, "", "Location", "http://127.0.0.1:1/"), want: model.ErrRefused, tells: "307"},
			"no content":                    {step: status(204, ""), want: model.ErrGarbage},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := script(t, c.step)
				client := s.client(t, api, c.change)
				reply, err := client.Chat(t.Context(), question, nil)
				if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.tells) {
					t.Errorf("%v, want %v: %q", err, c.want, c.tells)
				}
				if reply != (model.Reply{}) {
					t.Errorf("half an answer came back: %+v", reply)
				}
				if err != nil && (strings.Contains(err.Error(), "sk-secret") || strings.ContainsAny(err.Error(), "\n\x00")) {
					t.Errorf("the error tells too much: %q", err)
				}
			})
		}
	})
}

func endless(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	for r.Context().Err() == nil {
		if _, err := fmt.Fprint(w, ": again\n\n"); err != nil {
			return
		}
	}
}

func TestNobodyListens(t *testing.T) {
	s := script(t, says(""))
	nobody := func(c *model.Config) { c.BaseURL = "http://127.0.0.1:1" }
	if _, err := s.client(t, model.OpenAI, nobody).Chat(t.Context(), question, nil); !errors.Is(err, model.ErrUnavailable) {
		t.Error(err)
	}
}

func TestCallerGivesUp(t *testing.T) {
	each(t, func(t *testing.T, api string) {
		ctx, cancel := context.WithCancel(t.Context())
		s := script(t, stalls(events(api, "x")[:20]))
		client := s.client(t, api, func(c *model.Config) { c.BreakAfter = 1 })
		time.AfterFunc(5*time.Millisecond, cancel)
		if _, err := client.Chat(ctx, question, nil); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if state := client.State(); state.Breaker != "closed" || state.Last != "" {
			t.Errorf("%+v", state)
		}
		own := errors.New("enough")
		s2 := script(t, says(events(api, "x", "y")))
		if _, err := s2.client(t, api, nil).Chat(t.Context(), question, func(string) error { return own }); !errors.Is(err, own) {
			t.Error(err)
		}
	})
}

func TestRetries(t *testing.T) {
	each(t, func(t *testing.T, api string) {
		whole := events(api, "a part ", "and the rest")
		part := whole[:strings.Index(whole, "and the")]
		twice := func(c *model.Config) { c.Retries = 2 }
		s := script(t, status(500, ""), says(part), says(whole))
		reply, err := s.client(t, api, twice).Chat(t.Context(), question, nil)
		if err != nil || reply.Tries != 3 || reply.Text != "a part and the rest" {
			t.Errorf("%+v, %v", reply, err)
		}
		s = script(t, status(500, ""), says(part), says(whole))
		var heard []string
		_, err = s.client(t, api, twice).Chat(t.Context(), question, func(p string) error { heard = append(heard, p); return nil })
		if !errors.Is(err, model.ErrCut) || len(heard) != 1 || len(s.calls()) != 2 {
			t.Errorf("heard %q in %d calls: %v", heard, len(s.calls()), err)
		}
		s = script(t, status(400, ""), says(whole))
		if _, err := s.client(t, api, twice).Chat(t.Context(), question, nil); !errors.Is(err, model.ErrRefused) || len(s.calls()) != 1 {
			t.Errorf("%d calls: %v", len(s.calls()), err)
		}
		s = script(t, status(502, ""))
		if _, err := s.client(t, api, twice).Chat(t.Context(), question, nil); !errors.Is(err, model.ErrUnavailable) || len(s.calls()) != 3 {
			t.Errorf("%d calls: %v", len(s.calls()), err)
		}
	})
}

func TestKeyStaysSecret(t *testing.T) {
	elsewhere := script(t, says(""))
	each(t, func(t *testing.T, api string) {
		s := script(t, status(308, "", "Location", elsewhere.URL))
		if _, err := s.client(t, api, nil).Chat(t.Context(), question, nil); err == nil || strings.Contains(err.Error(), "sk-secret") {
			t.Error(err)
		}
		if len(elsewhere.calls()) > 0 {
			t.Error("the redirection was followed")
		}
	})
}

func TestBadRequestsAreNotSent(t *testing.T) {
	s := script(t, says(""))
	c := s.client(t, model.OpenAI, nil)
	image := func(mime string, data string) []model.Message {
		return []model.Message{{Role: model.User, Parts: []model.Part{{Image: &model.Image{MIME: mime, Data: []byte(data)}}}}}
	}
	for name, r := range map[string]model.Request{
		"nothing":          {},
		"assistant last":   {Messages: []model.Message{model.Said(model.User, "a"), model.Said(model.Assistant, "b")}},
		"unknown role":     {Messages: []model.Message{model.Said("system", "a"), model.Said(model.User, "b")}},
		"empty message":    {Messages: []model.Message{{Role: model.User}}},
		"empty part":       {Messages: []model.Message{model.Said(model.User, "")}},
		"negative bound":   {MaxTokens: -1, Messages: question.Messages},
		"image of a kind":  {Messages: image("image/tiff", "x")},
		"image of nothing": {Messages: image("image/png", "")},
	} {
		if _, err := c.Chat(t.Context(), r, nil); !errors.Is(err, model.ErrRequest) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(s.calls()) > 0 {
		t.Error("something was sent")
	}
}

func TestConfig(t *testing.T) {
	for name, c := range map[string]model.Config{
		"no API":          {Model: "m"},
		"no model":        {API: model.OpenAI},
		"no URL":          {API: model.OpenAI, Model: "m", BaseURL: "localhost:1"},
		"another scheme":  {API: model.OpenAI, Model: "m", BaseURL: "file:///x"},
		"with a query":    {API: model.OpenAI, Model: "m", BaseURL: "http://h/?a=b"},
		"key of lines":    {API: model.OpenAI, Model: "m", Key: "a\r\nb"},
		"negative bounds": {API: model.OpenAI, Model: "m", Timeout: -1},
	} {
		if _, err := model.New(c); !errors.Is(err, model.ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if c, err := model.New(model.Config{API: model.Anthropic, Model: "m"}); err != nil || c.Model() != "m" {
		t.Error(err)
	}
}
