//go:build browser

package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/test/programs"
)

// patience bounds what a page is waited for.
const patience = 3 * time.Minute

// world is a project under guard with its daemon.
type world struct {
	t       *testing.T
	bin     string
	project string
	env     []string
	admin   *bus.Conn
}

func TestMain(m *testing.M) { programs.Main(m) }

func newWorld(t *testing.T) *world {
	t.Helper()
	bin, err := programs.Built()
	if err != nil {
		t.Fatal(err)
	}
	data, home := t.TempDir(), t.TempDir()
	project := filepath.Join(t.TempDir(), "shop")
	if err := os.Mkdir(project, 0o755); err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, bin: bin, project: project}
	w.env = append(os.Environ(), "WRIT_HOME="+data, "HOME="+home, "WRIT_DURABILITY=interval", "WRIT_HOOK_BUDGET=9s", "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	w.run("", "up", "--detach")
	t.Cleanup(func() { w.run("", "down") })
	w.run("", "init")
	w.put(".writ/config.yaml", "mode: work\n")
	at, err := programs.Announced(data)
	if err != nil {
		t.Fatal(err)
	}
	credential, err := bus.LoadCredential(filepath.Join(data, "credentials"), "admin")
	if err != nil {
		t.Fatal(err)
	}
	w.admin, err = bus.Connect(t.Context(), bus.Options{URL: at.URL, User: credential.User, Password: credential.Password, Name: "browser test", Timeout: patience})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.admin.Close)
	return w
}

func (w *world) run(stdin string, args ...string) string {
	w.t.Helper()
	cmd := exec.Command(filepath.Join(w.bin, "writ"), args...)
	cmd.Dir, cmd.Env, cmd.Stdin = w.project, w.env, strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if err != nil && args[0] != "hook" {
		w.t.Fatalf("writ %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func (w *world) put(name, content string) {
	w.t.Helper()
	path := filepath.Join(w.project, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) hook(event string, payload map[string]any) string {
	w.t.Helper()
	if payload["session_id"] == nil {
		payload["session_id"] = session
	}
	payload["cwd"], payload["hook_event_name"] = w.project, event
	raw, err := json.Marshal(payload)
	if err != nil {
		w.t.Fatal(err)
	}
	return w.run(string(raw), "hook", "claude", event)
}

// write is a write by the agent, asked for and done.
func (w *world) write(name, content string) {
	w.t.Helper()
	input := map[string]any{"file_path": filepath.Join(w.project, filepath.FromSlash(name)), "content": content}
	out := w.hook("PreToolUse", map[string]any{"tool_name": "Write", "tool_use_id": "use-" + name, "tool_input": input})
	if strings.Contains(out, `"deny"`) {
		return
	}
	w.put(name, content)
	w.hook("PostToolUse", map[string]any{"tool_name": "Write", "tool_use_id": "use-" + name, "tool_input": input, "tool_response": map[string]any{"success": true}})
}

func (w *world) link() string {
	w.t.Helper()
	reply, err := w.admin.Request(w.t.Context(), bus.Request{Subject: schemas.SvcDash})
	if err != nil {
		w.t.Fatal(err)
	}
	var dash schemas.DashReply
	if err := json.Unmarshal(reply.Body, &dash); err != nil {
		w.t.Fatal(err)
	}
	return dash.URL
}

// tab is a page in a Chromium of its own.
type tab struct {
	t   *testing.T
	ctx context.Context
}

func newTab(t *testing.T) *tab {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.WindowSize(1280, 900))
	if path := os.Getenv("WRIT_TEST_CHROMIUM"); path != "" {
		options = append(options, chromedp.ExecPath(path))
	}
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stop)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	// The first action starts the browser, which lives as long as its context.
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil {
		t.Fatal(err)
	}
	return &tab{t, ctx}
}

func (p *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		p.fail(err)
	}
}

func (p *tab) fail(err error) {
	p.t.Helper()
	p.picture("failed")
	text, _ := chromedp.Run(p.ctx, chromedp.Evaluate[string](`document.body.innerText.slice(0, 3000)`))
	p.t.Fatalf("%v\nThe page says:\n%s", err, text)
}

// result is what a script says.
func result[T any](p *tab, script string) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	out, err := chromedp.Run(ctx, chromedp.Evaluate[T](script))
	if err != nil {
		p.t.Fatalf("%s: %v", script, err)
	}
	return out
}

// goTo opens another page of the dashboard.
func goTo(hash string) chromedp.Action[chromedp.Void] {
	return chromedp.Evaluate[chromedp.Void](fmt.Sprintf("void (location.hash = %q)", hash))
}

// dark makes the browser prefer a dark page.
func dark(ctx context.Context, target *chromedp.Target) (chromedp.Void, error) {
	_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}},
	})
	return chromedp.Void{}, err
}

// shows waits until the page says a text.
func (p *tab) shows(text string) {
	p.t.Helper()
	quoted, _ := json.Marshal(text)
	says := chromedp.Poll[chromedp.Void](fmt.Sprintf("document.body.innerText.includes(%s)", quoted), chromedp.WithPollingTimeout(patience), chromedp.WithPollingMutation())
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	err := chromedp.Do(ctx, says)
	for err != nil && ctx.Err() == nil { // a page that is being left answers with an error
		err = chromedp.Do(ctx, says)
	}
	if err != nil {
		p.fail(err)
	}
}

