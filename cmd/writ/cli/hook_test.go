package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/cmd/internal/launch"
	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/enforcement/host"
	"github.com/writbus/writ/schemas"
)

// script answers the requests of a client, one entry after the other; the last
// one stays.
type script struct {
	answers []func(context.Context, bus.Request) (bus.Reply, error)
	asked   []bus.Request
	roles   []string
	starts  atomic.Int32
	startup error // of starting the daemon
}

func (s *script) Request(ctx context.Context, r bus.Request) (bus.Reply, error) {
	s.asked = append(s.asked, r)
	return s.answers[min(len(s.asked), len(s.answers))-1](ctx, r)
}

func (s *script) Close() {}

func answer(body string) func(context.Context, bus.Request) (bus.Reply, error) {
	return func(context.Context, bus.Request) (bus.Reply, error) { return bus.Reply{Body: []byte(body)}, nil }
}

func fails(err error) func(context.Context, bus.Request) (bus.Reply, error) {
	return func(context.Context, bus.Request) (bus.Reply, error) { return bus.Reply{}, err }
}

func never(ctx context.Context, _ bus.Request) (bus.Reply, error) {
	<-ctx.Done()
	return bus.Reply{}, fmt.Errorf("%w: %w", bus.ErrUnavailable, ctx.Err())
}

// world is a project (unless guarded is false), a data folder with an
// announced daemon, and the script that plays it. Its hooks have the longest
// budget there is, so that a loaded machine changes no answer.
func world(t testing.TB, guarded bool, settings string, s *script) (client.Env, string) {
	t.Helper()
	root, data := t.TempDir(), t.TempDir()
	if guarded {
		writeFile(t, filepath.Join(root, ".writ", "config.yaml"), settings)
		acceptOpen(t, data, root, settings == "fail: open\n")
	}
	if err := config.WriteEndpoint(data, config.Endpoint{URL: "nats://127.0.0.1:1", PID: os.Getpid()}); err != nil {
		t.Fatal(err)
	}
	return client.Env{
		Vars: []string{"WRIT_HOME=" + data, config.HookBudgetVar + "=9s"}, Dir: root, Home: "/home/dev", Executable: filepath.Join(data, "writ"), Now: time.Now,
		Connect: func(_ context.Context, _ config.Endpoint, _, role string) (client.Service, error) {
			s.roles = append(s.roles, role)
			return s, nil
		},
		Start: func(context.Context, launch.Options) (config.Endpoint, error) {
			s.starts.Add(1)
			return config.Endpoint{URL: "nats://127.0.0.1:2"}, s.startup
		},
	}, root
}

// acceptOpen is what the daemon notes of settings that a person accepted.
func acceptOpen(t testing.TB, data, root string, open bool) {
	t.Helper()
	if err := config.NoteOpen(data, root, open); err != nil {
		t.Fatal(err)
	}
}

