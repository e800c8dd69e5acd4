package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/schemas"
)

func TestLintStream(t *testing.T) {
	s := &services{}
	r := s.run(t, "Look.\n/exec ls\n/write a.md\n# A\n/endwrite\n  /exec x\n/exce y", "lint-stream")
	want := "Look.\n▸ /exec ls\n▸ /write a.md (4 bytes)\n  /exec x\n! line 6: /exec is indented, not run; a command starts at column 0\n/exce y\n" +
		"! line 7: unknown verb /exce, not run; did you mean /exec?\n"
	if r.code != 1 || r.out != want || r.err != "" {
		t.Errorf("%d\n%s\nwant\n%s%s", r.code, r.out, want, r.err)
	}
	if len(s.roles) > 0 {
		t.Error("lint-stream asks the daemon")
	}
	if r := s.run(t, "nothing special\n", "lint-stream", "-"); r.code != 0 || r.out != "nothing special\n" {
		t.Errorf("%+v", r)
	}
}

func TestLintStreamJSON(t *testing.T) {
	r := (&services{}).run(t, "a\n/write p\nx\n/list\n", "lint-stream", "--json")
	var kinds []string
	for line := range strings.Lines(r.out) {
		var one struct {
			Kind, Status, Diagnostic string
			Swallowed                []string
		}
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, one.Kind+one.Status+one.Diagnostic+strings.Join(one.Swallowed, ","))
	}
	if got := strings.Join(kinds, " "); got != "prose commandunterminated/list diagnosticunterminated_block" || r.code != 1 {
		t.Errorf("%d %s", r.code, got)
	}
}

func TestLintStreamOfAFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "response")
	if err := os.WriteFile(path, []byte("/list\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := (&services{}).run(t, "", "lint-stream", path); r.code != 0 || r.out != "▸ /list\n" {
		t.Errorf("%+v", r)
	}
	if r := (&services{}).run(t, "", "lint-stream", path+"x"); r.code != 1 || !strings.Contains(r.err, "no such file") {
		t.Errorf("%+v", r)
	}
}