// picture keeps a screenshot where WRIT_TEST_PICTURES names a folder.
func (p *tab) picture(name string) {
	dir := os.Getenv("WRIT_TEST_PICTURES")
	if dir == "" {
		return
	}
	png, err := chromedp.Run(p.ctx, chromedp.FullScreenshot(100))
	if err != nil {
		p.t.Logf("no picture of %s: %v", name, err)
		return
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644); err != nil {
		p.t.Log(err)
	}
}

const (
	session = "5e2c1a77-browser"
	hostile = `<img src=x onerror="document.title='taken'"><script>document.title='taken'</script>`
	plan    = "# Plan\n\n## Files\n\n- `store/users.go` – look users up\n\n## Analysis\n\nThe handler joins strings into a query. A bound parameter keeps the address out of the statement.\n\n" +
		"## Rules Applied\n\nNo matching rules\n\n## Capabilities\n\n- [ ] An unknown address yields ErrNotFound\n"
)

// begin is a session in which a plan waits.
func (w *world) begin() {
	w.t.Helper()
	w.hook("SessionStart", map[string]any{"source": "startup", "model": "m"})
	w.hook("UserPromptSubmit", map[string]any{"prompt": "Look users up by address in Go with SQL " + hostile, "source": "user"})
	w.write("store/users.go", "package store")
	w.write("plan.md", plan)
}

func TestDashboard(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.begin()

	link := w.link()
	stranger(t, link)
	p := newTab(t)
	p.do(chromedp.Navigate(link), chromedp.WaitVisible(chromedp.CSS("main h1")))
	p.shows("The plan of")
	p.shows("wait for you")
	p.picture("sessions")

	t.Run("a link works once", func(t *testing.T) {
		other := newTab(t)
		other.do(chromedp.Navigate(link))
		other.shows("has been used")
	})

	t.Run("a page that cannot be read says why", func(t *testing.T) {
		result[string](p, `location.hash = "#/session/nope"`)
		p.do(chromedp.WaitVisible(`//main/p[contains(text(), "there is no session")]`))
		result[string](p, `window.served = fetch; window.fetch = () => Promise.reject(new Error("cut")); location.hash = "#/decisions"`)
		p.do(chromedp.WaitVisible(`//p[@id="count"][contains(text(), "Writ cannot be reached")]`))
		result[string](p, `window.fetch = window.served; location.hash = "#/"`)
	})

	p.do(chromedp.Click(`//a[text()="Look at it"]`), chromedp.WaitVisible(chromedp.CSS(".card.call .plan")))
	p.shows("An unknown address yields ErrNotFound")
	p.shows("Timeline")
	p.picture("session")

	t.Run("hostile text stays text", func(t *testing.T) {
		p.shows("<script>document.title='taken'</script>")
		title, scripts := result[string](p, "document.title"), result[int](p, `document.querySelectorAll('main script, main img').length`)
		if title == "taken" || scripts != 0 {
			t.Errorf("title %q, %d elements made of text", title, scripts)
		}
	})

	t.Run("declining reaches the agent", func(t *testing.T) {
		p.do(chromedp.SendKeys(chromedp.CSS("#why"), "Say how errors are told apart."), chromedp.Click(chromedp.CSS("button.no")))
		p.shows("You asked: Say how errors are told apart.")
		out := w.hook("PreToolUse", map[string]any{"tool_name": "Write", "tool_use_id": "u2", "tool_input": map[string]any{"file_path": filepath.Join(w.project, "a.go"), "content": "package a"}})
		if !strings.Contains(out, "Say how errors are told apart.") {
			t.Errorf("the agent is told: %s", out)
		}
	})

	t.Run("approving opens the next phase", func(t *testing.T) {
		p.do(chromedp.Click(chromedp.CSS("button.yes")))
		p.shows("dashboard · ")
		if out := w.run("", "session", "show", session, "--json"); !strings.Contains(out, `"phase":"testing"`) || !strings.Contains(out, `"channel":"dashboard"`) {
			t.Errorf("after the approval: %s", out)
		}
		w.put("plan.md", plan+"- [ ] And one more\n")
		w.hook("PreToolUse", map[string]any{"tool_name": "Write", "tool_use_id": "u3", "tool_input": map[string]any{"file_path": filepath.Join(w.project, "a.go"), "content": "package a"}})
		p.shows("changed since its approval")
		p.do(chromedp.WaitVisible(chromedp.CSS("pre.diff .add")))
		if added := result[int](p, `document.querySelectorAll('pre.diff .add').length`); added != 1 {
			t.Errorf("%d lines are shown as added since the approval, want 1", added)
		}
		p.picture("drift")
	})

	t.Run("events arrive within a second", func(t *testing.T) {
		doctor := scene{w, schemas.ProbeSession + "1"}
		doctor.writes("probe.go", "package probe")
		p.do(goTo("#/decisions"), chromedp.WaitVisible(chromedp.CSS("ol.log li")))
		p.shows("live")
		doctor.writes("probe.go", "package probe")
		began := time.Now()
		const path = "late/arrival.go"
		go w.hook("PreToolUse", map[string]any{"tool_name": "Write", "tool_use_id": "u4", "tool_input": map[string]any{"file_path": filepath.Join(w.project, path), "content": "package late"}})
		p.shows(path)
		if probes := result[int](p, `document.querySelectorAll('ol.log a[href*="`+schemas.ProbeSession+`"]').length`); probes != 0 {
			t.Errorf("%d decisions about writ doctor's probes are listed", probes)
		}
		// Stated, not asserted: a loaded machine is no fault of the page.
		t.Logf("shown %s after the hook began", time.Since(began).Round(time.Millisecond))
		p.picture("decisions")
	})

	for _, page := range []struct{ name, hash, says string }{
		{"rules", "#/rules", "TEST-SLEEP-SYNC-001"},
		{"rule", "#/rule/TEST-SLEEP-SYNC-001", "Neighbours"},
		{"retrieval", "#/retrieval", "What they cost"},
		{"memory", "#/memory", "Verdicts"},
		{"system", "#/system", "session-state"},
	} {
		t.Run(page.name, func(t *testing.T) {
			p.do(goTo(page.hash))
			p.shows(page.says)
			p.picture(page.name)
		})
	}

	helpPages(t, p)
	byKeyboard(t, p)

	t.Run("phone and dark", func(t *testing.T) {
		p.do(chromedp.EmulateViewport(390, 844), dark, goTo("#/"))
		p.shows("wait for you")
		if result[bool](p, `document.documentElement.scrollWidth > innerWidth`) {
			t.Error("the page is wider than a phone")
		}
		p.picture("phone")
		p.do(goTo("#/session/"+session), chromedp.WaitVisible(chromedp.CSS("ol.log li")))
		p.picture("phone-session")
		p.do(goTo("#/help/shell-commands"), chromedp.WaitVisible(chromedp.CSS(".help article table")))
		if result[bool](p, `document.documentElement.scrollWidth > innerWidth`) {
			t.Error("a help page is wider than a phone")
		}
		p.picture("phone-help")
	})

	t.Run("keyboard", func(t *testing.T) {
		p.do(chromedp.KeyEvent("\t"))
		if focused := result[string](p, `document.activeElement.tagName`); focused == "BODY" {
			t.Error("a tab reaches nothing")
		}
		nameless := result[[]string](p, `[...document.querySelectorAll('button, input, select, textarea, a')].filter(e => !(e.textContent.trim() || e.getAttribute('aria-label'))).map(e => e.outerHTML.slice(0, 100))`)
		if len(nameless) > 0 {
			t.Errorf("without a name for screen readers: %q", nameless)
		}
	})
}

