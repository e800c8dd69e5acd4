package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"
)

// script is a server that answers one request after the other as told, the last
// way for all that follow.
type script struct {
	t     *testing.T
	mu    sync.Mutex
	steps []http.HandlerFunc
	seen  []request
	heads []http.Header
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var ask request
	if err := json.NewDecoder(r.Body).Decode(&ask); err != nil || r.URL.Path != "/v1/embeddings" || r.Method != http.MethodPost {
		s.t.Errorf("%s %s: %v", r.Method, r.URL, err)
	}
	s.mu.Lock()
	step := s.steps[min(len(s.seen), len(s.steps)-1)]
	s.seen, s.heads = append(s.seen, ask), append(s.heads, r.Header)
	s.mu.Unlock()
	r.Body = io.NopCloser(strings.NewReader(strings.Join(ask.Input, "\x00")))
	step(w, r)
}

func (s *script) requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.seen)
}

// vectors answers each text with (its length, 1, 0…), in reverse order.
func vectors(dim int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		var items []string
		for i, text := range strings.Split(string(raw), "\x00") {
			v := make([]float32, dim)
			v[0], v[1] = float32(len(text)), 1
			vector, _ := json.Marshal(v)
			items = append([]string{fmt.Sprintf(`{"object":"embedding","index":%d,"embedding":%s}`, i, vector)}, items...)
		}
		fmt.Fprintf(w, `{"object":"list","data":[%s],"model":"m","usage":{"prompt_tokens":1}}`, strings.Join(items, ","))
	}
}