func TestAgentValidate(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"good.json":  `{"name": "reviewer", "capabilities": ["/read", "/exec cmd=git"]}`,
		"none.json":  `{"name": "mute"}`,
		"wrong.json": `{"name": "x", "capabilities": ["/reed"]}`,
		"key.json":   `{"name": "x", "advisor": {"modus": "gate"}}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) result {
		return (&services{}).runIn(t, client.Env{Dir: dir}, "", append([]string{"agent", "validate"}, args...)...)
	}
	if r := run("good.json", "none.json"); r.code != 0 || !strings.Contains(r.out, "reviewer may use /read, /exec cmd=git") ||
		!strings.Contains(r.out, "mute may use nothing but /help") {
		t.Errorf("%+v", r)
	}
	r := run("good.json", "wrong.json", "key.json", "gone.json", ".")
	for _, want := range []string{`wrong.json: capabilities[0]`, "/reed", "key.json: advisor.modus: unknown key", "gone.json: no such file", ".: it is a folder"} {
		if !strings.Contains(r.out, want) {
			t.Errorf("%q is not in %s", want, r.out)
		}
	}
	if r.code != 1 {
		t.Errorf("exit %d", r.code)
	}
	if r := run("good.json", "--prompt"); !strings.Contains(r.out, "/exec COMMAND") || strings.Contains(r.out, "/fetch") {
		t.Errorf("the prompt: %s", r.out)
	}
	if r := run("key.json", "--json"); r.code != 1 || !strings.Contains(r.out, `"ok":false`) {
		t.Errorf("%+v", r)
	}
}

// watched answers a run with frames, a few at a time.
func watched(pages ...schemas.AgentFollowReply) func(string) any {
	return func(string) any {
		page := pages[0]
		pages = pages[1:]
		return page
	}
}

func frame(seq uint64, kind, text string, depth int) schemas.AgentFrame {
	return schemas.AgentFrame{Seq: seq, Kind: kind, Text: text, Run: "r", Agent: "dev", Depth: depth}
}

func TestRun(t *testing.T) {
	finished := &schemas.AgentFinished{Outcome: "answered", Answer: "Fine."}
	pages := []schemas.AgentFollowReply{
		{Frames: []schemas.AgentFrame{frame(1, "started", "dev", 0), frame(2, "prose", "Let me ", 0), frame(3, "prose", "look.\n", 0), frame(4, "command", "/exec ls", 0)}},
		{},
		{Lost: 2, Frames: []schemas.AgentFrame{frame(7, "prose", "a child's", 1), frame(8, "denied", "/exec rm: ERR: no", 1), frame(9, "prose", "Fine.", 0)}},
		{Done: true, Finished: finished},
	}
	s := &services{replies: map[string]any{schemas.SvcAgentRun: schemas.AgentRunReply{}, schemas.SvcAgentFollow: watched(pages...)}}
	dir := t.TempDir()
	r := s.runIn(t, client.Env{Dir: dir}, "", "run", "--agent", "dev.json", "Look.")
	if r.code != 0 || r.out != "Let me look.\nFine.\n" {
		t.Errorf("%d %q %s", r.code, r.out, r.err)
	}
	for _, want := range []string{"▸ /exec ls", "✗ /exec rm: ERR: no", "2 pieces were not shown"} {
		if !strings.Contains(r.err, want) {
			t.Errorf("%q is not in %s", want, r.err)
		}
	}
	var asked schemas.AgentRunRequest
	if err := json.Unmarshal([]byte(s.asked[schemas.SvcAgentRun][0]), &asked); err != nil {
		t.Fatal(err)
	}
	if asked.File != filepath.Join(dir, "dev.json") || asked.Workspace != dir || asked.Message != "Look." || asked.Run == "" || asked.Confirms {
		t.Errorf("%+v", asked)
	}
	if s.roles[0] != client.RoleAdmin || !strings.Contains(s.asked[schemas.SvcAgentFollow][3], `"after":9`) {
		t.Errorf("%v %v", s.roles, s.asked[schemas.SvcAgentFollow])
	}
}

func TestRunsThatDoNotAnswer(t *testing.T) {
	for _, c := range []struct {
		args []string
		end  schemas.AgentFollowReply
		code int
		want string
	}{
		{[]string{"x"}, schemas.AgentFollowReply{Done: true, Finished: &schemas.AgentFinished{Outcome: "halted", Reason: "it must not"}}, 1, "run: halted: it must not. `writ agent show"},
		{[]string{"x", "--json"}, schemas.AgentFollowReply{Done: true, Finished: &schemas.AgentFinished{Outcome: "failed", Reason: "no"}}, 1, `"outcome":"failed"`},
		{[]string{"x", "--json"}, schemas.AgentFollowReply{Done: true, Finished: &schemas.AgentFinished{Outcome: "answered"}}, 0, `"kind":"end"`},
		{[]string{" "}, schemas.AgentFollowReply{}, 2, "there is no message"},
		{[]string{}, schemas.AgentFollowReply{}, 2, "run: MESSAGE is missing"},
	} {
		s := &services{replies: map[string]any{schemas.SvcAgentRun: schemas.AgentRunReply{}, schemas.SvcAgentFollow: watched(c.end)}}
		r := s.run(t, "", append([]string{"run", "--agent", "a.json"}, c.args...)...)
		if r.code != c.code || !strings.Contains(r.out+r.err, c.want) {
			t.Errorf("%v: %+v", c.args, r)
		}
	}
	s := &services{replies: map[string]any{schemas.SvcAgentRun: &bus.ServiceError{Code: schemas.CodeRefused, Text: "no language model is set up"}}}
	if r := s.run(t, "", "run", "--agent", "a.json", "x"); r.code != 1 || !strings.Contains(r.err, "run: no language model is set up") {
		t.Errorf("%+v", r)
	}
	if r := s.run(t, "", "run", "x"); r.code == 0 || !strings.Contains(r.err, "agent") {
		t.Errorf("%+v", r)
	}
}

func TestRunDetached(t *testing.T) {
	s := &services{replies: map[string]any{schemas.SvcAgentRun: schemas.AgentRunReply{}}}
	r := s.run(t, "from a pipe", "run", "--agent", "a.json", "--detach", "-")
	if r.code != 0 || len(strings.TrimSpace(r.out)) != 36 || !strings.Contains(s.asked[schemas.SvcAgentRun][0], "from a pipe") {
		t.Errorf("%+v", r)
	}
}

