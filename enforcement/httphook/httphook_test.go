package httphook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/enforcement/host"
	"github.com/writbus/writ/enforcement/host/hosts"
	"github.com/writbus/writ/schemas"
)

const (
	secret = "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LXNlY3JldC0"
	listen = "127.0.0.1:7411"
)

// world is a server without a listener, a guarded project and a folder that is
// not.
type world struct {
	*Server
	project, elsewhere string

	mu    sync.Mutex
	asked []bus.Request
	reply func(bus.Request) ([]byte, error)
}

func newWorld(t testing.TB) *world {
	t.Helper()
	dir := t.TempDir()
	w := &world{project: filepath.Join(dir, "project"), elsewhere: filepath.Join(dir, "elsewhere")}
	put(t, filepath.Join(w.project, projectFile), "")
	if err := os.MkdirAll(w.elsewhere, 0o755); err != nil {
		t.Fatal(err)
	}
	w.reply = func(bus.Request) ([]byte, error) { return json.Marshal(schemas.HookReply{Stdout: `{"a":1}` + "\n"}) }
	w.Server = newServer(Options{
		DataDir: filepath.Join(dir, "data"), Credentials: filepath.Join(dir, "data", "credentials"),
		Guarded: guarded, FailsOpen: failsOpen, Budget: time.Minute, Logger: slog.New(slog.DiscardHandler),
		Ask: func(_ context.Context, r bus.Request) ([]byte, error) {
			w.mu.Lock()
			w.asked = append(w.asked, r)
			w.mu.Unlock()
			return w.reply(r)
		},
	}, secret, listen)
	return w
}

// projectFile is what makes a folder a guarded project here.
const projectFile = "guarded.txt"

func guarded(dir string) (root string, found bool) {
	for {
		if _, err := os.Stat(filepath.Join(dir, projectFile)); err == nil {
			return dir, true
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", false
		}
		dir = parent
	}
}

func failsOpen(root string) bool {
	text, _ := os.ReadFile(filepath.Join(root, projectFile))
	return string(text) == "fail: open\n"
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

func request(path, body string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "http://"+listen+path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+secret)
	return r
}

func (w *world) serve(r *http.Request) (int, string) {
	recorder := httptest.NewRecorder()
	w.http.Handler.ServeHTTP(recorder, r)
	return recorder.Code, recorder.Body.String()
}

// payload fills the folder of the project in.
func (w *world) payload(fields string) string {
	return fmt.Sprintf(`{"session_id":"s1","cwd":%q,%s}`, w.project, fields)
}

const writing = `"hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":"a.go","content":"x"}`

func TestAHookIsAnswered(t *testing.T) {
	w := newWorld(t)
	body := w.payload(writing)
	code, answer := w.serve(request("/hook/claude/PreToolUse", body))
	if code != 200 || answer != `{"a":1}` {
		t.Errorf("%d %s", code, answer)
	}
	got := w.asked[0]
	if got.Subject != schemas.SvcHook || string(got.Body) != body ||
		got.Header.Get(schemas.HookHeaderAgent) != "claude" || got.Header.Get(schemas.HookHeaderEvent) != "PreToolUse" ||
		got.Header.Get(schemas.HookHeaderProject) != w.project || got.Header.Get(schemas.HookHeaderDir) != w.project {
		t.Errorf("%+v", got)
	}
}

