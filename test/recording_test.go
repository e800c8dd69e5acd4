package test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/creack/pty"
)

// Size of the recorded terminal.
const (
	columns = 92
	rows    = 30
)

// moment is something the terminal shows, and when it does.
type moment struct {
	at   time.Duration
	text string
}

// recorder plays a session: a person at a terminal of its own, and an agent
// whose calls go through the hooks' processes. What programs say is theirs; how
// long somebody types and reads is set, so that two recordings differ by what
// they show alone.
type recorder struct {
	t             *testing.T
	home, project string
	env           []string
	now           time.Duration
	moments       []moment
	tools         int
	prompts       int
}

const recordedSession = "shop-retry"

func newRecorder(t *testing.T) *recorder {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{t: t, home: home, project: filepath.Join(home, "shop")}
	if err := os.MkdirAll(r.project, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if !strings.HasPrefix(name, "WRIT_") && name != "NO_COLOR" {
			r.env = append(r.env, v)
		}
	}
	r.env = append(r.env, "HOME="+home, "WRIT_HOME="+filepath.Join(home, ".local/state/writ"), "WRIT_DURABILITY=interval", "WRIT_HOOK_BUDGET=9s",
		"TERM=xterm-256color", "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "CLAUDE_CODE_SESSION_ID="+recordedSession)
	// A checkpoint that falls due meanwhile, on a slow machine, would be counted.
	settings := filepath.Join(home, ".local/state/writ/config.yaml")
	if err := os.MkdirAll(filepath.Dir(settings), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(settings, []byte("audit_every: 1h\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := r.writ("up", "--detach").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Cleanup(func() { _ = r.writ("down").Run() })
	// A first search loads what the others have at hand.
	if out, err := r.writ("query", "anything").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return r
}

func (r *recorder) writ(args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(bin, "writ"), args...)
	cmd.Dir, cmd.Env = r.project, r.env
	if len(args) > 0 && slices.Contains([]string{"up", "down", "init"}, args[0]) {
		// Below an agent, whose session the variable names, they are refused.
		cmd.Env = append(slices.Clone(r.env), "CLAUDE_CODE_SESSION_ID=")
	}
	return cmd
}

func (r *recorder) wait(d time.Duration) { r.now += d }

// show puts text on the terminal, with the folder of the recording called home.
func (r *recorder) show(text string) {
	text = strings.ReplaceAll(strings.ReplaceAll(text, r.home, "~"), "\r\n", "\n")
	for line := range strings.Lines(text) {
		r.moments = append(r.moments, moment{r.now, strings.ReplaceAll(line, "\n", "\r\n")})
		r.wait(45 * time.Millisecond)
	}
}

// person types a command, which runs on a pseudo-terminal.
func (r *recorder) person(args ...string) {
	r.t.Helper()
	r.show("\x1b[32m$\x1b[0m ")
	line := "writ"
	for _, a := range args {
		if strings.ContainsAny(a, " ") {
			a = `"` + a + `"`
		}
		line += " " + a
	}
	for _, c := range line {
		r.show(string(c))
	}
	r.wait(300 * time.Millisecond)
	r.show("\n")
	cmd := r.writ(args...)
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: rows, Cols: columns})
	if errors.Is(err, pty.ErrUnsupported) {
		r.t.Skipf("this system gives no pseudo-terminal: %v", err)
	}
	if err != nil {
		r.t.Fatal(err)
	}
	out, _ := io.ReadAll(terminal) // the end of a terminal is an error
	_ = terminal.Close()
	if err := cmd.Wait(); err != nil {
		r.t.Fatalf("%s: %v\n%s", line, err, out)
	}
	r.show(string(out))
	r.show("\n")
	r.wait(1500 * time.Millisecond)
}

// note says what is not seen in the terminal.
func (r *recorder) note(text string) {
	r.show("\x1b[2m# " + text + "\x1b[0m\n")
	r.wait(700 * time.Millisecond)
}

// hook runs a hook as the host does.
func (r *recorder) hook(event string, payload map[string]any) (reason string, context string) {
	r.t.Helper()
	payload["session_id"], payload["cwd"], payload["hook_event_name"], payload["permission_mode"] = recordedSession, r.project, event, "default"
	raw, err := json.Marshal(payload)
	if err != nil {
		r.t.Fatal(err)
	}
	cmd := r.writ("hook", "claude", event)
	cmd.Stdin = bytes.NewReader(raw)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		r.t.Fatal(err)
	}
	var reply struct {
		Specific struct {
			Decision string `json:"permissionDecision"`
			Reason   string `json:"permissionDecisionReason"`
			Context  string `json:"additionalContext"`
		} `json:"hookSpecificOutput"`
	}
	if err := json.Unmarshal(out, &reply); len(bytes.TrimSpace(out)) > 0 && err != nil {
		r.t.Fatalf("%s: %v\n%s", event, err, out)
	}
	if reply.Specific.Decision == "deny" {
		return reply.Specific.Reason, reply.Specific.Context
	}
	return "", reply.Specific.Context
}