// byKeyboard does with keys what hands do with a mouse.
func byKeyboard(t *testing.T, p *tab) {
	t.Helper()
	t.Run("a session is scrubbed by keyboard", func(t *testing.T) {
		p.do(goTo("#/session/"+session), chromedp.WaitVisible(chromedp.CSS("input[type=range]")))
		p.do(chromedp.WaitVisible(chromedp.CSS("ol.log li.now")))
		p.do(chromedp.Focus(chromedp.CSS("input[type=range]")), chromedp.KeyEvent(kb.Home))
		p.shows("After event 1 it stood:")
		if value := result[string](p, `document.querySelector('input[type=range]').getAttribute('aria-valuetext')`); !strings.HasPrefix(value, "event 1 of ") {
			t.Errorf("a screen reader says %q", value)
		}
		p.do(chromedp.KeyEvent(kb.ArrowRight))
		p.shows("After event 2 it stood:")
		p.picture("scrubbed")
	})

	t.Run("the graph is walked by keyboard", func(t *testing.T) {
		p.do(goTo("#/rule/TEST-SLEEP-SYNC-001"))
		p.shows("Neighbours")
		p.do(chromedp.WaitReady(chromedp.CSS("svg.graph a:not(.centre)")))
		next := result[string](p, `(() => { const a = document.querySelector('svg.graph a:not(.centre)'); a.focus(); return document.activeElement.getAttribute('href'); })()`)
		p.picture("graph-focus")
		p.do(chromedp.KeyEvent("\r"))
		p.shows(strings.TrimPrefix(next, "#/rule/") + " –")
		if at := result[string](p, "location.hash"); at != next || next == "" {
			t.Errorf("Enter on %q leads to %q", next, at)
		}
	})
}

// stranger sees nothing without a link's cookie.
func stranger(t *testing.T, link string) {
	t.Helper()
	root, _, _ := strings.Cut(link, "?")
	for _, path := range []string{"", "index.html", "js/main.js", "api/sessions", "api/live", "api/log?stream=WRIT_SESSIONS", "?ticket=guess"} {
		response, err := http.Get(root + path)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if response.StatusCode != http.StatusUnauthorized || strings.Contains(string(body), session) {
			t.Errorf("%q: %d: %s", path, response.StatusCode, body)
		}
	}
}
