package daemon

import (
	"encoding/base64"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/schemas"
)

// inImplementation brings a session to where code is written.
func inImplementation(t *testing.T, settings string) *world {
	t.Helper()
	w := start(t, t.TempDir(), newProject(t, "mode: work\n"+settings))
	w.wrote("plan.md", goodPlan)
	w.prompt("approved")
	w.wrote("store/users_test.go", goodTest)
	w.prompt("the tests are approved")
	return w
}

// stops ends a turn as a process that can run tests would; result is what it
// reports of a run, nil the first time.
func (w *world) stops(message string, again bool, result *schemas.TestResult) schemas.HookReply {
	w.t.Helper()
	payload, err := json.Marshal(map[string]any{
		"session_id": "s1", "cwd": w.project, "hook_event_name": "Stop", "stop_hook_active": again, "last_assistant_message": message,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	header := schemas.Header{
		schemas.HookHeaderAgent: {"claude"}, schemas.HookHeaderEvent: {"Stop"}, schemas.HookHeaderDir: {w.project},
		schemas.HookHeaderProject: {w.project}, schemas.HookHeaderHome: {filepath.Dir(w.project)}, schemas.HookHeaderRuns: {"tests"},
	}
	if result != nil {
		raw, err := json.Marshal(result)
		if err != nil {
			w.t.Fatal(err)
		}
		header[schemas.HookHeaderTests] = []string{base64.StdEncoding.EncodeToString(raw)}
	}
	answer, err := w.hook.Request(w.t.Context(), bus.Request{Subject: schemas.SvcHook, Body: payload, Header: header})
	if err != nil {
		w.t.Fatal(err)
	}
	var reply schemas.HookReply
	if err := json.Unmarshal(answer.Body, &reply); err != nil {
		w.t.Fatal(err)
	}
	return reply
}

func TestPendingTestsRunBeforeATurnEnds(t *testing.T) {
	t.Parallel()
	w := inImplementation(t, "test_timeout: 4m\n")
	put(t, filepath.Join(w.project, "go.mod"), "module m\n")
	if r := w.stops("Here is the plan again.", false, nil); r.Tests != nil || strings.Contains(r.Stdout, "block") {
		t.Errorf("nothing changed: %+v", r)
	}
	w.wrote("store/users.go", "package store\n")
	asked := w.stops("", false, nil)
	if asked.Tests == nil || asked.Tests.Command != "" || strings.Join(asked.Tests.Changed, " ") != "store/users.go" || asked.Tests.WaitMillis != 10_000 || asked.Tests.Began == 0 || asked.Tests.Millis != 240_000 || asked.Tests.Project != w.project {
		t.Fatalf("asked for %+v", asked.Tests)
	}
	if twice := w.stops("", false, nil); twice.Tests != nil || twice.Stdout != "" {
		t.Errorf("the same end told twice: %+v", twice)
	}
	forged := w.stops("", false, &schemas.TestResult{ID: "forged"})
	if events := w.history("s1"); forged.Tests != nil || events[len(events)-1].Type == "tests.finished" {
		t.Errorf("a run that nobody asked for is believed: %+v", forged)
	}
	red := w.stops("", false, &schemas.TestResult{ID: asked.Tests.ID, Command: "go test ./store", Exit: 1, Output: "--- FAIL: TestByEmail"})
	if !strings.Contains(red.Stdout, `"decision":"block"`) || !strings.Contains(red.Stdout, "FAIL: TestByEmail") {
		t.Errorf("red: %s", red.Stdout)
	}
	if r := w.stops("", true, nil); r.Tests != nil || strings.Contains(r.Stdout, "block") || !strings.Contains(r.Stdout, "tests fail") {
		t.Errorf("red again: %+v", r)
	}
	w.wrote("store/users.go", "package store // mended\n")
	asked = w.stops("", true, nil)
	if asked.Tests == nil {
		t.Fatal("what changed since is not tested")
	}
	if r := w.stops("All tests pass.", true, &schemas.TestResult{ID: asked.Tests.ID, Command: "go test ./store"}); !strings.Contains(r.Stdout, "yours to end") || strings.Contains(r.Stdout, "block") {
		t.Errorf("green: %s", r.Stdout)
	}
	if r := w.stops("", false, &schemas.TestResult{ID: asked.Tests.ID, Command: "go test ./store", Exit: 1}); strings.Contains(r.Stdout, "block") {
		t.Errorf("a result counts twice: %s", r.Stdout)
	}
	var outcomes []string
	for _, e := range w.history("s1") {
		if e.Type == "tests.finished" {
			var p schemas.TestsFinished
			if err := json.Unmarshal(e.Data, &p); err != nil {
				t.Fatal(err)
			}
			outcomes = append(outcomes, p.Trigger+" "+p.Outcome+" "+strings.Join(p.Files, ","))
		}
	}
	if got := strings.Join(outcomes, "; "); got != "stop failed store/users.go; stop passed store/users.go" {
		t.Errorf("recorded: %s", got)
	}
}

func TestTestsAtTheEndOfATurnCanBeSwitchedOff(t *testing.T) {
	t.Parallel()
	w := inImplementation(t, "tests: off\n")
	put(t, filepath.Join(w.project, "go.mod"), "module m\n")
	w.wrote("store/users.go", "package store\n")
	if r := w.stops("I changed the store.", false, nil); r.Tests != nil || r.Stdout != "" {
		t.Errorf("%+v", r)
	}
	if r := w.stops("Everything is done and works.", false, nil); !strings.Contains(r.Stdout, "nothing was run since store/users.go changed") {
		t.Errorf("a claim: %s", r.Stdout)
	}
}

func TestNothingIsTickedOffWithoutEvidence(t *testing.T) {
	t.Parallel()
	w := inImplementation(t, "")
	todo := func(done string) schemas.HookReply {
		return w.send("PreToolUse", map[string]any{"tool_name": "TodoWrite", "tool_input": map[string]any{"todos": []map[string]string{
			{"content": "read the store", "status": "completed"}, {"content": "write the store", "status": done},
		}}})
	}
	if r := todo("in_progress"); r.Exit != 0 {
		t.Errorf("nothing changed yet: %s", r.Stderr)
	}
	w.wrote("store/users.go", "package store\n")
	if r := todo("in_progress"); r.Exit != 0 {
		t.Errorf("what was done before: %s", r.Stderr)
	}
	if r := todo("completed"); r.Exit != 2 || !strings.Contains(r.Stderr, "ENF-EVIDENCE") {
		t.Errorf("without evidence: %+v", r)
	}
	w.bash("t1", "go test ./...", func() {})
	if r := todo("completed"); r.Exit != 0 {
		t.Errorf("after the tests: %s", r.Stderr)
	}
}

// TestWhatACommandChangedIsUnverified: the work tree tells which files a
// command wrote that nobody could judge.
func TestWhatACommandChangedIsUnverified(t *testing.T) {
	t.Parallel()
	w := inImplementation(t, "test_command: ./check\n")
	w.bash("t1", "python3 generate.py", func() { put(t, filepath.Join(w.project, "store", "made.go"), "package store\n") })
	asked := w.stops("", false, nil)
	if asked.Tests == nil || asked.Tests.Command != "./check" {
		t.Fatalf("%+v", asked)
	}
	w.stops("", false, &schemas.TestResult{ID: asked.Tests.ID, NotRun: "sh: ./check: not found"})
	for _, e := range w.history("s1") {
		if e.Type == "tests.finished" && !strings.Contains(string(e.Data), `"not_run"`) {
			t.Errorf("recorded as %s", e.Data)
		}
	}
}