func writeFile(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func toolCall(root, tool string) string {
	raw, _ := json.Marshal(map[string]any{
		"session_id": "s", "cwd": root, "hook_event_name": "PreToolUse", "tool_name": tool,
		"tool_input": map[string]any{"file_path": filepath.Join(root, "a.go")},
	})
	return string(raw)
}

func runHookOf(env client.Env, stdin io.Reader, args ...string) schemas.HookReply {
	var out, problems bytes.Buffer
	code := Run(context.Background(), append([]string{"hook"}, args...), stdin, &out, &problems, env)
	return schemas.HookReply{Stdout: out.String(), Stderr: problems.String(), Exit: code}
}

func message(t *testing.T, r schemas.HookReply) string {
	t.Helper()
	var out struct {
		Message string `json:"systemMessage"`
	}
	if err := json.Unmarshal([]byte(r.Stdout), &out); err != nil {
		t.Fatalf("stdout is not JSON: %q", r.Stdout)
	}
	return out.Message
}

// mustDeny checks every part of a refusal.
func mustDeny(t *testing.T, r schemas.HookReply, parts ...string) {
	t.Helper()
	reason, denied := host.Refusal(r)
	if !denied || r.Exit != 2 || strings.TrimSpace(r.Stderr) != reason {
		t.Fatalf("not a whole refusal: exit %d, stdout %q, stderr %q", r.Exit, r.Stdout, r.Stderr)
	}
	if n := len([]rune(reason)); n > 600 {
		t.Errorf("the reason has %d characters", n)
	}
	for _, part := range parts {
		if !strings.Contains(reason, part) {
			t.Errorf("the reason lacks %q: %s", part, reason)
		}
	}
}

type closedPipe struct{}

func (closedPipe) Write([]byte) (int, error) { return 0, syscall.EPIPE }

// TestAnAnswerThatIsNotHeardRefuses: some hosts take a refusal from standard
// output alone.
func TestAnAnswerThatIsNotHeardRefuses(t *testing.T) {
	s := &script{answers: []func(context.Context, bus.Request) (bus.Reply, error){answer(`{"stdout":"{\"decision\":\"deny\"}\n"}`)}}
	env, root := world(t, true, "", s)
	payload := strings.ReplaceAll(hostCalls["gemini"].writes, "ROOT", root)
	if code := Run(context.Background(), []string{"hook", "gemini", "BeforeTool"}, strings.NewReader(payload), closedPipe{}, io.Discard, env); code != 2 {
		t.Errorf("exit %d", code)
	}
}

func TestHookOutsideAProjectTouchesNothing(t *testing.T) {
	for _, payload := range []string{"", "{", toolCall("/nowhere", "Write"), strings.Repeat("x", 1<<20)} {
		s := &script{answers: []func(context.Context, bus.Request) (bus.Reply, error){answer(`{}`)}}
		env, _ := world(t, false, "", s)
		r := runHookOf(env, strings.NewReader(payload), "claude", "PreToolUse")
		if r != (schemas.HookReply{}) || len(s.roles) > 0 || s.starts.Load() > 0 {
			t.Errorf("payload %.20q: %+v, connected %v, started %d", payload, r, s.roles, s.starts.Load())
		}
	}
}

func TestHookPassesPayloadAndAnswerThrough(t *testing.T) {
	s := &script{answers: []func(context.Context, bus.Request) (bus.Reply, error){answer(`{"stdout":"out\n","stderr":"err\n","exit":2}`)}}
	env, root := world(t, true, "", s)
	payload := toolCall(root, "Edit") + "\n"
	r := runHookOf(env, strings.NewReader(payload), "claude", "Stop")
	if r != (schemas.HookReply{Stdout: "out\n", Stderr: "err\n", Exit: 2}) {
		t.Fatalf("answer = %+v", r)
	}
	asked := s.asked[0]
	if string(asked.Body) != payload || asked.Subject != schemas.SvcHook || s.roles[0] != client.RoleHook {
		t.Fatalf("asked %+v as %v", asked, s.roles)
	}
	for name, want := range map[string]string{
		schemas.HookHeaderAgent: "claude", schemas.HookHeaderEvent: "PreToolUse", schemas.HookHeaderDir: root,
		schemas.HookHeaderProject: root, schemas.HookHeaderHome: "/home/dev",
	} {
		if got := asked.Header.Get(name); got != want {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
}

func TestHookFindsTheProjectAbove(t *testing.T) {
	s := &script{answers: []func(context.Context, bus.Request) (bus.Reply, error){answer(`{}`)}}
	env, root := world(t, true, "", s)
	elsewhere := t.TempDir()
	deep := filepath.Join(root, "a", "b")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(elsewhere, "link")
	if err := os.Symlink(deep, link); err != nil {
		t.Logf("no links on this system: %v", err)
		link = deep
	}
	for name, c := range map[string]struct{ cwd, variable, dir string }{
		"payload":           {deep, "", elsewhere},
		"payload by a link": {link, "", elsewhere},
		"variable":          {elsewhere, root, elsewhere},
		"process":           {elsewhere, "", deep},
		"relative payload":  {"a", "", root},
	} {
		s.asked = nil
		env := env
		env.Dir = c.dir
		env.Vars = append([]string{"CLAUDE_PROJECT_DIR=" + c.variable}, env.Vars...)
		runHookOf(env, strings.NewReader(toolCall(c.cwd, "Write")), "claude")
		real, _ := filepath.EvalSymlinks(root)
		if len(s.asked) != 1 || (s.asked[0].Header.Get(schemas.HookHeaderProject) != root && s.asked[0].Header.Get(schemas.HookHeaderProject) != real) {
			t.Errorf("%s: asked %+v", name, s.asked)
		}
	}
}

func TestHookFailsClosedForWhatWrites(t *testing.T) {
	for _, tool := range []string{"Write", "Edit", "MultiEdit", "NotebookEdit", "Bash", "PowerShell", "Monitor", "mcp__files__put", ""} {
		s := &script{startup: launch.ErrNoBinary, answers: []func(context.Context, bus.Request) (bus.Reply, error){fails(bus.ErrUnavailable)}}
		env, root := world(t, true, "", s)
		r := runHookOf(env, strings.NewReader(toolCall(root, tool)), "claude", "PreToolUse")
		mustDeny(t, r, "could not be started", "writd is neither beside writ", "writ doctor", "fail: open", tool)
	}
}

func TestHookLetsOtherEventsPassAndSaysSo(t *testing.T) {
	for _, payload := range []string{
		`{"hook_event_name":"Stop","cwd":"ROOT"}`, `{"hook_event_name":"SessionStart","cwd":"ROOT"}`,
		`{"hook_event_name":"PostToolUse","tool_name":"Write","cwd":"ROOT"}`, `{"hook_event_name":"Brandnew","cwd":"ROOT"}`,
		`{"hook_event_name":"PreToolUse","tool_name":"Read","cwd":"ROOT"}`, `{"hook_event_name":"PermissionRequest","tool_name":"Bash","cwd":"ROOT"}`,
	} {
		s := &script{startup: errors.New("broken"), answers: []func(context.Context, bus.Request) (bus.Reply, error){fails(bus.ErrUnavailable)}}
		env, root := world(t, true, "", s)
		raw, _ := json.Marshal(root)
		r := runHookOf(env, strings.NewReader(strings.ReplaceAll(payload, `"ROOT"`, string(raw))), "claude")
		if r.Exit != 0 || r.Stderr != "" || !strings.Contains(message(t, r), "Writ did not see") || !strings.Contains(message(t, r), "writ doctor") {
			t.Errorf("%s: %+v", payload, r)
		}
	}
}

func TestHookFailModes(t *testing.T) {
	for settings, open := range map[string]bool{"": false, "fail: closed\n": false, "fail: open\n": true, "fail: opne\n": false, "fial: open\n": false} {
		s := &script{startup: launch.ErrDied, answers: []func(context.Context, bus.Request) (bus.Reply, error){fails(bus.ErrUnavailable)}}
		env, root := world(t, true, settings, s)
		r := runHookOf(env, strings.NewReader(toolCall(root, "Write")), "claude")
		if !open {
			mustDeny(t, r, "fail: open")
			continue
		}
		if r.Exit != 0 || !strings.Contains(message(t, r), "could NOT judge") {
			t.Errorf("%q: %+v", settings, r)
		}
	}
}

func TestHookFailsClosedWhereTheSessionsProjectDoes(t *testing.T) {
	s := &script{startup: launch.ErrDied, answers: []func(context.Context, bus.Request) (bus.Reply, error){fails(bus.ErrUnavailable)}}
	env, started := world(t, true, "fail: closed\n", s)
	made := t.TempDir()
	writeFile(t, filepath.Join(made, ".writ", "config.yaml"), "fail: open\n")
	mustDeny(t, runHookOf(env, strings.NewReader(toolCall(made, "Write")), "claude"))
	data, err := env.DataDir()
	if err != nil {
		t.Fatal(err)
	}
	acceptOpen(t, data, made, true)
	if r := runHookOf(env, strings.NewReader(toolCall(made, "Write")), "claude"); r.Exit != 0 {
		t.Fatalf("on its own: %+v", r)
	}
	env.Vars = append(env.Vars, "CLAUDE_PROJECT_DIR="+started)
	mustDeny(t, runHookOf(env, strings.NewReader(toolCall(made, "Write")), "claude"))
}

func TestHookStartsTheDaemonAndAsksAgain(t *testing.T) {
	for name, first := range map[string]error{
		"gone": bus.ErrUnavailable, "stale credentials": bus.ErrBadCredentials, "closing": bus.ErrClosed,
		"not ready": &bus.ServiceError{Code: schemas.CodeNotReady, Text: "a view is being built"},
	} {
		s := &script{answers: []func(context.Context, bus.Request) (bus.Reply, error){
			fails(fmt.Errorf("request: %w", first)), fails(bus.ErrUnavailable), answer(`{"exit":2,"stderr":"no"}`),
		}}
		env, root := world(t, true, "", s)
		r := runHookOf(env, strings.NewReader(toolCall(root, "Write")), "claude")
		if r.Exit != 2 || r.Stderr != "no" || s.starts.Load() != 2 || len(s.asked) != 3 {
			t.Errorf("%s: %+v after %d starts and %d questions", name, r, s.starts.Load(), len(s.asked))
		}
	}
}

func TestHookDoesNotRepeatWhatWasAnswered(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(context.Context, bus.Request) (bus.Reply, error)
		reason string
	}{
		"internal error": {fails(&bus.ServiceError{Code: schemas.CodeInternal, Text: "no space left for the log"}), "no space left for the log"},
		"bad request":    {fails(&bus.ServiceError{Code: schemas.CodeBadRequest, Text: "no such agent"}), "no such agent"},
		"too large":      {fails(fmt.Errorf("request: %w", bus.ErrTooLarge)), "larger than the daemon accepts"},
		"not permitted":  {fails(bus.ErrDenied), "not permitted"},
		"text":           {answer("hello"), "cannot be read"},
		"nothing":        {answer(""), "cannot be read"},
		"null":           {answer("null"), "cannot be read"},
		"list":           {answer("[]"), "cannot be read"},
		"wrong shape":    {answer(`{"exit":"two"}`), "cannot be read"},
		"cut off":        {answer(`{"stdout":"x"`), "cannot be read"},
		"exit code 1":    {answer(`{"exit":1}`), "exit code 1"},
		"exit code 127":  {answer(`{"exit":127}`), "exit code 127"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &script{answers: []func(context.Context, bus.Request) (bus.Reply, error){c.answer}}
			env, root := world(t, true, "", s)
			r := runHookOf(env, strings.NewReader(toolCall(root, "Bash")), "claude")
			mustDeny(t, r, c.reason)
			if len(s.asked) != 1 || s.starts.Load() != 0 {
				t.Errorf("asked %d times, started %d", len(s.asked), s.starts.Load())
			}
		})
	}
}

func TestHookJudgesBrokenPayloadsByTheirEvent(t *testing.T) {
	for name, c := range map[string]struct{ payload, reason string }{
		"empty":     {"", "the payload is empty"},
		"cut off":   {`{"hook_event_name":"PreToolUse","tool_na`, "not a JSON object"},
		"no object": {`["PreToolUse"]`, "not a JSON object"},
		"null":      {"null", "not a JSON object"},
		"binary":    {"\x00\xff\xfe", "not a JSON object"},
		"too large": {`{"x":"` + strings.Repeat("a", client.MaxPayload), "larger than 24 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // where reading takes none of the budget
				s := &script{answers: []func(context.Context, bus.Request) (bus.Reply, error){answer(`{}`)}}
				env, _ := world(t, true, "", s)
				mustDeny(t, runHookOf(env, strings.NewReader(c.payload), "claude", "PreToolUse"), c.reason)
				mustDeny(t, runHookOf(env, strings.NewReader(c.payload), "claude"), c.reason)
				r := runHookOf(env, strings.NewReader(c.payload), "claude", "UserPromptSubmit")
				if r.Exit != 0 || !strings.Contains(message(t, r), c.reason) {
					t.Errorf("as a prompt: %+v", r)
				}
				if len(s.asked) > 0 {
					t.Error("the daemon was asked")
				}
			})
		})
	}
}

