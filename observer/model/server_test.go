package model_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/writbus/writ/observer/model"
)

// scripted is a server that answers one call after another as its script says,
// the last step again and again, and keeps what it was asked.
type scripted struct {
	*httptest.Server
	mu    sync.Mutex
	steps []http.HandlerFunc
	asked []asked
}

// asked is a request as it came.
type asked struct {
	path   string
	header http.Header
	body   map[string]any
}

func script(t *testing.T, steps ...http.HandlerFunc) *scripted {
	t.Helper()
	s := &scripted{steps: steps}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		body := map[string]any{}
		_ = json.Unmarshal(raw, &body)
		s.mu.Lock()
		s.asked = append(s.asked, asked{r.URL.Path, r.Header.Clone(), body})
		step := s.steps[min(len(s.asked), len(s.steps))-1]
		s.mu.Unlock()
		step(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *scripted) calls() []asked {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

// client asks the server, patiently enough for a slow machine where the test
// is not about patience.
func (s *scripted) client(t *testing.T, api string, change func(*model.Config)) *model.Client {
	t.Helper()
	config := model.Config{API: api, BaseURL: s.URL, Model: "m", Key: "sk-secret", Retries: -1, RetryWait: time.Millisecond}
	if change != nil {
		change(&config)
	}
	c, err := model.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// events is a whole stream of an API that says the pieces.
func events(api string, pieces ...string) string {
	var b strings.Builder
	if api == model.OpenAI {
		for _, p := range pieces {
			fmt.Fprintf(&b, "data: {\"id\":\"1\",\"model\":\"m-1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":%s}}]}\n\n", quoted(p))
		}
		b.WriteString(": keep-alive\n\ndata: {\"id\":\"1\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n")
		b.WriteString("data: {\"id\":\"1\",\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":3,\"total_tokens\":10}}\n\ndata: [DONE]\n\n")
		return b.String()
	}
	b.WriteString("event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"1\",\"model\":\"m-1\",\"usage\":{\"input_tokens\":7,\"output_tokens\":1}}}\n\n")
	b.WriteString("event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\nevent: ping\ndata: {\"type\":\"ping\"}\n\n")
	for _, p := range pieces {
		fmt.Fprintf(&b, "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":%s}}\n\n", quoted(p))
	}
	b.WriteString("event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n")
	b.WriteString("event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":3}}\n\n")
	b.WriteString("event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n")
	return b.String()
}

func quoted(s string) string {
	raw, _ := json.Marshal(s)
	return string(raw)
}

func says(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, text)
	}
}

// byteByByte sends each byte on its own.
func byteByByte(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range len(text) {
			_, _ = io.WriteString(w, text[i:i+1])
			w.(http.Flusher).Flush()
		}
	}
}

// stalls says something and then nothing until the client is gone.
func stalls(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, text)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
}

// raw writes bytes to the connection, whatever HTTP says, and cuts it.
func raw(bytes string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		_, _ = io.WriteString(conn, bytes)
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.CloseWrite()
		}
		_ = conn.Close()
	}
}

func status(code int, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}