func TestDispatchCommand(t *testing.T) {
	end := schemas.AgentFollowReply{
		Frames: []schemas.AgentFrame{frame(1, "prose", "known", 0), frame(2, "command", "/read a", 0)},
		Done:   true, Finished: &schemas.AgentFinished{Outcome: "answered"}, Batch: "[/read a ·x]\nhello\n[END TOOL RESULTS ·x]\n",
	}
	s := &services{replies: map[string]any{schemas.SvcDispatch: schemas.AgentRunReply{}, schemas.SvcAgentFollow: watched(end)}}
	r := s.run(t, "/read a\n", "dispatch", "--agent", "a.json")
	if r.code != 0 || r.out != end.Batch || !strings.Contains(r.err, "▸ /read a") {
		t.Errorf("%+v", r)
	}
	var asked schemas.AgentRunRequest
	if err := json.Unmarshal([]byte(s.asked[schemas.SvcDispatch][0]), &asked); err != nil || string(asked.Transcript) != "/read a\n" {
		t.Errorf("%+v %v", asked, err)
	}
	if r := s.run(t, "", "dispatch", "--agent", "a.json", "gone.txt"); r.code != 1 || !strings.Contains(r.err, "no such file") {
		t.Errorf("%+v", r)
	}
}

func TestAgentShow(t *testing.T) {
	at := time.Date(2026, 11, 21, 11, 0, 0, 0, time.UTC)
	event := func(p schemas.Payload) schemas.ReplayEvent {
		raw, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		return schemas.ReplayEvent{Type: p.EventType(), Time: at, Data: raw}
	}
	view := schemas.AgentView{AgentSummary: schemas.AgentSummary{Run: "r"}, Events: []schemas.ReplayEvent{
		event(schemas.AgentStarted{Agent: "dev", Trigger: "run", Message: "Look\naround."}),
		event(schemas.AgentReplied{Turn: 1, Text: "I look.\n/exec ls\nThen more.\n", Model: "m", OutputTokens: 5}),
		event(schemas.CommandDispatched{CommandID: "c1", Verb: "exec", Args: "ls"}),
		event(schemas.CommandFinished{CommandID: "c1", OK: true, Outcome: "ok", Trust: "shell", Result: strings.Repeat("file\n", 20), Millis: 12}),
		event(schemas.CommandDenied{CommandID: "c2", Verb: "fetch", Args: "https://x/", Reason: "ERR: not granted"}),
		event(schemas.DiagnosticReported{Kind: "unknown_verb", Note: "line 9: unknown verb /raed"}),
		event(schemas.AdviceGiven{Mode: "gate", Verdict: "CONTINUE"}),
		event(schemas.AgentFinished{Outcome: "answered", Calls: 2, Millis: 1500}),
		{Type: "agent.started", Data: json.RawMessage(`7`)},
	}}
	s := &services{replies: map[string]any{schemas.SvcAgentShow: view}}
	for _, args := range [][]string{{"agent", "show", "r"}, {"replay", "--run", "r"}} {
		r := s.run(t, "", args...)
		for _, want := range []string{
			"user → dev", "  Look\n  around.", "  I look.\n  Then more.", "▸ /exec ls (ok, 12ms, untrusted: shell)", "… 9 more lines", "✗ /fetch https://x/",
			"ERR: not granted", "! line 9: unknown verb /raed", "advisor: CONTINUE", "✓ answered after 2 model calls, 1.5s", "agent.started cannot be read",
		} {
			if !strings.Contains(r.out, want) {
				t.Errorf("%v: %q is not in\n%s", args, want, r.out)
			}
		}
		if strings.Contains(r.out, "/exec ls\nThen") || r.code != 0 {
			t.Errorf("%v: %d\n%s", args, r.code, r.out)
		}
	}
}

