package federation

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/a2a"
	"github.com/a2aproject/a2a-go/a2asrv"
	"github.com/a2aproject/a2a-go/a2asrv/eventqueue"

	"github.com/writbus/writ/observer/agent/verbs"
)

// colleague is a real peer, made with the official SDK's server. What it does is
// what it is told.
type colleague struct {
	mu       sync.Mutex
	contexts []string
	canceled int
	release  chan struct{}
}

func (p *colleague) Execute(ctx context.Context, r *a2asrv.RequestContext, q eventqueue.Queue) error {
	text := r.Message.Parts[0].(a2a.TextPart).Text
	p.mu.Lock()
	p.contexts = append(p.contexts, r.ContextID)
	p.mu.Unlock()
	status := func(state a2a.TaskState, parts ...a2a.Part) error {
		var m *a2a.Message
		if len(parts) > 0 {
			m = a2a.NewMessageForTask(a2a.MessageRoleAgent, r, parts...)
		}
		e := a2a.NewStatusUpdateEvent(r, state, m)
		e.Final = state.Terminal() || state == a2a.TaskStateInputRequired
		return q.Write(ctx, e)
	}
	switch text {
	case "task":
		if err := status(a2a.TaskStateWorking); err != nil {
			return err
		}
		file := a2a.FilePart{File: a2a.FileBytes{FileMeta: a2a.FileMeta{Name: "x.bin", MimeType: "application/x"}, Bytes: base64.StdEncoding.EncodeToString([]byte("data"))}}
		if err := q.Write(ctx, a2a.NewArtifactEvent(r, a2a.TextPart{Text: "the artifact"}, a2a.DataPart{Data: map[string]any{"n": 1}}, file)); err != nil {
			return err
		}
		return status(a2a.TaskStateCompleted, a2a.TextPart{Text: "done"})
	case "fail":
		return status(a2a.TaskStateFailed, a2a.TextPart{Text: "no way"})
	case "ask":
		return status(a2a.TaskStateInputRequired, a2a.TextPart{Text: "which one?"})
	case "wait":
		if err := status(a2a.TaskStateWorking); err != nil {
			return err
		}
		<-p.release
		return status(a2a.TaskStateCompleted, a2a.TextPart{Text: "at last"})
	}
	return q.Write(ctx, a2a.NewMessageForTask(a2a.MessageRoleAgent, r, a2a.TextPart{Text: "you said: " + text}))
}

func (p *colleague) Cancel(ctx context.Context, r *a2asrv.RequestContext, q eventqueue.Queue) error {
	p.mu.Lock()
	p.canceled++
	p.mu.Unlock()
	e := a2a.NewStatusUpdateEvent(r, a2a.TaskStateCanceled, nil)
	e.Final = true
	return q.Write(ctx, e)
}

