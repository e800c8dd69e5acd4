package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/schemas"
)

// offered are the only services that tools may ask.
var offered = []string{
	schemas.SvcRetrieve, schemas.SvcRecall, schemas.SvcSessions, schemas.SvcSession,
	schemas.SvcAdvance, schemas.SvcRulePropose, schemas.SvcStatus, schemas.SvcAlwaysOn, schemas.SvcRule,
}

// daemon answers from a table, by subject: a string is the reply, an error the
// failure.
type daemon struct {
	mu      sync.Mutex
	replies map[string]any
	asked   []bus.Request
}

func (d *daemon) Close() {}

func (d *daemon) Request(_ context.Context, r bus.Request) (bus.Reply, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked = append(d.asked, r)
	switch reply := d.replies[r.Subject].(type) {
	case string:
		return bus.Reply{Body: []byte(reply)}, nil
	case error:
		return bus.Reply{}, reply
	}
	return bus.Reply{}, fmt.Errorf("request %s: %w", r.Subject, bus.ErrUnavailable)
}

func (d *daemon) options() Options {
	return Options{Dial: func(context.Context) (Service, error) { return d, nil }, NotRunning: func(error) bool { return false }, Project: "/p", Version: "1.2.3"}
}

// talk connects a client to a server over the SDK's in-memory transport.
func talk(t *testing.T, o Options) *sdk.ClientSession {
	t.Helper()
	ours, theirs := sdk.NewInMemoryTransports()
	server, err := NewServer(o).Connect(t.Context(), ours, nil)
	if err != nil {
		t.Fatal(err)
	}
	client, err := sdk.NewClient(&sdk.Implementation{Name: "probe", Version: "1"}, nil).Connect(t.Context(), theirs, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = client.Close(), server.Wait() })
	return client
}

func use(t *testing.T, o Options, tool string, arguments map[string]any) (text string, structured map[string]any, failed bool) {
	t.Helper()
	result, err := talk(t, o).CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		return err.Error(), nil, true
	}
	for _, part := range result.Content {
		if c, ok := part.(*sdk.TextContent); ok {
			text += c.Text
		}
	}
	structured, _ = result.StructuredContent.(map[string]any)
	return text, structured, result.IsError
}

func TestTheToolsAreTheseAndNoneApproves(t *testing.T) {
	listed, err := talk(t, (&daemon{}).options()).ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range listed.Tools {
		names = append(names, tool.Name)
		if tool.Description == "" || tool.InputSchema == nil || tool.OutputSchema == nil {
			t.Errorf("%s says too little about itself", tool.Name)
		}
	}
	slices.Sort(names)
	if want := []string{"advance_phase", "propose", "query", "recall", "status"}; !slices.Equal(names, want) {
		t.Errorf("%v, want %v", names, want)
	}
}

const (
	oneSession  = `{"sessions":[{"session":"child","parent":"s1"},{"session":"old","ended":true},{"session":"s1"}]}`
	twoSessions = `{"sessions":[{"session":"s2"},{"session":"s1"}]}`
	view        = `{"session":"s1","mode":"work","phase":"planning","project":"/p","gates":[{"gate":"plan","state":"drifted"}],"next":"Write plan.md.","refusals":2}`
)