func says(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

// stall answers only when the client has gone.
func stall(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// half sends a part and then stalls.
func half(w http.ResponseWriter, r *http.Request) {
	io.WriteString(w, `{"data":[{"index":0,"embed`)
	w.(http.Flusher).Flush()
	stall(w, r)
}

func drop(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// clock replaces time: Wait advances it.
type clock struct {
	mu    sync.Mutex
	now   time.Time
	waits []time.Duration
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Wait(ctx context.Context, d time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now, c.waits = c.now.Add(d), append(c.waits, d)
	return ctx.Err() == nil
}

func start(t *testing.T, opt Options, steps ...http.HandlerFunc) (*Client, *script, *clock) {
	t.Helper()
	s, k := &script{t: t, steps: steps}, &clock{now: time.Unix(1e9, 0)}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	opt.URL, opt.Model, opt.Now, opt.Wait = server.URL+"/v1/", "m", k.Now, k.Wait
	c, err := New(opt)
	if err != nil {
		t.Fatal(err)
	}
	return c, s, k
}

func TestBatchesKeepTheirOrder(t *testing.T) {
	c, s, _ := start(t, Options{Batch: 2, Key: "secret", Dim: 4}, vectors(4))
	texts := []string{"a", "", "bbb", " \n", "ccccc", "d"}
	got, err := c.EmbedBatch(context.Background(), texts)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range texts {
		n := math.Hypot(float64(len(text)), 1)
		want := []float32{float32(float64(len(text)) / n), float32(1 / n), 0, 0}
		if strings.TrimSpace(text) == "" {
			want = make([]float32, 4)
		}
		if fmt.Sprint(got[i]) != fmt.Sprint(want) {
			t.Errorf("%q: %v, want %v", text, got[i], want)
		}
	}
	if s.requests() != 2 || len(s.seen[0].Input) != 2 || s.seen[1].Input[0] != "ccccc" || s.seen[0].Model != "m" ||
		s.seen[0].Format != "float" || s.heads[0].Get("Authorization") != "Bearer secret" {
		t.Errorf("requests %+v with %v", s.seen, s.heads)
	}
	if !strings.HasPrefix(c.Name(), "http:m@127.0.0.1:") || !strings.HasSuffix(c.Name(), "/4") || strings.Contains(c.Name(), "secret") {
		t.Errorf("name %q", c.Name())
	}
}

// Each way to fail is named, and tried again only if another attempt may help.
func TestFailuresAreNamed(t *testing.T) {
	long := strings.Repeat("x", 5000)
	for name, c := range map[string]struct {
		step     http.HandlerFunc
		want     error
		word     string
		requests int
	}{
		"stalls":           {stall, ErrTimeout, "within 50ms", 3},
		"stalls half-way":  {half, ErrTimeout, "within 50ms", 3},
		"drops":            {drop, ErrConnection, "EOF", 3},
		"500":              {says(500, `{"error":{"message":"out of\nmemory"}}`), ErrStatus, "500 Internal Server Error: out of memory (attempt 3 of 3)", 3},
		"429":              {says(429, `{"error":"slow down"}`), ErrStatus, "slow down", 3},
		"408":              {says(408, ""), ErrStatus, "408 Request Timeout (", 3},
		"401 with the key": {says(401, `{"error":{"message":"bad key sk-123"}}`), ErrStatus, "401 Unauthorized: bad key …", 1},
		"404 page":         {says(404, "<html>\x1b[31m"+long), ErrStatus, "404 Not Found: <html>", 1},
		"redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		}, ErrStatus, "307", 1},
		"garbage":      {says(200, "hello"), ErrResponse, "invalid character", 1},
		"nothing":      {says(200, ""), ErrResponse, "", 1},
		"other JSON":   {says(200, `{"ok":true}`), ErrResponse, "0 vectors for 1 texts", 1},
		"too many":     {says(200, `{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1]}]}`), ErrResponse, "2 vectors", 1},
		"wrong index":  {says(200, `{"data":[{"index":1,"embedding":[1,2]}]}`), ErrResponse, "index 1", 1},
		"empty vector": {says(200, `{"data":[{"index":0,"embedding":[]}]}`), ErrResponse, "empty", 1},
		"zeros":        {says(200, `{"data":[{"index":0,"embedding":[0,0]}]}`), ErrResponse, "zeros", 1},
		"overflow":     {says(200, `{"data":[{"index":0,"embedding":[1e99,0]}]}`), ErrResponse, "1e99", 1},
		"NaN":          {says(200, `{"data":[{"index":0,"embedding":[NaN,0]}]}`), ErrResponse, "invalid character", 1},
		"base64":       {says(200, `{"data":[{"index":0,"embedding":"AACAPw=="}]}`), ErrResponse, "string", 1},
		"dimensions":   {vectors(3), ErrDimension, "gave 3, wanted 2", 1},
		"endless":      {endless, ErrResponse, "more than", 1},
	} {
		t.Run(name, func(t *testing.T) {
			timeout := time.Minute
			if errors.Is(c.want, ErrTimeout) {
				timeout = 50 * time.Millisecond
			}
			client, s, k := start(t, Options{Timeout: timeout, Dim: 2, Key: "sk-123"}, c.step)
			v, err := client.Embed("text")
			if v != nil || !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.word) {
				t.Fatalf("%v, %v; want %v with %q", v, err, c.want, c.word)
			}
			if message := err.Error(); strings.Contains(message, "sk-123") || strings.ContainsAny(message, "\n\x1b") || len(message) > 500 {
				t.Errorf("unfit for people: %q", message)
			}
			asked := s.requests()
			if errors.Is(c.want, ErrTimeout) && asked < c.requests {
				asked = c.requests // a slow server never came to read the others
			}
			if asked != c.requests || len(k.waits) != c.requests-1 {
				t.Errorf("%d requests, %v waited; want %d requests", s.requests(), k.waits, c.requests)
			}
		})
	}
}

func endless(w http.ResponseWriter, _ *http.Request) {
	io.WriteString(w, `{"data":[`)
	for block := strings.Repeat(" ", 1<<16); ; {
		if _, err := io.WriteString(w, block); err != nil {
			return
		}
	}
}

func TestAnAttemptThatSucceedsHealsTheCall(t *testing.T) {
	later := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(503)
	}
	forever := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "99999")
		w.WriteHeader(429)
	}
	c, s, k := start(t, Options{Attempts: 5}, drop, later, says(500, ""), forever, vectors(2))
	if v, err := c.Embed("text"); err != nil || len(v) != 2 || c.Dim() != 2 {
		t.Fatalf("%v, %v", v, err)
	}
	if want := []time.Duration{DefaultBackoff, 7 * time.Second, 4 * DefaultBackoff, longestWait}; fmt.Sprint(k.waits) != fmt.Sprint(want) || s.requests() != 5 {
		t.Errorf("waited %v, want %v", k.waits, want)
	}
}