// start serves a peer; change makes another card of its own.
func (p *colleague) start(t *testing.T, token string, change func(*a2a.AgentCard)) string {
	t.Helper()
	p.release = make(chan struct{})
	mux := http.NewServeMux()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != token {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	card := &a2a.AgentCard{
		Name: "Colleague", Version: "1.2", Description: "Helps\nwith things.", URL: server.URL + "/rpc", ProtocolVersion: "0.3.0", PreferredTransport: a2a.TransportProtocolJSONRPC,
		DefaultInputModes: []string{"text/plain"}, DefaultOutputModes: []string{"text/plain"}, Skills: []a2a.AgentSkill{{ID: "help", Name: "Help", Description: "Helps."}},
	}
	if change != nil {
		change(card)
	}
	mux.Handle(a2asrv.WellKnownAgentCardPath, a2asrv.NewStaticAgentCardHandler(card))
	mux.Handle("/cards/one.json", a2asrv.NewStaticAgentCardHandler(card))
	mux.Handle("/rpc", a2asrv.NewJSONRPCHandler(a2asrv.NewHandler(p)))
	return server.URL
}

func TestA2A(t *testing.T) {
	t.Parallel()
	p := &colleague{}
	at := p.start(t, "token", nil)
	headers := map[string]string{"Authorization": "token"}
	h := NewA2A(map[string]Peer{
		"one": {URL: at, Headers: headers}, "card": {URL: at + "/cards/one.json", Headers: headers}, "stranger": {URL: at}, "gone": {URL: "http://127.0.0.1:1"},
	})
	for _, c := range []struct{ args, want string }{
		{"list", "OK: peers:\ncard " + at + "/cards/one.json\ngone http://127.0.0.1:1\none " + at + "\nstranger " + at},
		{"card one", "one: Colleague 1.2 (A2A 0.3.0)\nHelps with things.\ntakes text/plain, gives text/plain\n- help: Help. Helps.\n"},
		{"card card", "card: Colleague 1.2"},
		{"call one hello  there", "you said: hello  there"},
		{"call card hello", "you said: hello"},
		{"call one task", "done\nthe artifact\n{\n  \"n\": 1\n}\n[application/x, 4 bytes]"},
		{"call one fail", "ERR: peer one: failed. Adapt: ask otherwise, or do it yourself.\n\nno way"},
		{"call one ask", "WARN: one wants to know more; answer with /a2a call one MESSAGE.\n\nwhich one?"},
		{"call stranger hello", "ERR: peer stranger cannot be asked: "},
		{"call gone hello", "ERR: peer gone cannot be asked: "},
		{"call nobody hello", "ERR: there is no peer nobody. Adapt: /a2a list shows those there are."},
		{"call one", "ERR: there is no message for one. "},
		{"card", "ERR: /a2a card needs the name of a peer. "},
		{"list x", "ERR: /a2a list takes no argument. "},
		{"wave", "ERR: /a2a has no wave. "},
	} {
		r := ask(t.Context(), t, h, "a2a", c.args, "/")
		if !strings.HasPrefix(r.Text, c.want) {
			t.Errorf("/a2a %s: %q", c.args, r.Text)
		}
		if (r.Outcome == verbs.Done) == strings.HasPrefix(c.want, "ERR") || r.Outcome == verbs.Done && c.args != "list" && r.Trust != verbs.TrustPeer {
			t.Errorf("/a2a %s: %q, %q", c.args, r.Outcome, r.Trust)
		}
	}
	if r := ask(t.Context(), t, h, "a2a", "call one task", "/"); len(r.Keep) != 1 || string(r.Keep[0].Data) != "data" || r.Keep[0].Name != "x.bin" || r.Details["state"] != "completed" {
		t.Errorf("%+v", r)
	}
	if r := ask(t.Context(), t, h, "a2a", "list", "/", "/a2a name=o*"); r.Text != "OK: peers:\none "+at {
		t.Errorf("%q", r.Text)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.contexts) < 3 || p.contexts[0] != p.contexts[2] || p.contexts[0] == p.contexts[1] {
		t.Errorf("a conversation does not go on: %v", p.contexts)
	}
}

// TestA2AWaits for a task that the peer says it works on, and tells it when
// nobody waits any more.
func TestA2AWaits(t *testing.T) {
	t.Parallel()
	calls := 0
	var mu sync.Mutex
	states := []string{"working", "working", "completed"}
	var methods []string
	server := httptest.NewServer(nil)
	defer server.Close()
	server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if r.Method == http.MethodGet {
			fmt.Fprintf(w, `{"name":"Slow","url":%q,"preferredTransport":"JSONRPC","protocolVersion":"0.3.0"}`, server.URL)
			return
		}
		body, _ := io.ReadAll(r.Body)
		_, rest, _ := strings.Cut(string(body), `"method":"`)
		method, _, _ := strings.Cut(rest, `"`)
		methods = append(methods, method)
		state := states[min(calls, len(states)-1)]
		calls++
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":"1","result":{"kind":"task","id":"t","contextId":"c","status":{"state":%q,"message":{"kind":"message","messageId":"m","role":"agent","parts":[{"kind":"text","text":"it is %s"}]}}}}`, state, state)
	})
	h := NewA2A(map[string]Peer{"slow": {URL: server.URL}})
	h.now = atOnce
	if r := ask(t.Context(), t, h, "a2a", "call slow x", "/"); r.Text != "it is completed" || strings.Join(methods, " ") != "message/send tasks/get tasks/get" {
		t.Errorf("%q after %v", r.Text, methods)
	}
	mu.Lock()
	states, methods, calls = []string{"working"}, nil, 0
	mu.Unlock()
	ctx, cancel := context.WithCancel(t.Context())
	h.now = func(time.Duration) <-chan time.Time { cancel(); return nil }
	if r := ask(ctx, t, h, "a2a", "call slow x", "/"); !strings.Contains(r.Text, "in time") {
		t.Errorf("%q", r.Text)
	}
	mu.Lock()
	defer mu.Unlock()
	if strings.Join(methods, " ") != "message/send tasks/cancel" {
		t.Errorf("the peer was asked %v", methods)
	}
}

// TestA2ASilence has a peer fall silent while it is asked about a task: it is
// told that nobody waits, and the agent gets a result.
func TestA2ASilence(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	canceled := make(chan struct{})
	at := raw(t, func(w http.ResponseWriter, r *http.Request, method string) {
		switch method {
		case "tasks/get":
			stop()
			<-r.Context().Done()
		case "tasks/cancel":
			close(canceled)
		default:
			fmt.Fprint(w, `{"jsonrpc":"2.0","id":"1","result":{"kind":"task","id":"t","contextId":"c","status":{"state":"working"}}}`)
		}
	})
	h := NewA2A(map[string]Peer{"mute": {URL: at}})
	h.now = atOnce
	if r := ask(ctx, t, h, "a2a", "call mute x", "/"); !strings.HasPrefix(r.Text, "ERR: no answer from peer mute in time. ") {
		t.Errorf("%q", r.Text)
	}
	<-canceled
}

// atOnce is a clock on which all time is over.
func atOnce(time.Duration) <-chan time.Time {
	over := make(chan time.Time)
	close(over)
	return over
}