// TestHookSeesWhatIsTooLarge: of a payload above the limit a prompt and a tool's
// result are seen, shortened; what asks for a write is refused.
func TestHookSeesWhatIsTooLarge(t *testing.T) {
	vast := strings.Repeat("a", client.MaxPayload)
	for name, c := range map[string]struct {
		fields map[string]any
		denied bool
	}{
		"a prompt":      {fields: map[string]any{"hook_event_name": "UserPromptSubmit", "prompt": vast}},
		"a long prompt": {fields: map[string]any{"session_id": "s1", "hook_event_name": "UserPromptSubmit", "prompt": vast[:18<<20]}},
		"a result":      {fields: map[string]any{"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": map[string]any{"command": "ls"}, "tool_response": map[string]any{"stdout": []string{"x", vast}}}},
		"a write":       {fields: map[string]any{"hook_event_name": "PreToolUse", "tool_name": "Write", "tool_input": map[string]any{"file_path": "x", "content": vast}}, denied: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // where reading takes none of the budget
				s := &script{answers: []func(context.Context, bus.Request) (bus.Reply, error){answer(`{}`)}}
				env, root := world(t, true, "", s)
				c.fields["cwd"] = root
				raw, _ := json.Marshal(c.fields)
				r := runHookOf(env, bytes.NewReader(raw), "claude")
				if c.denied {
					mustDeny(t, r, "larger than 24 MiB")
					return
				}
				if r.Exit != 0 || len(s.asked) != 1 || len(s.asked[0].Body) > 257<<10 || !bytes.Contains(s.asked[0].Body, []byte("left out by writ")) || !json.Valid(s.asked[0].Body) {
					t.Errorf("%+v, asked %d times", r, len(s.asked))
				}
			})
		})
	}
}

func TestHookSendsPayloadsOfTenMegabytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // where reading takes none of the budget
		s := &script{answers: []func(context.Context, bus.Request) (bus.Reply, error){answer(`{}`)}}
		env, root := world(t, true, "", s)
		raw, _ := json.Marshal(map[string]any{
			"cwd": root, "hook_event_name": "PreToolUse", "tool_name": "Write",
			"tool_input": map[string]any{"file_path": "x", "content": strings.Repeat("é\n", 5<<20)},
		})
		if r := runHookOf(env, bytes.NewReader(raw), "claude"); r.Exit != 0 || len(s.asked) != 1 || len(s.asked[0].Body) != len(raw) {
			t.Fatalf("%+v, asked %d times", r, len(s.asked))
		}
	})
}

func TestHookAnswersInItsBudget(t *testing.T) {
	for name, c := range map[string]struct {
		stall  func(s *script, env *client.Env)
		reason string
	}{
		"slow daemon": {func(*script, *client.Env) {}, "did not answer in time"},
		"slow start": {func(s *script, env *client.Env) {
			s.answers[0] = fails(bus.ErrUnavailable)
			env.Start = func(ctx context.Context, _ launch.Options) (config.Endpoint, error) {
				<-ctx.Done()
				return config.Endpoint{}, ctx.Err()
			}
		}, "did not answer in time"},
		"never ready": {func(s *script, _ *client.Env) { s.answers[0] = fails(bus.ErrUnavailable) }, "did not answer in time"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{answers: []func(context.Context, bus.Request) (bus.Reply, error){never}}
				env, root := world(t, true, "", s)
				env.Vars = append(env.Vars, config.HookBudgetVar+"=") // the default
				c.stall(s, &env)
				began := time.Now()
				r := runHookOf(env, strings.NewReader(toolCall(root, "Write")), "claude", "PreToolUse")
				mustDeny(t, r, c.reason)
				if took := time.Since(began); took > config.DefaultHookBudget {
					t.Errorf("it took %s", took)
				}
			})
		})
	}
}