func TestAfterAFailureCallsFailAtOnceForAWhile(t *testing.T) {
	c, s, k := start(t, Options{Attempts: 1, Cooldown: time.Minute}, says(500, "broken"), vectors(2))
	if _, err := c.Embed("a"); !errors.Is(err, ErrStatus) || errors.Is(err, ErrCooling) {
		t.Fatal(err)
	}
	_, err := c.Embed("b")
	if !errors.Is(err, ErrCooling) || !errors.Is(err, ErrStatus) || !strings.Contains(err.Error(), "again in 1m0s") || s.requests() != 1 {
		t.Fatalf("%v after %d requests", err, s.requests())
	}
	k.Wait(context.Background(), time.Minute)
	if v, err := c.Embed("c"); err != nil || len(v) != 2 {
		t.Fatalf("%v, %v", v, err)
	}
	c, s, _ = start(t, Options{Attempts: 1, Cooldown: -1}, says(500, ""))
	c.Embed("a")
	c.Embed("b")
	if s.requests() != 2 {
		t.Errorf("%d requests without a cooldown", s.requests())
	}
}

func TestACallersEndIsNotTheEndpointsFailure(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	c, _, _ := start(t, Options{Timeout: time.Minute}, func(w http.ResponseWriter, r *http.Request) { cancel(); stall(w, r) }, vectors(2))
	if _, err := c.EmbedBatch(ctx, []string{"a"}); !errors.Is(err, context.Canceled) || errors.Is(err, ErrConnection) {
		t.Fatal(err)
	}
	if _, err := c.Embed("b"); err != nil {
		t.Errorf("the next call: %v", err)
	}
}

func TestDimensionsAreLearnedOnce(t *testing.T) {
	c, _, _ := start(t, Options{Cooldown: -1}, vectors(3), vectors(2), says(200, `{"data":[{"embedding":[1,2,3]},{"embedding":[1,2]}]}`))
	if _, err := c.Embed(" "); !errors.Is(err, ErrDimension) {
		t.Errorf("a blank text before any other: %v", err)
	}
	if v, err := c.Embed("a"); err != nil || len(v) != 3 {
		t.Fatal(v, err)
	}
	if v, err := c.Embed(""); err != nil || fmt.Sprint(v) != "[0 0 0]" {
		t.Error(v, err)
	}
	if _, err := c.Embed("a"); !errors.Is(err, ErrDimension) {
		t.Error(err)
	}
	if _, err := c.EmbedBatch(context.Background(), []string{"a", "b"}); !errors.Is(err, ErrDimension) {
		t.Error(err)
	}
}

func TestLongTextsAreCut(t *testing.T) {
	c, s, _ := start(t, Options{MaxText: 5}, vectors(2))
	if _, err := c.Embed("aéééé\xff"); err != nil {
		t.Fatal(err)
	}
	if got := s.seen[0].Input[0]; got != "aéé" || !utf8.ValidString(got) {
		t.Errorf("sent %q", got)
	}
}

func TestNobodyThere(t *testing.T) {
	k := &clock{}
	c, err := New(Options{URL: "http://user:hunter2@127.0.0.1:1", Model: "m", Now: k.Now, Wait: k.Wait})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Embed("a")
	if !errors.Is(err, ErrConnection) || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "refused") {
		t.Error(err)
	}
}

func TestOptions(t *testing.T) {
	for _, opt := range []Options{
		{},
		{URL: "http://h"},
		{Model: "m"},
		{URL: "ftp://h", Model: "m"},
		{URL: "h/v1", Model: "m"},
		{URL: "http://a b:hunter2@c", Model: "m"},
		{URL: "http:///v1", Model: "m"},
		{URL: "http://h", Model: "m", Dim: -1},
		{URL: "http://h", Model: "m", Attempts: -1},
		{URL: "http://h", Model: "m", Timeout: -1},
	} {
		if _, err := New(opt); !errors.Is(err, ErrOptions) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%+v: %v", opt, err)
		}
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":[3,-4e-3]}]}`))
	f.Add([]byte(`{"data":[{"embedding":[1e38,1e38]},{"embedding":[1e-45,0]}]}`))
	f.Add([]byte(`{"error":{"message":"x"}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		c, err := New(Options{URL: "http://h", Model: "m", Key: "k"})
		if err != nil {
			t.Fatal(err)
		}
		c.message(raw)
		got, err := c.decode(raw, 2)
		if err != nil {
			return
		}
		for _, v := range got {
			var square float64
			for _, x := range v {
				square += float64(x) * float64(x)
			}
			if len(v) != c.Dim() || math.Abs(square-1) > 1e-5 {
				t.Fatalf("%s: %v", raw, got)
			}
		}
	})
}
