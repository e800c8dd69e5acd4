package test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// learner is somebody who follows a tutorial, with an agent beside.
type learner struct {
	*testing.T
	project string
	env     []string
	session string
	prompts int
}

func newLearner(t *testing.T, session string) *learner {
	t.Helper()
	dir := t.TempDir()
	home, data := filepath.Join(dir, "home"), filepath.Join(dir, "data")
	l := &learner{T: t, project: filepath.Join(dir, "shop"), session: session}
	for _, made := range []string{home, l.project} {
		if err := os.MkdirAll(made, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := settle(data); err != nil { // else rules that come late stand among the events that a tutorial shows
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(data, "config.yaml"), []byte("scripts: allow\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	goEnv, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	caches := strings.Fields(string(goEnv))
	l.env = []string{
		"PATH=" + bin + string(os.PathListSeparator) + filepath.Join(caches[2], "bin") + string(os.PathListSeparator) + os.Getenv("PATH"),
		"HOME=" + home, "WRIT_HOME=" + data, "TMPDIR=" + os.TempDir(), "WRIT_DURABILITY=interval", "WRIT_HOOK_BUDGET=9s",
		"GOCACHE=" + caches[0], "GOMODCACHE=" + caches[1], "GOTOOLCHAIN=local",
		"GIT_AUTHOR_NAME=x", "GIT_AUTHOR_EMAIL=x@example.org", "GIT_COMMITTER_NAME=x", "GIT_COMMITTER_EMAIL=x@example.org",
	}
	t.Cleanup(func() { l.run("writ down") })
	l.run("git init -q . && printf 'module example.org/shop\\n\\ngo 1.26\\n' >go.mod && git add -A && git commit -qm first")
	return l
}

// run runs a line as the tutorial has it, and returns what it prints.
func (l *learner) run(line string) string {
	c := exec.Command("sh", "-c", line)
	c.Dir, c.Env = l.project, l.env
	out, err := c.CombinedOutput()
	if err != nil {
		l.Errorf("%s: %v\n%s", line, err, out)
	}
	return string(out)
}

// hook is what the agent's host sends. A refusal is an answer.
func (l *learner) hook(event string, payload map[string]any) string {
	payload["session_id"], payload["cwd"], payload["hook_event_name"], payload["permission_mode"] = l.session, l.project, event, "default"
	raw, err := json.Marshal(payload)
	if err != nil {
		l.Fatal(err)
	}
	c := exec.Command(filepath.Join(bin, "writ"), "hook", "claude", event)
	c.Dir, c.Env, c.Stdin = l.project, l.env, strings.NewReader(string(raw))
	out, _ := c.CombinedOutput() // its status is part of the answer
	return string(out)
}

func (l *learner) says(text string) {
	l.prompts++
	l.hook("UserPromptSubmit", map[string]any{"prompt": text, "prompt_id": fmt.Sprint("p-", l.prompts), "source": "user"})
}

// writes is a write by the agent, which happens where it is allowed.
func (l *learner) writes(path, content string) {
	call := map[string]any{"tool_name": "Write", "tool_use_id": path, "tool_input": map[string]any{"file_path": filepath.Join(l.project, path), "content": content}}
	if strings.Contains(l.hook("PreToolUse", call), `"deny"`) {
		return
	}
	if err := os.WriteFile(filepath.Join(l.project, path), []byte(content), 0o600); err != nil {
		l.Fatal(err)
	}
	call["tool_response"] = map[string]any{"success": true}
	l.hook("PostToolUse", call)
}

func (l *learner) begins() {
	l.hook("SessionStart", map[string]any{"source": "startup"})
	l.says("Add a function that totals the prices of a cart")
	l.writes("shop.go", "package shop\n")
}

func (l *learner) plans() {
	l.run("writ mode set work --session " + l.session)
	l.writes("plan.md", "# Totals\n\n## Files\n- shop.go: Total\n- shop_test.go\n\n## Analysis\nTotal adds the prices of a cart, which are cents.\n\n## Rules Applied\nNo matching rules\n\n## Capabilities\n- [ ] The prices of a cart are added up\n")
	l.hook("Stop", map[string]any{})
}

func (l *learner) tests() {
	l.writes("shop_test.go", "package shop\n\nimport \"testing\"\n\nfunc TestTotal(t *testing.T) {\n\tif got := Total(1, 2); got != 3 {\n\t\tt.Errorf(\"%d, want 3\", got)\n\t}\n}\n")
	l.hook("Stop", map[string]any{})
	l.says("approved")
}

func (l *learner) builds() {
	l.writes("shop.go", "package shop\n\nfunc Total(cents ...int) (sum int) {\n\tfor _, c := range cents {\n\t\tsum += c\n\t}\n\treturn sum\n}\n")
	l.hook("Stop", map[string]any{})
}

var (
	tutorialFile = regexp.MustCompile("(?ms)^```[a-z]+ file=(\\S+)\n(.*?)^```$")
	console      = regexp.MustCompile("(?ms)^```console\n(.*?)^```$")
)

// TestTutorials follows each tutorial line by line. What an agent and its user do
// between the lines is done before the block of that number.
func TestTutorials(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the lines of the tutorials are for a POSIX shell")
	}
	nothing := func(*learner) {}
	approved := func(l *learner) { l.says("approved") }
	for file, between := range map[string][]func(*learner){
		"../cmd/writ/help/first-hour.md":     {nothing, (*learner).begins, (*learner).plans, approved, (*learner).tests, (*learner).builds},
		"../retrieval/help/writing-rules.md": {nothing, nothing, nothing, nothing},
		"../bus/help/reading-the-log.md":     {func(l *learner) { l.run("writ init --agent claude"); l.begins(); l.plans(); l.says("approved") }, nothing, nothing, nothing, nothing},
	} {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			l, text := newLearner(t, "first-hour"), strings.ReplaceAll(string(raw), "\r\n", "\n")
			for _, f := range tutorialFile.FindAllStringSubmatch(text, -1) {
				if err := os.WriteFile(filepath.Join(l.project, f[1]), []byte(f[2]), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			blocks := console.FindAllStringSubmatch(text, -1)
			if len(blocks) != len(between) {
				t.Fatalf("%d blocks of commands, %d acts between them", len(blocks), len(between))
			}
			for i, block := range blocks {
				between[i](l)
				l.follows(block[1])
			}
		})
	}
}

// follows runs the lines of a block that begin with a prompt, and looks for the lines
// below each in what it printed.
func (l *learner) follows(block string) {
	for one := range strings.SplitSeq("\n"+strings.TrimSpace(block), "\n$ ") {
		line, shown, _ := strings.Cut(one, "\n")
		if line == "" {
			continue
		}
		out := l.run(line)
		rest := strings.Split(squeezed(out), "\n")
		for want := range strings.Lines(shown) {
			pattern := regexp.MustCompile(strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSpace(squeezed(want))), "…", ".*"))
			at := 0
			for at < len(rest) && !pattern.MatchString(rest[at]) {
				at++
			}
			if at == len(rest) {
				l.Errorf("%s shows no %q where the tutorial does:\n%s", line, strings.TrimSpace(want), out)
				break
			}
			rest = rest[at+1:]
		}
	}
}

// squeezed is a text with one space where there are several.
func squeezed(text string) string { return regexp.MustCompile(` +`).ReplaceAllString(text, " ") }
