//go:build browser

package browser

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// scene is a session of the pictures.
type scene struct {
	w    *world
	name string
}

func (s scene) hook(event string, payload map[string]any) string {
	payload["session_id"] = s.name
	return s.w.hook(event, payload)
}

func (s scene) says(text string) {
	if mode, found := strings.CutPrefix(text, "/writ-mode "); found {
		s.hook("UserPromptExpansion", map[string]any{"expansion_type": "slash_command", "command_name": "writ-mode", "command_args": mode, "command_source": "projectSettings", "prompt": text})
	}
	s.hook("UserPromptSubmit", map[string]any{"prompt": text, "source": "user"})
}

func (s scene) writes(name, content string) {
	call := map[string]any{"tool_name": "Write", "tool_use_id": s.name + name + content[:9], "tool_input": map[string]any{"file_path": filepath.Join(s.w.project, filepath.FromSlash(name)), "content": content}}
	if out := s.hook("PreToolUse", call); strings.Contains(out, `"deny"`) {
		return
	}
	s.w.put(name, content)
	call["tool_response"] = map[string]any{"success": true}
	s.hook("PostToolUse", call)
}

func (s scene) runs(command string) {
	s.hook("PreToolUse", map[string]any{"tool_name": "Bash", "tool_use_id": s.name + command, "tool_input": map[string]any{"command": command}})
}

const (
	storeTest = "package store\n\nimport \"testing\"\n\nfunc TestAnUnknownAddressIsNotFound(t *testing.T) {\n\tif _, err := ByAddress(nil, \"nobody@example.org\"); err != ErrNotFound {\n\t\tt.Errorf(\"ByAddress = %v, want ErrNotFound\", err)\n\t}\n}\n"
	storeCode = "package store\n\nimport \"errors\"\n\n// ErrNotFound is returned for an address that no user has.\nvar ErrNotFound = errors.New(\"store: no user has this address\")\n"
)

// TestPictures takes the screenshots of the README, of sessions as they are on
// an ordinary day.
func TestPictures(t *testing.T) {
	if os.Getenv("WRIT_TEST_PICTURES") == "" {
		t.Skip("WRIT_TEST_PICTURES names no folder for pictures; test/ci/pictures.sh does")
	}
	w := newWorld(t)
	for _, s := range []struct{ name, prompt, mode string }{
		{"1d7c02aa-cache", "Why does the cache serve old prices after a restart?", "debug"},
		{"77b0e941-review", "Review the last commit of the checkout.", "review"},
	} {
		one := scene{w, s.name}
		one.hook("SessionStart", map[string]any{"source": "startup", "model": "m"})
		one.says("/writ-mode " + s.mode)
		one.says(s.prompt)
		one.runs("git log --oneline -5")
		one.runs("echo 'package cache' > cache/prices.go")
		one.runs("sed -i 's/ttl/age/' cache/prices.go")
	}
	scene{w, "77b0e941-review"}.hook("SessionEnd", map[string]any{"reason": "prompt_input_exit"})

	users := scene{w, "5e2c1a77-users"}
	users.hook("SessionStart", map[string]any{"source": "startup", "model": "m"})
	users.says("Look users up by address in Go, with SQL.")
	users.writes("store/users.go", storeCode)
	users.writes("plan.md", plan)
	users.runs("cat plan.md | tee store/users.go")
	users.says("approved")
	users.writes("store/users.go", storeCode)
	users.writes("store/users_test.go", storeTest)
	users.says("approved")
	users.writes("store/users.go", storeCode)
	users.runs("go vet ./...")
	w.put("plan.md", plan+"- [ ] Two users with one address are an error\n")
	users.writes("store/users.go", storeCode+"\n// More.\n")

	p := newTab(t)
	keep := func(name string) {
		t.Helper()
		png, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
		if err == nil {
			err = os.WriteFile(filepath.Join(os.Getenv("WRIT_TEST_PICTURES"), name+".png"), png, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	prefers := func(scheme string) chromedp.Action[chromedp.Void] {
		return func(ctx context.Context, target *chromedp.Target) (chromedp.Void, error) {
			_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
				Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
			})
			return chromedp.Void{}, err
		}
	}
	p.do(chromedp.EmulateViewport(1200, 560), prefers("light"), chromedp.Navigate(w.link()), chromedp.WaitVisible(chromedp.CSS("main h1")))
	p.shows("of shop waits")
	p.shows("live")
	keep("overview-light")
	p.do(prefers("dark"))
	keep("overview-dark")

	p.do(chromedp.EmulateViewport(1200, 1240), goTo("#/session/"+users.name), chromedp.WaitVisible(chromedp.CSS("ol.log li")), chromedp.WaitVisible(chromedp.CSS("pre.diff .add")))
	p.shows("changed since its approval")
	keep("session-dark")
	p.do(prefers("light"))
	keep("session-light")

	p.do(chromedp.EmulateViewport(1200, 800), goTo("#/rule/HTTP-RETRY-IDEMPOTENT-001"), chromedp.WaitVisible(chromedp.CSS("svg.graph")),
		chromedp.Evaluate[chromedp.Void](`void document.querySelector('svg.graph').closest('section').scrollIntoView()`))
	keep("graph-light")

	p.do(chromedp.EmulateViewport(390, 844), prefers("dark"), goTo("#/session/"+users.name), chromedp.WaitVisible(chromedp.CSS("ol.log li")))
	p.shows("changed since its approval")
	p.do(chromedp.Evaluate[chromedp.Void](`void document.querySelector('.card.call').scrollIntoView()`))
	keep("phone-dark")
}