// shown lists the rules that the session was shown so far.
func (r *recorder) shown() []string {
	r.t.Helper()
	out, err := r.writ("session", "show", recordedSession, "--json").Output()
	if err != nil {
		r.t.Fatal(err)
	}
	var view struct {
		Shown []string `json:"shown"`
	}
	if err := json.Unmarshal(out, &view); err != nil {
		r.t.Fatalf("%v\n%s", err, out)
	}
	return view.Shown
}

// approves is the user's word; the hook tells the agent what it opened.
func (r *recorder) approves() {
	r.t.Helper()
	what, _, _ := strings.Cut(r.says("approved"), "\n")
	if !strings.HasPrefix(what, "The user approved") {
		r.t.Fatalf("nothing was approved: %q", what)
	}
	r.result(true, what)
}

// says is a prompt of the user; it returns what the hook adds to it.
func (r *recorder) says(text string) string {
	r.t.Helper()
	r.show("\x1b[1myou\x1b[0m    " + text + "\n")
	r.wait(900 * time.Millisecond)
	r.prompts++
	_, context := r.hook("UserPromptSubmit", map[string]any{"prompt": text, "prompt_id": fmt.Sprint("p-", r.prompts), "source": "user"})
	return context
}

// result is what came of something, below it.
func (r *recorder) result(good bool, text string) {
	mark, colour := "✓", "32"
	if !good {
		mark, colour = "✗", "31"
	}
	for i, line := range wrapped(text, columns-9) {
		if i == 0 {
			r.show("       \x1b[" + colour + "m" + mark + "\x1b[0m " + line + "\n")
		} else {
			r.show("         " + line + "\n")
		}
	}
	r.wait(900 * time.Millisecond)
}

// wrapped breaks a text at its blanks.
func wrapped(text string, width int) []string {
	lines := []string{""}
	for _, word := range strings.Fields(text) {
		line := &lines[len(lines)-1]
		switch {
		case *line == "":
			*line = word
		case len(*line)+1+len(word) <= width:
			*line += " " + word
		default:
			lines = append(lines, word)
		}
	}
	return lines
}

// writes is a write that the agent asks for, and makes where it may.
func (r *recorder) writes(name, content string, want bool) {
	r.t.Helper()
	r.tools++
	r.show("\x1b[35magent\x1b[0m  Write " + name + "\n")
	r.wait(500 * time.Millisecond)
	call := map[string]any{
		"tool_name": "Write", "tool_use_id": fmt.Sprint("use-", r.tools),
		"tool_input": map[string]any{"file_path": filepath.Join(r.project, name), "content": content},
	}
	reason, _ := r.hook("PreToolUse", call)
	if (reason == "") != want {
		r.t.Fatalf("writing %s: refused with %q, want allowed: %v", name, reason, want)
	}
	if reason != "" {
		r.result(false, reason)
		return
	}
	if err := os.WriteFile(filepath.Join(r.project, name), []byte(content), 0o644); err != nil {
		r.t.Fatal(err)
	}
	call["tool_response"] = map[string]any{"success": true}
	r.hook("PostToolUse", call)
	r.result(true, "allowed")
}

const (
	recordedPlan = "# Plan: retry payments\n\n## Files\n\n- `retry.go` – new: repeats a request a bounded number of times\n- `retry_test.go` – new: success after failures, and giving up\n\n" +
		"## Analysis\n\nA payment request fails now and then with a 503. It carries an idempotency key, so repeating it is safe. Attempts are bounded and the pause between them grows.\n\n" +
		"## Rules Applied\n\n%s\n\n## Capabilities\n\n- [ ] A request that succeeds at a later attempt succeeds\n- [ ] A request that keeps failing ends with the last reason\n"
	recordedTests = "package shop\n\nimport (\n\t\"errors\"\n\t\"testing\"\n)\n\nfunc TestRetryEndsWithTheFirstSuccess(t *testing.T) {\n\tcalls := 0\n\terr := Retry(5, func(int) {}, func() error {\n\t\tif calls++; calls < 3 {\n\t\t\treturn errors.New(\"503\")\n\t\t}\n\t\treturn nil\n\t})\n\tif err != nil || calls != 3 {\n\t\tt.Fatalf(\"Retry = %v after %d calls\", err, calls)\n\t}\n}\n"
	recordedCode  = "package shop\n\nimport \"fmt\"\n\n// Retry repeats a request that is safe to repeat.\nfunc Retry(attempts int, wait func(int), send func() error) error {\n\tvar err error\n\tfor i := range attempts {\n\t\tif err = send(); err == nil {\n\t\t\treturn nil\n\t\t}\n\t\twait(i)\n\t}\n\treturn fmt.Errorf(\"after %d attempts: %w\", attempts, err)\n}\n"
)