func TestTools(t *testing.T) {
	long := strings.Repeat("x", maxProposal+1)
	for name, c := range map[string]struct {
		tool      string
		host      string // the session that the host named
		arguments map[string]any
		replies   map[string]any
		asks      string // a part of the last request's body
		text      string
		field     string // of the structured result, as "name=value"
		failed    bool
	}{
		"a query": {
			tool: "query", arguments: map[string]any{"text": "retry a payment", "budget": 500, "domains": []string{"go"}},
			replies: map[string]any{schemas.SvcRetrieve: `{"block":"--- RULES ---","rules":[{"id":"A-B-001","statement":"Do it.","score":0.5,"why":{}}],"probability":0.9,"tokens":7}`},
			asks:    `"domains":["go"],"budget_tokens":500`, text: "--- RULES ---", field: "tokens=7",
		},
		"nothing found": {
			tool: "query", arguments: map[string]any{"text": "breakfast"}, replies: map[string]any{schemas.SvcRetrieve: `{"rules":null}`},
			text: "No rule is relevant", field: "rules=[]",
		},
		"an empty question": {tool: "query", arguments: map[string]any{"text": " "}, text: `"text" is empty`, failed: true},
		"no question":       {tool: "query", arguments: map[string]any{}, text: "text", failed: true},
		"a budget below 0":  {tool: "query", arguments: map[string]any{"text": "x", "budget": -1}, text: "negative", failed: true},
		"a long question":   {tool: "query", arguments: map[string]any{"text": long}, text: "more than the 65536", failed: true},
		"a tool of no name": {tool: "approve", text: "approve", failed: true},
		"an answer of another version": {
			tool: "query", arguments: map[string]any{"text": "x"}, replies: map[string]any{schemas.SvcRetrieve: `[]`},
			text: "different versions", failed: true,
		},
		"status": {
			tool: "status", replies: map[string]any{schemas.SvcSessions: oneSession, schemas.SvcSession: view},
			asks: `"session":"s1"`, text: "Session s1: work, phase planning.\n- plan: drifted\nNext: Write plan.md.", field: "phase=planning",
		},
		"status of the latest": {
			tool: "status", replies: map[string]any{schemas.SvcSessions: twoSessions, schemas.SvcSession: view},
			asks: `"session":"s2"`, text: "the latest of 2 live sessions",
		},
		"a host that resumed another one": {
			tool: "status", host: "s0", replies: map[string]any{schemas.SvcSessions: twoSessions, schemas.SvcSession: view},
			asks: `"session":"s2"`, text: "the latest of 2 live sessions",
		},
		"the host's own": {
			tool: "status", host: "s1", replies: map[string]any{schemas.SvcSessions: twoSessions, schemas.SvcSession: view}, asks: `"session":"s1"`, text: "Session s1",
		},
		"no session": {
			tool: "status", replies: map[string]any{schemas.SvcSessions: `{"sessions":[]}`}, text: "no session is live in /p", failed: true,
		},
		"an admitted proposal": {
			tool: "propose", arguments: map[string]any{"content": "{}"},
			replies: map[string]any{schemas.SvcRulePropose: `{"id":"A-B-001","admitted":true,"incomplete":["rationale"],"neighbours":[{"id":"C-D-001","similarity":0.4}]}`},
			asks:    `"by":"probe"`, text: "provisional", field: "admitted=true",
		},
		"a refused proposal": {
			tool: "propose", arguments: map[string]any{"content": "{}"},
			replies: map[string]any{schemas.SvcRulePropose: `{"admitted":false,"reasons":["specificity: too vague","duplicate of A-B-001"]}`},
			text:    "- specificity: too vague\n- duplicate of A-B-001", field: "admitted=false", failed: true,
		},
		"a long proposal": {tool: "propose", arguments: map[string]any{"content": long}, text: "more than the 262144", failed: true},
		"an approved gate": {
			tool: "advance_phase", arguments: map[string]any{"gate": "plan"},
			replies: map[string]any{schemas.SvcSessions: oneSession, schemas.SvcAdvance: `{"ok":true,"session":"s1","phase":"testing","message":"Tests may be written."}`},
			asks:    `{"session":"s1","gate":"plan"}`, text: "Tests may be written.", field: "advanced=true",
		},
		"a gate that is not approved": {
			tool: "advance_phase", arguments: map[string]any{"session": "s9"},
			replies: map[string]any{schemas.SvcAdvance: `{"ok":false,"session":"s9","gate":"plan","message":"ENF-GATE-PLAN: the user has not approved the plan","problems":["a","b"]}`},
			asks:    `"session":"s9"`, text: "ENF-GATE-PLAN", field: "advanced=false", failed: true,
		},
		"which session goes on": {
			tool: "advance_phase", replies: map[string]any{schemas.SvcSessions: twoSessions}, text: "2 sessions are live", failed: true,
		},
		"recall": {
			tool: "recall", arguments: map[string]any{"text": "login", "limit": 3},
			replies: map[string]any{schemas.SvcRecall: `{"hits":[{"observation_id":"o1","scope":"global","text":"Tokens expire.","score":0.7,"time":"2026-11-02T10:00:00Z"}],"searched":9}`},
			asks:    `"limit":3`, text: "- (global, 2026-11-02) Tokens expire.", field: "searched=9",
		},
		"recall that is not offered": {
			tool: "recall", arguments: map[string]any{"text": "login"}, replies: map[string]any{schemas.SvcStatus: `{}`},
			text: "does not offer recall", failed: true,
		},
		"recall that is not permitted": {
			tool: "recall", arguments: map[string]any{"text": "login"}, replies: map[string]any{schemas.SvcRecall: bus.ErrDenied},
			text: "does not offer recall", failed: true,
		},
		"a daemon that is gone": {
			tool: "recall", arguments: map[string]any{"text": "login"}, text: "writ doctor", failed: true,
		},
		"a view that is not ready": {
			tool: "status", arguments: map[string]any{"session": "s1"},
			replies: map[string]any{schemas.SvcSession: &bus.ServiceError{Code: schemas.CodeNotReady, Text: "the view is not there yet"}},
			text:    "the view is not there yet. Try again", failed: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := &daemon{replies: c.replies}
			o := d.options()
			o.HostSession = c.host
			text, structured, failed := use(t, o, c.tool, c.arguments)
			if failed != c.failed || !strings.Contains(text, c.text) {
				t.Errorf("failed %v: %q, want %q", failed, text, c.text)
			}
			if key, want, ok := strings.Cut(c.field, "="); ok && fmt.Sprint(structured[key]) != want {
				t.Errorf("%s is %v, want %s", key, structured[key], want)
			}
			var last string
			for _, r := range d.asked {
				last = string(r.Body)
				if !slices.Contains(offered, r.Subject) {
					t.Errorf("%s was asked", r.Subject)
				}
			}
			if !strings.Contains(last, c.asks) {
				t.Errorf("asked with %s, want %s", last, c.asks)
			}
		})
	}
}