func TestAgentListsAndSchedules(t *testing.T) {
	now := time.Date(2026, 11, 21, 11, 0, 0, 0, time.UTC)
	s := &services{replies: map[string]any{
		schemas.SvcAgentList: schemas.AgentList{Runs: []schemas.AgentSummary{{Run: "r1", Agent: "dev", Message: "do\nit", Last: now}, {Run: "r2", Agent: "x", Outcome: "failed"}}},
		schemas.SvcSchedules: schemas.ScheduleList{Schedules: []schemas.ScheduleView{{ID: "s1", Line: "hourly: x", Agent: "dev", State: "active", Next: now}}},
		schemas.SvcAgentStop: struct{}{}, schemas.SvcScheduleAct: &bus.ServiceError{Code: schemas.CodeRefused, Text: "s1 is over"},
	}}
	if r := s.run(t, "", "agent", "list"); r.code != 0 || !strings.Contains(r.out, "at work") || !strings.Contains(r.out, "do it") {
		t.Errorf("%+v", r)
	}
	if r := s.run(t, "", "agent", "list", "--json"); strings.Count(r.out, "\n") != 2 {
		t.Errorf("%+v", r)
	}
	if r := s.run(t, "", "agent", "stop", "r1"); r.code != 0 || !strings.Contains(s.asked[schemas.SvcAgentStop][0], `"run":"r1"`) {
		t.Errorf("%+v", r)
	}
	if r := s.run(t, "", "schedule", "list"); r.code != 0 || !strings.Contains(r.out, "hourly: x") {
		t.Errorf("%+v", r)
	}
	if r := s.run(t, "", "schedule", "pause", "s1"); r.code != 1 || !strings.Contains(r.err, "schedule pause: s1 is over") {
		t.Errorf("%+v", r)
	}
}

// TestRunTellsChildrenApart where two of one name are at work at once.
func TestRunTellsChildrenApart(t *testing.T) {
	frames := []schemas.AgentFrame{
		{Seq: 1, Kind: schemas.FrameStarted, Run: "r", Agent: "lead"},
		{Seq: 2, Kind: schemas.FrameStarted, Run: "a", Agent: "dev", Depth: 1},
		{Seq: 3, Kind: schemas.FrameStarted, Run: "b", Agent: "dev", Depth: 1},
		{Seq: 4, Kind: schemas.FrameCommand, Run: "a", Agent: "dev", Depth: 1, Text: "/read x"},
		{Seq: 5, Kind: schemas.FrameCommand, Run: "b", Agent: "dev", Depth: 1, Text: "/read \x1b]0;x\a"},
		{Seq: 6, Kind: schemas.FrameFinished, Run: "b", Agent: "dev", Depth: 1, Text: "answered"},
		{Seq: 7, Kind: schemas.FrameProse, Run: "a", Agent: "dev", Depth: 1, Text: "for its caller"},
		{Seq: 8, Kind: schemas.FrameProse, Run: "r", Agent: "lead", Text: "Done.\n"},
	}
	s := &services{replies: map[string]any{
		schemas.SvcAgentRun:    schemas.AgentRunReply{},
		schemas.SvcAgentFollow: schemas.AgentFollowReply{Frames: frames, Done: true, Finished: &schemas.AgentFinished{Outcome: "answered"}},
	}}
	want := "  dev begins\n  dev·2 begins\n  dev ▸ /read x\n  dev·2 ▸ /read \uFFFD]0;x\uFFFD\n  dev·2 ends: answered\n"
	if r := s.run(t, "", "run", "--agent", "lead.json", "go"); r.code != 0 || r.out != "Done.\n" || r.err != want {
		t.Errorf("%d %q\n%s\nwant\n%s", r.code, r.out, r.err, want)
	}
}

// TestRunWithoutItsDaemon says where the run can be found.
func TestRunWithoutItsDaemon(t *testing.T) {
	s := &services{replies: map[string]any{schemas.SvcAgentRun: schemas.AgentRunReply{}, schemas.SvcAgentFollow: bus.ErrUnavailable}}
	if r := s.run(t, "", "run", "--agent", "dev.json", "go"); r.code != 1 || !strings.Contains(r.err, "` shows how far it came. See whether it was done, and ask again; `writ doctor` shows why.") ||
		!strings.Contains(r.err, "`writ agent show 0") {
		t.Errorf("%+v", r)
	}
}