func TestWhoIsNotServed(t *testing.T) {
	w := newWorld(t)
	for name, c := range map[string]struct {
		change func(*http.Request)
		code   int
	}{
		"no token":           {func(r *http.Request) { r.Header.Del("Authorization") }, 401},
		"a wrong token":      {func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+secret[1:]) }, 401},
		"an empty token":     {func(r *http.Request) { r.Header.Set("Authorization", "Bearer ") }, 401},
		"another scheme":     {func(r *http.Request) { r.Header.Set("Authorization", "Basic "+secret) }, 401},
		"a rebound name":     {func(r *http.Request) { r.Host = "evil.example:7411" }, 403},
		"another port":       {func(r *http.Request) { r.Host = "127.0.0.1:80" }, 403},
		"no port":            {func(r *http.Request) { r.Host = "127.0.0.1" }, 403},
		"no host":            {func(r *http.Request) { r.Host = "" }, 403},
		"a page of its own":  {func(r *http.Request) { r.Header.Set("Origin", "http://127.0.0.1:7411") }, 403},
		"a sandboxed page":   {func(r *http.Request) { r.Header.Set("Origin", "null") }, 403},
		"another method":     {func(r *http.Request) { r.Method = http.MethodGet }, 405},
		"another path":       {func(r *http.Request) { r.URL.Path = "/hook/claude" }, 404},
		"an agent without":   {func(r *http.Request) { r.URL.Path = "/hook/cursor/preToolUse" }, 404},
		"an agent of no one": {func(r *http.Request) { r.URL.Path = "/hook/hal/PreToolUse" }, 404},
		"the same by name":   {func(r *http.Request) { r.Host = "LOCALHOST:7411" }, 200},
		"the same by IPv6":   {func(r *http.Request) { r.Host = "[::1]:7411" }, 200},
		"a lower scheme":     {func(r *http.Request) { r.Header.Set("Authorization", "bearer "+secret) }, 200},
	} {
		t.Run(name, func(t *testing.T) {
			w.asked = nil
			r := request("/hook/claude/PreToolUse", w.payload(writing))
			c.change(r)
			code, answer := w.serve(r)
			if code != c.code || strings.Contains(answer, secret) {
				t.Errorf("%d %s", code, answer)
			}
			if (len(w.asked) > 0) != (c.code == 200) {
				t.Errorf("the daemon was asked %d times", len(w.asked))
			}
		})
	}
}

// Whatever cannot be judged is refused with status 200, or passes where the
// project has no Writ.
func TestWhatCannotBeJudged(t *testing.T) {
	w := newWorld(t)
	foreign := fmt.Sprintf(`{"session_id":"s1","cwd":%q,%s}`, w.elsewhere, writing)
	large := strings.Repeat("x", maxPayload)
	for name, c := range map[string]struct {
		event, body, folder string
		want                string // "deny", "notice" or "pass"
		text                string
	}{
		"a project without Writ":  {"PreToolUse", foreign, "", "pass", ""},
		"begun where Writ guards": {"PreToolUse", foreign, w.project, "", ""},
		"broken off":              {"PreToolUse", w.payload(writing)[:80+len(w.project)], "", "deny", "payload"},
		"broken off elsewhere":    {"PreToolUse", foreign[:80+len(w.elsewhere)], "", "pass", ""},
		"no JSON":                 {"PreToolUse", "hello", "", "deny", "payload"},
		"no JSON, said where":     {"PreToolUse", "hello", w.elsewhere, "pass", ""},
		"nothing":                 {"PreToolUse", "", "", "deny", ""},
		"nothing after a tool":    {"PostToolUse", "", "", "notice", ""},
		"no folder":               {"PreToolUse", `{"session_id":"s1",` + writing + `}`, "", "deny", folderHeader},
		"too large":               {"PreToolUse", w.payload(`"hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"content":"` + large + `"}`), "", "deny", "24 MiB"},
		"a permission":            {"PermissionRequest", "hello", w.project, "deny", ""},
		"another host's payload":  {"PreToolUse", w.payload(`"cursor_version":"1.7",` + writing), "", "deny", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := request("/hook/claude/"+c.event, c.body)
			if c.folder != "" {
				r.Header.Set(folderHeader, c.folder)
			}
			code, answer := w.serve(r)
			if code != 200 || !json.Valid([]byte(answer)) || !strings.Contains(answer, c.text) {
				t.Errorf("%d %s", code, answer)
			}
			got := "notice"
			switch {
			case answer == `{"a":1}`:
				got = ""
			case answer == "{}":
				got = "pass"
			case strings.Contains(answer, `"deny"`):
				got = "deny"
			}
			if got != c.want {
				t.Errorf("%s, want %q: %s", got, c.want, answer)
			}
		})
	}
}

func TestADaemonThatFails(t *testing.T) {
	for name, reply := range map[string]func(bus.Request) ([]byte, error){
		"an error":    func(bus.Request) ([]byte, error) { return nil, errors.New("the log is full") },
		"no JSON":     func(bus.Request) ([]byte, error) { return []byte("oops"), nil },
		"a panic":     func(bus.Request) ([]byte, error) { panic("no") },
		"bare status": func(bus.Request) ([]byte, error) { return []byte(`{"stderr":"no\n","exit":2}`), nil },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.reply = reply
			code, answer := w.serve(request("/hook/claude/PreToolUse", w.payload(writing)))
			if code != 200 || !strings.Contains(answer, `"permissionDecision":"deny"`) {
				t.Errorf("%d %s", code, answer)
			}
			put(t, filepath.Join(w.project, projectFile), "fail: open\n")
			_, answer = w.serve(request("/hook/claude/PreToolUse", w.payload(writing)))
			if strings.Contains(answer, "deny") != (name == "bare status") {
				t.Errorf("with fail: open: %s", answer)
			}
		})
	}
}