// play is the session that the README shows.
func (r *recorder) play() {
	r.person("init")
	r.person("query", "retry a payment request", "--limit", "2")

	r.hook("SessionStart", map[string]any{"source": "startup", "model": "m"})
	r.note("A session of Claude Code. What is said after ✓ and ✗ is what its hooks answer.")
	before := r.shown()
	r.says("Add a retry with backoff to the payment request in Go.")
	ids := slices.DeleteFunc(r.shown(), func(id string) bool { return slices.Contains(before, id) })
	r.result(true, "with the prompt comes "+strings.Join(ids, ", "))
	r.writes("retry.go", recordedCode, false)
	r.says("/writ-mode work")
	r.hook("UserPromptExpansion", map[string]any{"expansion_type": "slash_command", "command_name": "writ-mode", "command_args": "work", "command_source": "projectSettings", "prompt": "/writ-mode work"})
	r.wait(400 * time.Millisecond)
	r.writes("plan.md", fmt.Sprintf(recordedPlan, "- "+strings.Join(ids, "\n- ")), true)
	r.writes("retry.go", recordedCode, false)
	r.approves()
	r.writes("retry_test.go", recordedTests, true)
	r.approves()
	r.writes("retry.go", recordedCode, true)
	r.show("\n")
	r.person("session", "audit")
	r.person("audit", "verify", "--stream", "sessions")
	r.wait(2 * time.Second)
}

// masks take out what two true recordings may differ in: ids, times, sizes,
// figures, and blanks that a longer one of them takes.
var masks = []struct {
	what *regexp.Regexp
	as   string
}{
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "ID"},
	{regexp.MustCompile(`\b[0-9a-f]{8,64}\b`), "HASH"},
	{regexp.MustCompile(`\b\d{4}-\d\d-\d\d\b`), "DATE"},
	{regexp.MustCompile(`\b\d\d:\d\d(:\d\d)?(\.\d+)?\b`), "TIME"},
	{regexp.MustCompile(`\b\d[\d,]*(\.\d+)? ?(µs|ms|s|min|h|B|KiB|MiB)\b`), "N"},
	{regexp.MustCompile(`\b\d[\d,]*(\.\d+)?\b`), "N"},
	{regexp.MustCompile(`[ \t]+`), " "},
}

// told is what a recording says, with what may differ masked.
func told(text string) string {
	text = strings.ReplaceAll(ansi.Strip(text), "\r\n", "\n")
	for _, m := range masks {
		text = m.what.ReplaceAllString(text, m.as)
	}
	return strings.Join(strings.Fields(text), " ") // figures of other widths break lines elsewhere
}

// TestTheRecordingIsTrue plays the session of the README's recording and
// compares what it says with what is recorded. test/ci/pictures.sh records it
// anew: into the folder that WRIT_TEST_PICTURES names.
func TestTheRecordingIsTrue(t *testing.T) {
	t.Parallel()
	r := newRecorder(t)
	r.play()
	if dir := os.Getenv("WRIT_TEST_PICTURES"); dir != "" {
		for name, content := range map[string][]byte{"session.cast": asciicast(t, r.moments), "session.svg": animation(r.moments)} {
			if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		return
	}
	recorded, err := os.ReadFile(filepath.Join("pictures", "session.cast"))
	if err != nil {
		t.Fatal(err)
	}
	was := ""
	for line := range bytes.Lines(recorded) {
		var event []any
		if json.Unmarshal(line, &event) == nil && len(event) == 3 {
			was += fmt.Sprint(event[2])
		}
	}
	is := ""
	for _, m := range r.moments {
		is += m.text
	}
	if told(was) != told(is) {
		t.Errorf("the recording in the README is no longer what happens; look at the difference, then test/ci/pictures.sh records it anew.\nrecorded:\n%s\nnow:\n%s", told(was), told(is))
	}
}
