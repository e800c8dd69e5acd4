package daemon

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/cmd/internal/reach"
	"github.com/writbus/writ/retrieval"
	"github.com/writbus/writ/schemas"
)

// world is a running daemon with a project and clients of it.
type world struct {
	t       testing.TB
	data    string
	project string
	agent   string // that hooks are of, "" is claude
	hook    *bus.Conn
	admin   *bus.Conn
	stop    func() error
}

// start runs a daemon on a data directory and a project of the test.
func start(t testing.TB, data, project string) *world {
	t.Helper()
	return startWith(t, data, project, func(*config.Settings) {})
}

func startWith(t testing.TB, data, project string, change func(*config.Settings)) *world {
	t.Helper()
	settings := config.DefaultSettings()
	settings.DataDir, settings.Durability, settings.MemoryLimit = data, "interval", 0
	settings.ShippedRules = false     // most tests bring their own
	settings.Embedder = "static"      // what most tests ask, the table finds as well, in a part of the time
	settings.HookBudget = time.Minute // what is decided must not depend on the machine's speed
	settings.AuditEvery = time.Hour   // nor what is signed when
	change(&settings)
	ctx, cancel := context.WithCancel(t.Context())
	ready, done := make(chan string, 1), make(chan error, 1)
	go func() {
		done <- Run(ctx, settings, slog.New(slog.DiscardHandler), func(url string) { ready <- url })
	}()
	var url string
	select {
	case url = <-ready:
	case err := <-done:
		t.Fatal(err)
	}
	w := &world{t: t, data: data, project: project}
	var once sync.Once
	var stopErr error
	w.stop = func() error {
		once.Do(func() {
			w.hook.Close()
			w.admin.Close()
			cancel()
			stopErr = <-done
		})
		return stopErr
	}
	w.hook, w.admin = dial(t, data, url, "hook"), dial(t, data, url, "admin")
	t.Cleanup(func() {
		if err := w.stop(); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	return w
}

func dial(t testing.TB, data, url, role string) *bus.Conn {
	t.Helper()
	at, err := config.ReadEndpoint(data)
	if err != nil {
		t.Fatal(err)
	}
	at.URL = url
	conn, err := reach.Connect(t.Context(), at, data, role, bus.Options{Name: "test", Timeout: 5 * time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// newProject is a folder under guard.
func newProject(t testing.TB, settings string) string {
	t.Helper()
	dir := t.TempDir()
	put(t, filepath.Join(dir, config.ProjectFile), settings)
	return dir
}

// resolved is a path without links.
func resolved(t testing.TB, path string) string {
	t.Helper()
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}
	return real
}

func put(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// shippedWorld has the rules that come with the program.
func shippedWorld(t *testing.T) *world { return shippedFor(t, newProject(t, "mode: work\n")) }

// shippedFor is a daemon for a project whose corpus is the shipped rules. They are
// imported once: each test has a copy of the data directory.
func shippedFor(t *testing.T, project string) *world {
	t.Helper()
	with := func(s *config.Settings) { s.ShippedRules = true }
	imported.once.Do(func() {
		if imported.dir, imported.err = os.MkdirTemp("", "writ-shipped-"); imported.err != nil { //nolint:usetesting // outlives this test
			return
		}
		w := startWith(t, imported.dir, newProject(t, ""), with)
		w.rulesAreThere()
		imported.err = w.stop()
	})
	data := t.TempDir()
	if err := errors.Join(imported.err, os.CopyFS(data, os.DirFS(imported.dir))); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(data, func(path string, entry fs.DirEntry, err error) error {
		return errors.Join(err, os.Chmod(path, 0o700)) // a copy is readable by others
	})
	if err != nil {
		t.Fatal(err)
	}
	w := startWith(t, data, project, with)
	w.rulesAreThere()
	return w
}

// rulesAreThere waits for them however long their import takes; a hook would not.
func (w *world) rulesAreThere() {
	w.t.Helper()
	for {
		_, err := call[retrieval.Answer](w, w.hook, schemas.SvcRetrieve, schemas.RetrieveRequest{Query: "x"}) // it waits for some seconds
		var refused *bus.ServiceError
		switch {
		case err == nil:
			return
		case !errors.As(err, &refused) || refused.Code != schemas.CodeNotReady:
			w.t.Fatal(err)
		}
	}
}

// imported is a data directory with the shipped rules.
var imported struct {
	once sync.Once
	dir  string
	err  error
}

// usualWorld has the embedder that the settings have by default.
func usualWorld(t *testing.T, shipped bool) *world {
	return startWith(t, t.TempDir(), newProject(t, "mode: work\n"), func(s *config.Settings) {
		s.ShippedRules, s.Embedder = shipped, config.DefaultSettings().Embedder
	})
}

func newWorld(t *testing.T) *world { return start(t, t.TempDir(), newProject(t, "mode: work\n")) }

// send runs a hook and returns what its process would print.
func (w *world) send(event string, payload map[string]any) schemas.HookReply {
	w.t.Helper()
	if payload["session_id"] == nil {
		payload["session_id"] = "s1"
	}
	payload["cwd"], payload["hook_event_name"] = w.project, event
	raw, err := json.Marshal(payload)
	if err != nil {
		w.t.Fatal(err)
	}
	reply, err := w.raw(event, raw)
	if err != nil {
		w.t.Fatal(err)
	}
	return reply
}

func (w *world) raw(event string, payload []byte) (reply schemas.HookReply, err error) {
	answer, err := w.hook.Request(w.t.Context(), bus.Request{
		Subject: schemas.SvcHook, Body: payload,
		Header: schemas.Header{
			schemas.HookHeaderAgent: {cmp.Or(w.agent, "claude")}, schemas.HookHeaderEvent: {event},
			schemas.HookHeaderDir: {w.project}, schemas.HookHeaderProject: {w.project}, schemas.HookHeaderHome: {filepath.Dir(w.project)},
		},
	})
	if err != nil {
		return reply, err
	}
	return reply, json.Unmarshal(answer.Body, &reply)
}

func (w *world) write(path, content string) schemas.HookReply {
	return w.send("PreToolUse", map[string]any{
		"tool_name":  "Write",
		"tool_input": map[string]any{"file_path": filepath.Join(w.project, path), "content": content},
	})
}

func (w *world) wrote(path, content string) {
	put(w.t, filepath.Join(w.project, path), content)
	w.send("PostToolUse", map[string]any{
		"tool_name":  "Write",
		"tool_input": map[string]any{"file_path": filepath.Join(w.project, path), "content": content},
	})
}

func (w *world) prompt(text string) schemas.HookReply {
	return w.send("UserPromptSubmit", map[string]any{"prompt": text, "source": "user"})
}

func call[Reply any](w *world, c *bus.Conn, subject string, request any) (reply Reply, err error) {
	raw, err := json.Marshal(request)
	if err != nil {
		w.t.Fatal(err)
	}
	answer, err := c.Request(w.t.Context(), bus.Request{Subject: subject, Body: raw})
	if err != nil {
		return reply, err
	}
	return reply, json.Unmarshal(answer.Body, &reply)
}

func (w *world) history(session string) []schemas.ReplayEvent {
	w.t.Helper()
	page, err := call[schemas.ReplayPage](w, w.admin, schemas.SvcReplay, schemas.ReplayRequest{Session: session, Limit: 5000})
	if err != nil {
		w.t.Fatal(err)
	}
	return page.Events
}

const goodPlan = `# Plan

## Files

- ` + "`store/users.go`" + ` – look users up

## Analysis

The handler joins strings into a query. A bound parameter keeps the address out of the statement.

## Rules Applied

No matching rules

## Capabilities

- [ ] An unknown address yields ErrNotFound
`

const goodTest = `package store

import "testing"

func TestByEmail(t *testing.T) {
	if _, err := ByEmail("x"); err == nil {
		t.Fatal("no error")
	}
}
`

func TestTheWholeWay(t *testing.T) {
	w := newWorld(t)
	if r := w.send("SessionStart", map[string]any{"source": "startup"}); !strings.Contains(r.Stdout, "Phase: planning") {
		t.Fatalf("session start says %s", r.Stdout)
	}
	if r := w.write("store/users.go", "x"); r.Exit != 2 || !strings.Contains(r.Stderr, "ENF-GATE-PLAN") {
		t.Fatalf("code before the plan: %+v", r)
	}
	if r := w.write("plan.md", goodPlan); r.Exit != 0 {
		t.Fatalf("the plan: %+v", r)
	}
	w.wrote("plan.md", goodPlan)
	w.prompt("approved")
	if r := w.write("store/users.go", "x"); r.Exit != 2 || !strings.Contains(r.Stderr, "ENF-GATE-TEST") {
		t.Fatalf("code before the tests: %+v", r)
	}
	if r := w.write("store/users_test.go", goodTest); r.Exit != 0 {
		t.Fatalf("a test: %+v", r)
	}
	w.wrote("store/users_test.go", goodTest)
	w.prompt("the tests are approved")
	if r := w.write("store/users.go", "x"); r.Exit != 0 {
		t.Fatalf("code after both approvals: %+v", r)
	}
	put(t, filepath.Join(w.project, "plan.md"), goodPlan+"- [ ] And more\n")
	if r := w.write("store/users.go", "y"); r.Exit != 2 || !strings.Contains(r.Stderr, "ENF-GATE-DRIFT") {
		t.Fatalf("code after drift: %+v", r)
	}
}

func TestPlanWithProblemsIsNotApproved(t *testing.T) {
	w := newWorld(t)
	w.wrote("plan.md", "# Plan\n\n## Files\n\nTBD\n")
	r := w.prompt("approved")
	for _, want := range []string{"Analysis", "Capabilities"} {
		if !strings.Contains(r.Stdout, want) {
			t.Errorf("the answer does not name the section %s: %s", want, r.Stdout)
		}
	}
	view, err := call[schemas.SessionView](w, w.hook, schemas.SvcSession, schemas.SessionQuery{Session: "s1"})
	if err != nil || view.Phase != "planning" {
		t.Errorf("phase %q, %v", view.Phase, err)
	}
}

func TestRulesComeWithAPromptOnce(t *testing.T) {
	w := shippedWorld(t)
	const prompt = "the login query is built by concatenating the e-mail address into the SQL string"
	first, second := w.prompt(prompt), w.prompt(prompt)
	if !strings.Contains(first.Stdout, "SQL-") {
		t.Fatalf("no SQL rule: %s", first.Stdout)
	}
	shown := map[string]int{}
	for _, e := range w.history("s1") {
		if e.Type == "rules.shown" {
			var p schemas.RulesShown
			if err := json.Unmarshal(e.Data, &p); err != nil {
				t.Fatal(err)
			}
			for _, r := range p.Rules {
				if r.Band == "retrieved" {
					shown[r.ID]++
				}
			}
		}
	}
	if len(shown) == 0 {
		t.Error("nothing was recorded as shown")
	}
	for id, times := range shown {
		if times > 1 {
			t.Errorf("%s was shown %d times in one phase: %s", id, times, second.Stdout)
		}
	}
}

// TestManyHooksAtOnceKeepOneOrder sends 200 hooks of one session at once.
func TestManyHooksAtOnceKeepOneOrder(t *testing.T) {
	w := newWorld(t)
	w.send("SessionStart", map[string]any{"source": "startup"})
	before := len(w.history("s1"))
	const n = 200
	errs := make(chan error, n)
	for i := range n {
		go func() {
			raw := fmt.Sprintf(`{"session_id":"s1","cwd":%q,"tool_name":"Write","tool_use_id":"t%d","tool_input":{"file_path":%q,"content":"x"}}`,
				w.project, i, filepath.Join(w.project, fmt.Sprintf("f%d.go", i)))
			reply, err := w.raw("PreToolUse", []byte(raw))
			// The second refusal in a row is a question to the user; none may pass.
			if err == nil && reply.Exit != 2 && !strings.Contains(reply.Stdout, `"ask"`) {
				err = fmt.Errorf("hook %d passed: %+v", i, reply)
			}
			errs <- err
		}()
	}
	for range n {
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
	}
	seen, last := map[string]bool{}, uint64(0)
	for _, e := range w.history("s1")[before:] {
		var p schemas.ToolDecided
		if e.Type != "tool.decided" {
			continue
		}
		if err := json.Unmarshal(e.Data, &p); err != nil {
			t.Fatal(err)
		}
		if seen[p.ToolUseID] || e.Position.Seq <= last {
			t.Fatalf("%s twice or out of order at %d", p.ToolUseID, e.Position.Seq)
		}
		seen[p.ToolUseID], last = true, e.Position.Seq
	}
	if len(seen) != n {
		t.Errorf("%d of %d decisions are in the log", len(seen), n)
	}
}

func TestTheSameCallTwiceIsDecidedOnce(t *testing.T) {
	w := newWorld(t)
	request := map[string]any{
		"tool_name": "Write", "tool_use_id": "toolu_1",
		"tool_input": map[string]any{"file_path": filepath.Join(w.project, "a.go"), "content": "x"},
	}
	first, second := w.send("PreToolUse", request), w.send("PreToolUse", request)
	if first != second || first.Exit != 2 {
		t.Errorf("first %+v, second %+v", first, second)
	}
	decided := 0
	for _, e := range w.history("s1") {
		if e.Type == "tool.decided" {
			decided++
		}
	}
	if decided != 1 {
		t.Errorf("%d decisions are in the log", decided)
	}
}

func TestStateSurvivesARestart(t *testing.T) {
	data, project := t.TempDir(), newProject(t, "mode: work\n")
	w := start(t, data, project)
	w.wrote("plan.md", goodPlan)
	w.prompt("approved")
	before := w.history("s1")
	if err := w.stop(); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(config.Layout{Root: data}.Views()); err != nil {
		t.Fatal(err)
	}
	w = start(t, data, project)
	if after := w.history("s1"); len(after) != len(before) {
		t.Errorf("%d events before, %d after", len(before), len(after))
	}
	view, err := call[schemas.SessionView](w, w.hook, schemas.SvcSession, schemas.SessionQuery{Session: "s1"})
	if err != nil || view.Phase != "testing" {
		t.Errorf("phase %q, %v", view.Phase, err)
	}
}

func TestASecondDaemonIsRefused(t *testing.T) {
	w := newWorld(t)
	settings := config.DefaultSettings()
	settings.DataDir, settings.MemoryLimit = w.data, 0
	err := Run(t.Context(), settings, slog.New(slog.DiscardHandler), func(string) { t.Error("it serves") })
	if !errors.Is(err, ErrRunning) || !strings.Contains(err.Error(), fmt.Sprint(os.Getpid())) {
		t.Errorf("got %v", err)
	}
}

func TestHostileInput(t *testing.T) {
	w := newWorld(t)
	t.Run("session ids", func(t *testing.T) {
		for _, id := range []string{"../../x", "a.b.>", "*", "🔥 émoji", "a\x00b", " ", "a/b\\c", strings.Repeat("s", 500)} {
			r := w.send("PreToolUse", map[string]any{"session_id": id, "tool_name": "Write", "tool_input": map[string]any{"file_path": w.project + "/a.go", "content": ""}})
			if r.Exit != 2 || !strings.Contains(r.Stderr, "ENF-GATE-PLAN") {
				t.Errorf("%q: %+v", id, r)
			}
			if events := w.history(id); len(events) == 0 || events[0].Aggregate.ID != id {
				t.Errorf("%q is not in the log as itself", id)
			}
		}
	})
	t.Run("a session id of 10 kB", func(t *testing.T) {
		r := w.send("PreToolUse", map[string]any{"session_id": strings.Repeat("x", 10_000), "tool_name": "Write", "tool_input": map[string]any{"file_path": w.project + "/a.go", "content": ""}})
		if r.Exit != 2 || !strings.Contains(r.Stderr, "too long") {
			t.Errorf("%+v", r)
		}
	})
	t.Run("payloads", func(t *testing.T) {
		for _, payload := range []string{"", "{", "[]", `{"session_id":1}`, `{"session_id":"s","tool_name":"Write"}`, "\x00\xff"} {
			r, err := w.raw("PreToolUse", []byte(payload))
			if err != nil || r.Exit != 2 || r.Stderr == "" {
				t.Errorf("%q: %+v, %v", payload, r, err)
			}
		}
	})
	t.Run("a payload of 10 MB", func(t *testing.T) {
		r := w.write("a.go", strings.Repeat("x", 10<<20))
		if r.Exit != 2 || !strings.Contains(r.Stderr, "ENF-GATE-PLAN") {
			t.Errorf("%.300v", r)
		}
	})
	t.Run("unknown events and tools pass and are recorded", func(t *testing.T) {
		r := w.send("MoonLanded", map[string]any{"session_id": "odd"})
		if r.Exit != 0 {
			t.Errorf("%+v", r)
		}
		if events := w.history("odd"); events[len(events)-1].Type != "hook.observed" {
			t.Errorf("recorded as %v", events[len(events)-1].Type)
		}
	})
	t.Run("bad settings are said aloud and strict", func(t *testing.T) {
		project := newProject(t, "fail: maybe\n")
		other := *w
		other.project = project
		r := other.send("SessionStart", map[string]any{"session_id": "bad-settings"})
		if !strings.Contains(r.Stdout, "fail") || !strings.Contains(r.Stdout, "strict defaults") {
			t.Errorf("%s", r.Stdout)
		}
	})
}

func TestRolesReachWhatTheyMay(t *testing.T) {
	w := newWorld(t)
	w.send("SessionStart", map[string]any{})
	for subject, request := range map[string]any{
		schemas.SvcApprove:    schemas.ApproveRequest{Session: "s1", Channel: "terminal", ActID: "a"},
		schemas.SvcModeByUser: schemas.ModeRequest{Session: "s1", Mode: "conversation"},
		schemas.SvcPhase:      schemas.PhaseRequest{Session: "s1"},
		schemas.SvcStop:       bus.None{},
		schemas.SvcRuleImport: schemas.RuleImportRequest{},
	} {
		if _, err := call[json.RawMessage](w, w.hook, subject, request); err == nil {
			t.Errorf("the hook's credential reaches %s", subject)
		}
	}
	if r, err := call[schemas.ActReply](w, w.hook, schemas.SvcMode, schemas.ModeRequest{Session: "s1", Mode: "conversation"}); err != nil || r.OK {
		t.Errorf("an agent left work mode: %+v, %v", r, err)
	}
	if r, err := call[schemas.ActReply](w, w.admin, schemas.SvcModeByUser, schemas.ModeRequest{Session: "s1", Mode: "conversation"}); err != nil || !r.OK {
		t.Errorf("the user did not leave work mode: %+v, %v", r, err)
	}
}

// TestReadersLeaveNothing: a role that may only read cannot have the server keep
// readers for it, neither while nobody asks nor over a restart.
func TestReadersLeaveNothing(t *testing.T) {
	w := newWorld(t)
	durable := func() (*jetstream.ConsumerInfo, error) {
		endpoint, err := config.ReadEndpoint(w.data)
		if err != nil {
			t.Fatal(err)
		}
		own, err := bus.LoadCredential(config.Layout{Root: w.data}.Credentials(), "dashboard")
		if err != nil {
			t.Fatal(err)
		}
		nc, err := nats.Connect(endpoint.URL, nats.UserInfo(own.User, own.Password), nats.CustomInboxPrefix(bus.InboxPrefix(own.User)), nats.Timeout(time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(nc.Close)
		js, err := jetstream.New(nc)
		if err != nil {
			t.Fatal(err)
		}
		if c, err := js.Consumer(t.Context(), string(schemas.StreamSessions), "kept"); err == nil {
			return c.CachedInfo(), nil
		} else if !errors.Is(err, jetstream.ErrConsumerNotFound) {
			t.Fatal(err)
		}
		if _, err := js.CreateConsumer(t.Context(), string(schemas.StreamSessions), jetstream.ConsumerConfig{Durable: "long", InactiveThreshold: 24 * time.Hour}); err == nil {
			t.Error("a reader is kept for a day without being asked")
		}
		c, err := js.CreateConsumer(t.Context(), string(schemas.StreamSessions), jetstream.ConsumerConfig{Durable: "kept"})
		if err != nil {
			t.Fatal(err)
		}
		return c.CachedInfo(), jetstream.ErrConsumerNotFound
	}
	if c, _ := durable(); c.Config.InactiveThreshold != bus.ReaderSilence {
		t.Errorf("it is kept for %s without being asked", c.Config.InactiveThreshold)
	}
	if err := w.stop(); err != nil {
		t.Fatal(err)
	}
	w = start(t, w.data, w.project)
	if _, err := durable(); err == nil {
		t.Error("it is there after a restart")
	}
}

func TestApprovalAtATerminal(t *testing.T) {
	w := newWorld(t)
	w.send("SessionStart", map[string]any{})
	approve := func(fingerprint string) schemas.ActReply {
		reply, err := call[schemas.ActReply](w, w.admin, schemas.SvcApprove, schemas.ApproveRequest{
			Session: "s1", Channel: "terminal", ActID: "act-" + fingerprint, Fingerprint: fingerprint,
		})
		if err != nil {
			t.Fatal(err)
		}
		return reply
	}
	if r := approve(""); r.OK {
		t.Errorf("nothing waits, and yet: %+v", r)
	}
	w.wrote("plan.md", goodPlan)
	offer := approve("")
	if !offer.OK || offer.Gate != "plan" || offer.Fingerprint == "" || len(offer.Files) != 1 || offer.Phase != "planning" {
		t.Fatalf("the offer: %+v", offer)
	}
	put(t, filepath.Join(w.project, "plan.md"), goodPlan+"- [ ] And more\n")
	if r := approve(offer.Fingerprint); r.OK || r.Phase != "planning" {
		t.Errorf("approved what the user did not see: %+v", r)
	}
	if r := approve(approve("").Fingerprint); !r.OK || r.Phase != "testing" {
		t.Errorf("not approved: %+v", r)
	}
}

func TestEmitTakesProposalsAndRefusesFacts(t *testing.T) {
	w := newWorld(t)
	request := schemas.EmitRequest{
		Type: "proposal.made", ID: "global", EventID: "e-1", Data: json.RawMessage(`{"proposal_id":"p1","text":"t"}`),
	}
	first, err := call[schemas.EmitReply](w, w.hook, schemas.SvcEmit, request)
	if err != nil {
		t.Fatal(err)
	}
	again, err := call[schemas.EmitReply](w, w.hook, schemas.SvcEmit, request)
	if err != nil || again != first {
		t.Errorf("a retry is stored elsewhere: %+v, %+v, %v", first, again, err)
	}
	w.forgetIDs(schemas.StreamMemory)
	again, err = call[schemas.EmitReply](w, w.hook, schemas.SvcEmit, request)
	if err != nil || again != first {
		t.Errorf("repeated when the server has forgotten its id, it is stored elsewhere: %+v, %+v, %v", first, again, err)
	}
	for name, bad := range map[string]schemas.EmitRequest{
		"another's id":   {Type: "proposal.made", ID: "other", EventID: "e-1", Data: request.Data},
		"a fact":         {Type: "gate.approved", ID: "s1", Data: json.RawMessage(`{}`)},
		"no such type":   {Type: "moon.landed", ID: "x", Data: json.RawMessage(`{}`)},
		"an observation": {Type: "observation.recorded", ID: "global", Data: json.RawMessage(`{"observation_id":"o1","original":"aGk=","text":"hi","write_verdict":"allow","write_confidence":0.9}`)},
		"an outcome":     {Type: "outcome.recorded", ID: "R", Data: json.RawMessage(`{"positive":true,"evidence":"fixed"}`)},
		"unknown field":  {Type: "proposal.made", ID: "global", Data: json.RawMessage(`{"proposal_id":"p","text":"t","x":1}`)},
		"missing field":  {Type: "proposal.made", ID: "global", Data: json.RawMessage(`{"text":"t"}`)},
		"no aggregate":   {Type: "proposal.made", Data: json.RawMessage(`{"proposal_id":"p","text":"t"}`)},
		"data not there": {Type: "proposal.made", ID: "global"},
	} {
		var service *bus.ServiceError
		if _, err := call[schemas.EmitReply](w, w.hook, schemas.SvcEmit, bad); !errors.As(err, &service) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// forgetIDs returns when the server no longer knows the ids of the events that a
// stream has now.
func (w *world) forgetIDs(s schemas.Stream) {
	w.t.Helper()
	ctx := w.t.Context()
	endpoint, err := config.ReadEndpoint(w.data)
	if err != nil {
		w.t.Fatal(err)
	}
	conn := dial(w.t, w.data, endpoint.URL, "daemon")
	if err := conn.EnsureStreams(ctx, bus.Retention{Duplicates: 100 * time.Millisecond}); err != nil {
		w.t.Fatal(err)
	}
	log := conn.Writer(bus.WriterOptions{Source: "/test"})
	seen := map[uint64]bool{}
	for len(seen) < 2 {
		at, err := bus.Record(ctx, log, schemas.Event{
			ID: "probe", Actor: schemas.Writ("test"), Aggregate: schemas.Aggregate{Kind: schemas.KindMemory, ID: "probe"},
			Data: schemas.ProposalMade{ProposalID: "probe", Text: "t"},
		})
		if err != nil || at.Stream != s {
			w.t.Fatalf("%+v %v", at, err)
		}
		seen[at.Seq] = true
	}
}

func TestRuleIsFoundAfterItsImportIsAcknowledged(t *testing.T) {
	w := usualWorld(t, false)
	file := schemas.RuleFile{Path: "INV-TOTAL-CENTS-001.md", Content: `---
id: INV-TOTAL-CENTS-001
title: Compute invoice totals in cents
severity: high
trigger: Code adds up the lines of an invoice.
statement: Add integer cents and convert once when printing.
symptoms: [totals are off by a cent, the sum on the invoice differs from the lines]
---
`}
	report, err := call[schemas.RuleImportReply](w, w.admin, schemas.SvcRuleImport, schemas.RuleImportRequest{Files: []schemas.RuleFile{file}})
	if err != nil || len(report.Imported) != 1 {
		t.Fatalf("%+v, %v", report, err)
	}
	answer, err := call[retrieval.Answer](w, w.hook, schemas.SvcRetrieve, schemas.RetrieveRequest{Query: "compute the invoice total"})
	if err != nil || len(answer.Rules) == 0 || answer.Rules[0].ID != "INV-TOTAL-CENTS-001" || !strings.HasPrefix(answer.Embedder, "all-MiniLM-") {
		t.Errorf("%+v, %v", answer.Rules, err)
	}
	report, err = call[schemas.RuleImportReply](w, w.admin, schemas.SvcRuleImport, schemas.RuleImportRequest{Files: []schemas.RuleFile{file}})
	if err != nil || len(report.Imported) != 0 || report.Unchanged != 1 {
		t.Errorf("the second import: %+v, %v", report, err)
	}
	bad := schemas.RuleFile{Path: "bad.md", Content: "---\nid: nope\n---\n"}
	report, err = call[schemas.RuleImportReply](w, w.admin, schemas.SvcRuleImport, schemas.RuleImportRequest{Files: []schemas.RuleFile{bad}})
	if err != nil || len(report.Problems) == 0 {
		t.Errorf("a bad file: %+v, %v", report, err)
	}
}

func TestDataDirProblemsAreNamed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	put(t, file, "")
	settings := config.DefaultSettings()
	settings.DataDir, settings.MemoryLimit = filepath.Join(file, "data"), 0
	err := Run(t.Context(), settings, slog.New(slog.DiscardHandler), func(string) {})
	if !errors.Is(err, ErrDataDir) || !strings.Contains(err.Error(), "WRIT_HOME") {
		t.Errorf("got %v", err)
	}
}

// TestAStopSaysWhatItWaitedFor: a slow one is understood from the daemon's log.
func TestAStopSaysWhatItWaitedFor(t *testing.T) {
	settings := config.DefaultSettings()
	settings.DataDir, settings.Durability, settings.MemoryLimit = t.TempDir(), "interval", 0
	settings.ShippedRules, settings.Embedder = false, "static"
	ctx, cancel := context.WithCancel(t.Context())
	var said bytes.Buffer
	if err := Run(ctx, settings, slog.New(slog.NewTextHandler(&said, nil)), func(string) { cancel() }); err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(said.String(), "msg=stopping")
	if _, last, _ := strings.Cut(after, "msg=stopped took="); !strings.Contains(last, "slowest=") || strings.Contains(last, "slowest=\"\"") || strings.Count(last, "\n") != 1 {
		t.Errorf("it says %q", after)
	}
}