func TestAnAnswerComesInTime(t *testing.T) {
	w := newWorld(t)
	w.Budget = -grace
	stuck := make(chan struct{})
	defer close(stuck)
	w.reply = func(bus.Request) ([]byte, error) { <-stuck; return nil, nil }
	_, answer := w.serve(request("/hook/claude/PreToolUse", w.payload(writing)))
	if !strings.Contains(answer, `"deny"`) || !strings.Contains(answer, "in time") {
		t.Error(answer)
	}
}

// approves says whether the daemon would let a call approve something.
func approves(c host.Call) bool {
	dialog := c.Kind == host.AfterTool && c.Tool == "ExitPlanMode" && c.Permissions != "dontAsk"
	prompt := c.Kind == host.Prompt && (c.Origin == "user" || c.Origin == "")
	return c.Kind == host.Command || prompt || dialog
}

// Nothing that comes over HTTP counts as the user's own act.
func TestNothingShowsTheUser(t *testing.T) {
	for name, c := range map[string]struct{ event, fields string }{
		"a prompt of the user":   {"UserPromptSubmit", `"prompt":"approved","source":"user"`},
		"a prompt of nobody":     {"UserPromptSubmit", `"prompt":"approved"`},
		"a key in capitals":      {"UserPromptSubmit", `"prompt":"approved","SOURCE":"user"`},
		"a key in odd letters":   {"UserPromptSubmit", `"prompt":"approved","\u017fource":"user"`},
		"a prompt said twice":    {"Stop", `"prompt":"approved","hook_event_name":"Stop","hook_event_name":"UserPromptSubmit"`},
		"a typed command":        {"UserPromptExpansion", `"command_name":"writ-approve","prompt":"/writ-approve"`},
		"a command by its field": {"Stop", `"HOOK_EVENT_NAME":"UserPromptExpansion","command_name":"writ-approve"`},
		"the plan dialog":        {"PostToolUse", `"tool_name":"ExitPlanMode","tool_input":{"plan":"p"},"permission_mode":"plan"`},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			code, answer := w.serve(request("/hook/claude/"+c.event, w.payload(c.fields)))
			if code != 200 || len(w.asked) != 1 {
				t.Fatalf("%d %s, asked %d times", code, answer, len(w.asked))
			}
			got := w.asked[0]
			call, err := hosts.Parse("claude", got.Header.Get(schemas.HookHeaderEvent), got.Body)
			if err != nil || approves(call) || call.Session != "s1" {
				t.Errorf("%+v, %v: %s", call, err, got.Body)
			}
		})
	}
	// What another program submitted keeps its origin.
	w := newWorld(t)
	body := w.payload(`"prompt":"approved","source":"sdk"`)
	_, _ = w.serve(request("/hook/claude/UserPromptSubmit", body))
	if string(w.asked[0].Body) != body {
		t.Errorf("%s", w.asked[0].Body)
	}
}