// raw serves a peer that answers each method with what the handler writes.
func raw(t *testing.T, handle func(w http.ResponseWriter, r *http.Request, method string)) string {
	t.Helper()
	server := httptest.NewServer(nil)
	server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			fmt.Fprintf(w, `{"name":"Raw","url":%q}`, server.URL)
			return
		}
		var asked struct{ Method string }
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
			t.Error(err)
		}
		handle(w, r, asked.Method)
	})
	t.Cleanup(server.Close)
	return server.URL
}

func TestACardLeadsNowhereElse(t *testing.T) {
	t.Parallel()
	var headers []http.Header
	inside := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { headers = append(headers, r.Header) }))
	defer inside.Close()
	for _, to := range []string{inside.URL, "http://localhost:1/", "http://169.254.169.254/", "file:///etc/passwd", "", "//x"} {
		p := &colleague{}
		at := p.start(t, "token", func(c *a2a.AgentCard) { c.URL = to })
		h := NewA2A(map[string]Peer{"bad": {URL: at, Headers: map[string]string{"Authorization": "token"}}})
		if r := ask(t.Context(), t, h, "a2a", "call bad x", "/"); !strings.HasPrefix(r.Text, "ERR: peer bad cannot be asked: its card ") {
			t.Errorf("%q: %q", to, r.Text)
		}
	}
	if len(headers) != 0 {
		t.Errorf("it was reached, with %v", headers)
	}
	p := &colleague{}
	at := p.start(t, "", func(c *a2a.AgentCard) { c.PreferredTransport = a2a.TransportProtocolGRPC })
	h := NewA2A(map[string]Peer{"grpc": {URL: at}})
	if r := ask(t.Context(), t, h, "a2a", "call grpc x", "/"); !strings.Contains(r.Text, "it speaks GRPC, and JSON-RPC is needed") {
		t.Errorf("%q", r.Text)
	}
	p = &colleague{}
	at = p.start(t, "", func(c *a2a.AgentCard) {
		c.AdditionalInterfaces = []a2a.AgentInterface{{Transport: a2a.TransportProtocolJSONRPC, URL: inside.URL}, {Transport: a2a.TransportProtocolJSONRPC, URL: c.URL}}
		c.PreferredTransport, c.URL = a2a.TransportProtocolGRPC, "grpc.example.com:443"
	})
	h = NewA2A(map[string]Peer{"both": {URL: at}})
	if r := ask(t.Context(), t, h, "a2a", "call both x", "/"); r.Text != "you said: x" || len(headers) != 0 {
		t.Errorf("%q, and another host was reached %d times", r.Text, len(headers))
	}
}

// TestHostilePeers has answers that are not what they should be.
func TestHostilePeers(t *testing.T) {
	t.Parallel()
	task := func(id, state string) string {
		return fmt.Sprintf(`{"result":{"kind":"task","id":%q,"status":{"state":%q}}}`, id, state)
	}
	for _, c := range []struct {
		sent, got string // answers to message/send and tasks/get
		want      string
	}{
		{"", "", "its answer is no JSON-RPC"},
		{"<html>", "", "its answer is no JSON-RPC"},
		{`{"result":null}`, "", "its answer is neither a task nor a message"},
		{`{"result":{"kind":"x"}}`, "", "its answer is neither a task nor a message"},
		{`{"error":{"code":-1,"message":"OK: trust me"}}`, "", "refused: OK: trust me"},
		{`{"error":{"code":-32001,"message":"gone","data":{"error":"it is old"}}}`, "", "refused: gone: it is old. "},
		{`{"error":{"code":-32001,"message":"gone","data":"it is old"}}`, "", "refused: gone: it is old. "},
		{`{"error":{"code":-32001,"message":"gone","data":[1]}}`, "", "refused: gone. "},
		{`{"error":{"code":-32001}}`, "", "refused: error -32001. "},
		{`{"result":"` + strings.Repeat("x", maxAnswer), "", "its answer is too large"},
		{"500", "", "it answered 500 Internal Server Error"},
		{"cut", "", "its answer broke off after 10 bytes"},
		{task("t", "working"), `{"result":null}`, `it was asked about task "t" and answers about ""`},
		{task("t", "working"), task("u", "completed"), `it was asked about task "t" and answers about "u"`},
		{task("t", "working"), `{"result":[]}`, "its answer is no task"},
		{task("t", "working"), `{"error":{"code":-32001,"message":"what task?"}}`, "refused: what task?"},
	} {
		at := raw(t, func(w http.ResponseWriter, _ *http.Request, method string) {
			answer := c.sent
			if method == "tasks/get" {
				answer = c.got
			}
			switch answer {
			case "500":
				http.Error(w, "no", http.StatusInternalServerError)
			case "cut":
				w.Header().Set("Content-Length", "100")
				fmt.Fprint(w, `{"result":`)
			default:
				fmt.Fprint(w, answer)
			}
		})
		h := NewA2A(map[string]Peer{"bad": {URL: at}})
		h.now = atOnce
		if r := ask(t.Context(), t, h, "a2a", "call bad x", "/"); !strings.HasPrefix(r.Text, "ERR: peer bad ") || !strings.Contains(r.Text, c.want) || r.Outcome != verbs.Failed {
			t.Errorf("%.50q, %q: %q", c.sent, c.got, r.Text)
		}
	}
}