func TestHookDoesNotWaitForAnInputThatNeverEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{answers: []func(context.Context, bus.Request) (bus.Reply, error){answer(`{}`)}}
		env, _ := world(t, true, "", s)
		env.Vars = append(env.Vars, config.HookBudgetVar+"=") // the default
		stdin, writer := io.Pipe()
		began := time.Now()
		r := runHookOf(env, stdin, "claude", "PreToolUse")
		mustDeny(t, r, "no answer within 2s")
		if took := time.Since(began); took > config.DefaultHookBudget {
			t.Errorf("it took %s", took)
		}
		writer.Close()
		synctest.Wait()
	})
}

func TestHookRecoversFromPanics(t *testing.T) {
	s := &script{answers: []func(context.Context, bus.Request) (bus.Reply, error){
		func(context.Context, bus.Request) (bus.Reply, error) { panic("secret detail") },
	}}
	env, root := world(t, true, "", s)
	r := runHookOf(env, strings.NewReader(toolCall(root, "Write")), "claude")
	mustDeny(t, r, "internal error")
	if strings.Contains(r.Stdout+r.Stderr, "secret") || strings.Contains(r.Stderr, "goroutine") {
		t.Errorf("it shows its insides: %+v", r)
	}
}

func TestHookArguments(t *testing.T) {
	env, _ := world(t, false, "", &script{})
	for _, args := range [][]string{{}, {"emacs"}, {"claude", "Stop", "more"}, {"--frobnicate"}} {
		r := runHookOf(env, strings.NewReader("{}"), args...)
		if r.Exit != client.ExitUsage || r.Stdout != "" || !strings.HasPrefix(r.Stderr, "writ: hook: ") {
			t.Errorf("%q: %+v", args, r)
		}
	}
}