func TestTheSessionThatIsNamedIsTheOneMeant(t *testing.T) {
	d := &daemon{replies: map[string]any{schemas.SvcSession: view, schemas.SvcRetrieve: `{}`}}
	o := d.options()
	o.Session = "host-7"
	_, _, _ = use(t, o, "status", nil)
	_, _, _ = use(t, o, "query", map[string]any{"text": "x"})
	for _, r := range d.asked {
		if !strings.Contains(string(r.Body), `"session":"host-7"`) {
			t.Errorf("%s asked with %s", r.Subject, r.Body)
		}
	}
	if len(d.asked) != 2 {
		t.Errorf("%d requests", len(d.asked))
	}
}

func TestADaemonThatIsDown(t *testing.T) {
	stopped := errors.New("no daemon runs")
	o := Options{
		Dial:       func(context.Context) (Service, error) { return nil, fmt.Errorf("%w in /data", stopped) },
		NotRunning: func(err error) bool { return errors.Is(err, stopped) },
	}
	text, _, failed := use(t, o, "query", map[string]any{"text": "x"})
	if !failed || !strings.Contains(text, "cannot be reached") || !strings.Contains(text, "writ up") {
		t.Errorf("%v %s", failed, text)
	}
	o.Dial = func(context.Context) (Service, error) { return nil, errors.New("writd is nowhere") }
	text, _, failed = use(t, o, "query", map[string]any{"text": "x"})
	if !failed || !strings.Contains(text, "writd is nowhere") || !strings.Contains(text, "writ doctor") {
		t.Errorf("%v %s", failed, text)
	}
}

// exchange sends lines and returns the answers by id, those without under "".
func exchange(t *testing.T, o Options, input string) map[string][]string {
	t.Helper()
	var out strings.Builder
	if err := Serve(t.Context(), strings.NewReader(input), &out, o); err != nil {
		t.Fatal(err)
	}
	answers := map[string][]string{}
	for line := range strings.Lines(out.String()) {
		var m struct{ ID any }
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		id := ""
		if m.ID != nil {
			id = fmt.Sprint(m.ID)
		}
		answers[id] = append(answers[id], line)
	}
	return answers
}

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"probe","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`