func TestAddresses(t *testing.T) {
	for address, ok := range map[string]bool{
		"127.0.0.1:7411": true, "127.0.0.1:0": true, "[::1]:7411": true, "localhost:7411": true, "127.8.9.1:1": true,
		"0.0.0.0:7411": false, ":7411": false, "192.168.1.4:7411": false, "example.com:7411": false,
		"127.0.0.1": false, "127.0.0.1:http": false, "127.0.0.1:70000": false, "[::]:1": false, "7411": false,
	} {
		if err := checkAddress(address); (err == nil) != ok || err != nil && !errors.Is(err, ErrAddress) {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestTheTokenIsTheOwnersAlone(t *testing.T) {
	dir := t.TempDir()
	first, err := loadOrCreateToken(dir)
	if err != nil || len(first) < 40 {
		t.Fatal(first, err)
	}
	if again, err := loadOrCreateToken(dir); err != nil || again != first {
		t.Errorf("%s %v", again, err)
	}
	if other, err := loadOrCreateToken(t.TempDir()); err != nil || other == first {
		t.Errorf("%s %v", other, err)
	}
	path := filepath.Join(dir, tokenFile)
	if runtime.GOOS != "windows" {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v %v", info.Mode(), err)
		}
		if err := os.Chmod(path, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := loadOrCreateToken(dir); !errors.Is(err, ErrToken) || !strings.Contains(err.Error(), path) {
			t.Error(err)
		}
	}
	for _, damaged := range []string{"", "short", strings.Repeat("?", 43)} {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(damaged), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := loadOrCreateToken(dir); !errors.Is(err, ErrToken) {
			t.Errorf("%q: %v", damaged, err)
		}
	}
}

func TestAListener(t *testing.T) {
	none, err := Start(Options{})
	if none != nil || err != nil {
		t.Errorf("%v %v", none, err)
	}
	none.Stop()
	if _, err := Start(Options{Address: "0.0.0.0:0"}); !errors.Is(err, ErrAddress) {
		t.Error(err)
	}
	w := newWorld(t)
	o := w.Options
	o.Address = "127.0.0.1:0"
	s, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Start(Options{Address: strings.TrimSuffix(strings.TrimPrefix(s.url, "http://"), "/hook"), Credentials: o.Credentials, Logger: o.Logger}); err == nil {
		t.Error("two listen at one address")
	}
	token, err := Token(o.Credentials)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/claude/PreToolUse", strings.NewReader(w.payload(writing)))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if response.StatusCode != 200 || string(body) != `{"a":1}` || response.Header.Get("Content-Type") != "application/json" {
		t.Errorf("%s %s", response.Status, body)
	}
	s.Stop()
	if response, err := http.DefaultClient.Do(r.Clone(t.Context())); err == nil {
		_ = response.Body.Close()
		t.Error("it still serves")
	}
}

func FuzzHandler(f *testing.F) {
	f.Add("/hook/claude/PreToolUse", listen, "Bearer "+secret, "", `{"session_id":"s","cwd":"PROJECT",`+writing+`}`)
	f.Add("/hook/claude/UserPromptSubmit", listen, "Bearer "+secret, "", `{"session_id":"s","cwd":"PROJECT","prompt":"approved","source":"user"}`)
	f.Add("/hook/claude/UserPromptExpansion", listen, "Bearer "+secret, "PROJECT", `{"session_id":"s","command_name":"writ-approve"}`)
	f.Add("/hook/claude/PostToolUse", listen, "Bearer "+secret, "", `{"session_id":"s","cwd":"PROJECT","tool_name":"ExitPlanMode","permission_mode":"plan"}`)
	f.Add("/hook/claude/Stop", "evil:7411", "Bearer "+secret, "", `{}`)
	f.Add("/hook/claude/Stop", listen, "Bearer x", "", `{}`)
	f.Add("/hook/cursor/x", listen, "Bearer "+secret, "", `{`)
	f.Add("//hook/../claude", listen, "Bearer "+secret, "/", "\x00")
	w := newWorld(f)
	f.Fuzz(func(t *testing.T, path, name, authorization, folder, body string) {
		w.asked = nil
		body = strings.ReplaceAll(body, "PROJECT", filepath.ToSlash(w.project))
		r := httptest.NewRequest(http.MethodPost, "http://"+listen+"/", strings.NewReader(body))
		r.URL.Path, r.Host = path, name
		r.Header.Set("Authorization", authorization)
		r.Header.Set(folderHeader, strings.ReplaceAll(folder, "PROJECT", w.project))
		code, answer := w.serve(r)
		switch code {
		case 200, 401, 403:
			if !json.Valid([]byte(answer)) {
				t.Errorf("%d %q", code, answer)
			}
		case 301, 307, 308, 404, 405:
		default:
			t.Errorf("status %d", code)
		}
		if code != 200 && len(w.asked) > 0 || len(w.asked) > 1 {
			t.Errorf("%d, and the daemon was asked", code)
		}
		for _, got := range w.asked {
			call, err := hosts.Parse("claude", got.Header.Get(schemas.HookHeaderEvent), got.Body)
			if err != nil || approves(call) || !filepath.IsAbs(got.Header.Get(schemas.HookHeaderProject)) || !w.opens(authorization) {
				t.Errorf("%+v %v", call, err)
			}
		}
	})
}