func FuzzHook(f *testing.F) {
	f.Add([]byte(`{"hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":"/x"}}`), "PreToolUse", []byte(`{}`))
	f.Add([]byte(`{"hook_event_name":7,"tool_name":["Write"],"tool_input":"text","cwd":{}}`), "", []byte(`null`))
	f.Add([]byte(`{"tool_input":[]}`), "Stop", []byte(`{"exit":1}`))
	f.Add([]byte("\xef\xbb\xbf{}"), "PreToolUse", []byte("{\"stdout\":\"\\u0000\"}"))
	f.Fuzz(func(t *testing.T, payload []byte, event string, reply []byte) {
		s := &script{startup: errors.New("no"), answers: []func(context.Context, bus.Request) (bus.Reply, error){answer(string(reply))}}
		env, _ := world(t, true, "", s)
		r := runHookOf(env, bytes.NewReader(payload), "claude", event)
		if r.Exit != 0 && r.Exit != 2 {
			t.Fatalf("exit code %d", r.Exit)
		}
		if len(s.asked) == 0 && !json.Valid([]byte(r.Stdout)) {
			t.Fatalf("its own answer is not JSON: %q", r.Stdout)
		}
	})
}

// TestABudgetThatMeansNothingLiftsNoGate: the value is passed over, and the call
// is judged.
func TestABudgetThatMeansNothingLiftsNoGate(t *testing.T) {
	t.Parallel()
	s := &script{answers: []func(context.Context, bus.Request) (bus.Reply, error){fails(bus.ErrUnavailable)}, startup: errors.New("no daemon")}
	env, root := world(t, true, "", s)
	env.Vars = append(env.Vars, config.HookBudgetVar+"=20s")
	mustDeny(t, runHookOf(env, strings.NewReader(toolCall(root, "Write")), "claude", "PreToolUse"))
}