// What is no message is answered, and what comes after it is served: also when
// the input ends at once.
func TestGarbageIsAnsweredAndEndsNothing(t *testing.T) {
	d := &daemon{replies: map[string]any{schemas.SvcRetrieve: `{"block":"the rules"}`}}
	input := "hello?\n" + hello + "\x00\xff\n\n[{}]\n{}\n" +
		`{"jsonrpc":"2.0","id":8,"pad":"` + strings.Repeat("x", maxLine) + "\"}\n" +
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"query","arguments":{"text":"x"}}}` + "\n" +
		`{"jsonrpc":"2.0","id":3,"method":"no/such"}`
	answers := exchange(t, d.options(), input)
	if len(answers["1"]) != 1 || len(answers["2"]) != 1 || !strings.Contains(answers["2"][0], "the rules") {
		t.Errorf("%q", answers)
	}
	if len(answers["3"]) != 1 || !strings.Contains(answers["3"][0], `"error"`) {
		t.Errorf("%q", answers["3"])
	}
	all := strings.Join(answers[""], "")
	if len(answers[""]) != 5 || strings.Count(all, "-32700") != 2 || strings.Count(all, "-32600") != 3 || !strings.Contains(all, "longer than 4 MiB") {
		t.Errorf("%s", all)
	}
}

// endOfInput tells when everything was read.
type endOfInput struct {
	io.Reader
	read chan struct{}
	once sync.Once
}

func (e *endOfInput) Read(p []byte) (int, error) {
	n, err := e.Reader.Read(p)
	if err != nil {
		e.once.Do(func() { close(e.read) })
	}
	return n, err
}

// slow answers after the input has ended, unless the call is given up by then.
type slow struct {
	daemon
	after chan struct{}
}

func (s *slow) Request(ctx context.Context, r bus.Request) (bus.Reply, error) {
	<-s.after
	select {
	case <-ctx.Done():
		return bus.Reply{}, ctx.Err()
	case <-time.After(50 * time.Millisecond):
		return s.daemon.Request(ctx, r)
	}
}

func TestTheEndOfTheInputCutsNoAnswerOff(t *testing.T) {
	in := &endOfInput{
		Reader: strings.NewReader(hello + `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"query","arguments":{"text":"x"}}}`),
		read:   make(chan struct{}),
	}
	d := &slow{daemon: daemon{replies: map[string]any{schemas.SvcRetrieve: `{"block":"the rules"}`}}, after: in.read}
	var out strings.Builder
	err := Serve(t.Context(), in, &out, Options{Dial: func(context.Context) (Service, error) { return d, nil }})
	if err != nil || !strings.Contains(out.String(), "the rules") {
		t.Errorf("%v %s", err, out.String())
	}
}

func TestAnInputThatEndsTooLongIsAnswered(t *testing.T) {
	answers := exchange(t, (&daemon{}).options(), strings.Repeat("y", maxLine+5))
	if len(answers[""]) != 1 || !strings.Contains(answers[""][0], "longer than") {
		t.Errorf("%q", answers)
	}
}

func TestServeEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out strings.Builder
	if err := Serve(ctx, neverEnding{t.Context()}, &out, (&daemon{}).options()); err != nil {
		t.Error(err)
	}
}

type neverEnding struct{ ctx context.Context }

func (n neverEnding) Read([]byte) (int, error) {
	<-n.ctx.Done()
	return 0, n.ctx.Err()
}

func FuzzServe(f *testing.F) {
	for _, seed := range []string{
		hello + `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`,
		hello + `{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"query","arguments":{"text":"x"}}}` + "\n" + `{"jsonrpc":"2.0","id":"a","method":"ping"}`,
		hello + `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"status","arguments":{"session":7}}}`,
		`{"jsonrpc":"2.0","id":null,"method":"ping"}` + "\n{}\n[]\n\"\"",
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`,
		`{"jsonrpc":"2.0","id":1,"result":{}}`,
		`{"jsonrpc":"2.0","id":1.5,"method":"initialize","params":[]}`,
	} {
		f.Add(seed)
	}
	d := &daemon{replies: map[string]any{schemas.SvcRetrieve: `{"block":"b"}`, schemas.SvcSession: view}}
	f.Fuzz(func(t *testing.T, input string) {
		for id, lines := range exchange(t, d.options(), input) {
			if id == "" {
				continue
			}
			for _, line := range lines {
				if !strings.Contains(line, `"jsonrpc":"2.0"`) {
					t.Errorf("%q", line)
				}
			}
		}
	})
}
