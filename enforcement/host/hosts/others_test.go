package hosts

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/writbus/writ/enforcement/host"
)

var kindNames = map[host.Kind]string{
	host.Other: "Other", host.SessionStart: "SessionStart", host.SessionEnd: "SessionEnd", host.Prompt: "Prompt", host.Command: "Command",
	host.BeforeTool: "BeforeTool", host.AfterTool: "AfterTool", host.ToolFailed: "ToolFailed", host.Permission: "Permission",
	host.SubagentStart: "SubagentStart", host.SubagentStop: "SubagentStop", host.BeforeCompact: "BeforeCompact", host.AfterCompact: "AfterCompact", host.Stop: "Stop", host.Instructions: "Instructions",
}

// summary is what a fixture says of a call.
type summary struct {
	Host    string   `json:"host,omitempty"`
	Kind    string   `json:"kind"`
	Session string   `json:"session"`
	Dir     string   `json:"dir,omitempty"`
	Source  string   `json:"source,omitempty"`
	Agent   string   `json:"agent,omitempty"`
	Tool    string   `json:"tool,omitempty"`
	Shell   string   `json:"shell,omitempty"`
	Reads   []string `json:"reads,omitempty"`
	Writes  []string `json:"writes,omitempty"` // path =content, path old→new (⇒ all of them), path ?
	Prompt  string   `json:"prompt,omitempty"`
	Origin  string   `json:"origin,omitempty"`
	Again   bool     `json:"again,omitempty"`
	Broken  bool     `json:"broken,omitempty"`
}

func summarise(c host.Call, err error) summary {
	s := summary{
		Host: c.Host, Kind: kindNames[c.Kind], Session: c.Session, Dir: c.Dir, Source: c.Source, Agent: c.Agent,
		Tool: c.Tool, Reads: c.Reads, Prompt: c.Prompt, Origin: c.Origin, Again: c.Again, Broken: errors.Is(err, host.ErrPayload),
	}
	if c.Shell != nil {
		s.Shell = *c.Shell
	}
	for _, w := range c.Writes {
		text := w.Path
		if w.Content != nil {
			text += fmt.Sprintf(" =%q", *w.Content)
		}
		for _, e := range w.Edits {
			arrow := "→"
			if e.All {
				arrow = "⇒"
			}
			text += fmt.Sprintf(" %q%s%q", e.Old, arrow, e.New)
		}
		if w.Opaque {
			text += " ?"
		}
		s.Writes = append(s.Writes, text)
	}
	return s
}

type fixture struct {
	Name, Host, Event string
	Payload           json.RawMessage
	Want              summary
}

func fixtures(t testing.TB, agent string) []fixture {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", agent+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []fixture
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var x fixture
		if err := json.Unmarshal(lines.Bytes(), &x); err != nil {
			t.Fatalf("%s: %v", lines.Text(), err)
		}
		if x.Host == "" {
			x.Host = agent
		}
		if x.Want.Host == "" {
			x.Want.Host = agent
		}
		all = append(all, x)
	}
	if len(all) < 10 {
		t.Fatalf("only %d payloads of %s", len(all), agent)
	}
	return all
}

func TestCallsOfTheOtherHosts(t *testing.T) {
	for _, agent := range Names[1:] {
		for _, x := range fixtures(t, agent) {
			t.Run(agent+"/"+x.Name, func(t *testing.T) {
				if got := summarise(Parse(x.Host, x.Event, x.Payload)); !reflect.DeepEqual(got, x.Want) {
					t.Errorf("got  %+v\nwant %+v", got, x.Want)
				}
			})
		}
	}
}

func TestCallsOfClaudeCode(t *testing.T) {
	for _, x := range fixtures(t, "claude") {
		t.Run(x.Name, func(t *testing.T) {
			if got := summarise(Parse(x.Host, x.Event, x.Payload)); !reflect.DeepEqual(got, x.Want) {
				t.Errorf("got  %+v\nwant %+v", got, x.Want)
			}
		})
	}
}

func TestPayloadsOfOtherHostsThatCannotBeRead(t *testing.T) {
	for _, agent := range Names[1:] {
		event := map[string]string{"cursor": "preToolUse", "codex": "PreToolUse", "gemini": "BeforeTool", "copilot": "preToolUse", "opencode": "tool.execute.before"}[agent]
		for _, payload := range []string{"", "{", "[1]", "null", `{"tool_name":"Write"}`} {
			c, err := Parse(agent, event, []byte(payload))
			if !errors.Is(err, host.ErrPayload) || c.Kind != host.BeforeTool || c.Host != agent {
				t.Errorf("%s %q: %+v, %v", agent, payload, c, err)
			}
			if r := Render(c, host.Answer{Verdict: host.Refuse, Reason: "no"}); r.Exit != refusalExit(agent) || r.Exit != 0 && r.Stderr == "" || r.Stdout == "" {
				t.Errorf("%s %q is not refused: %+v", agent, payload, r)
			}
		}
	}
}

func TestAnswersOfTheOtherHosts(t *testing.T) {
	pass, deny, ask := host.Answer{}, host.Answer{Verdict: host.Refuse, Reason: "no"}, host.Answer{Verdict: host.AskUser, Reason: "sure?"}
	told := host.Answer{Context: "c"}
	unasked := func(agent string) string {
		return "sure? (" + agent + " cannot put this question to its user, so it is refused; the user can do it in a terminal.)"
	}
	for _, c := range []struct {
		host, event string
		answer      host.Answer
		stdout      string
		exit        int
	}{
		{"cursor", "preToolUse", pass, `{"continue":true,"permission":"allow"}`, 0},
		{"cursor", "preToolUse", deny, `{"continue":true,"permission":"deny","user_message":"no","agent_message":"no"}`, 2},
		{"cursor", "preToolUse", ask, `{"continue":true,"permission":"deny","user_message":"` + unasked("Cursor") + `","agent_message":"` + unasked("Cursor") + `"}`, 2},
		{"cursor", "beforeShellExecution", ask, `{"continue":true,"permission":"ask","user_message":"sure?","agent_message":"sure?"}`, 0},
		{"cursor", "beforeShellExecution", pass, `{"continue":true,"permission":"allow"}`, 0},
		{"cursor", "beforeMCPExecution", deny, `{"continue":true,"permission":"deny","user_message":"no","agent_message":"no"}`, 2},
		{"cursor", "subagentStart", told, `{"continue":true,"permission":"allow"}`, 0},
		{"cursor", "beforeSubmitPrompt", told, `{"continue":true}`, 0},
		{"cursor", "sessionStart", told, `{"additional_context":"c"}`, 0},
		{"cursor", "postToolUse", told, `{"additional_context":"c"}`, 0},
		{"cursor", "stop", deny, `{"followup_message":"[writ] no"}`, 0},
		{"cursor", "sessionEnd", told, `{}`, 0},
		{"codex", "PreToolUse", pass, ``, 0},
		{"codex", "PreToolUse", deny, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}`, 2},
		{"codex", "PreToolUse", ask, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"` + unasked("Codex") + `"}}`, 2},
		{"codex", "PreToolUse", told, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"c"}}`, 0},
		{"codex", "UserPromptSubmit", told, `{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"c"}}`, 0},
		{"codex", "PermissionRequest", deny, `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"no"}}}`, 0},
		{"codex", "PermissionRequest", told, ``, 0},
		{"codex", "PermissionRequest", host.Answer{Vouched: true}, `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}`, 0},
		{"codex", "PreToolUse", host.Answer{Vouched: true}, ``, 0},
		{"gemini", "BeforeTool", host.Answer{Vouched: true}, `{}`, 0},
		{"copilot", "preToolUse", host.Answer{Vouched: true}, `{"permissionDecision":"allow","permissionDecisionReason":"Writ asked for this."}`, 0},
		{"claude", "PreToolUse", host.Answer{Vouched: true}, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","permissionDecisionReason":"Writ asked for this."}}`, 0},
		{"claude", "PermissionRequest", host.Answer{Vouched: true}, ``, 0},
		{"claude", "PreToolUse", host.Answer{Vouched: true, Verdict: host.AskUser, Reason: "r"}, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"r"}}`, 0},
		{"codex", "Stop", pass, `{}`, 0},
		{"codex", "Stop", deny, `{"decision":"block","reason":"[writ] no"}`, 0},
		{"codex", "SubagentStop", pass, `{}`, 0},
		{"codex", "SessionEnd", told, ``, 0},
		{"gemini", "BeforeTool", pass, `{}`, 0},
		{"gemini", "BeforeTool", deny, `{"decision":"deny","reason":"no"}`, 0},
		{"gemini", "BeforeTool", ask, `{"decision":"deny","reason":"` + unasked("Gemini CLI") + `"}`, 0},
		{"gemini", "BeforeAgent", told, `{"hookSpecificOutput":{"hookEventName":"BeforeAgent","additionalContext":"c"}}`, 0},
		{"gemini", "AfterTool", deny, `{"hookSpecificOutput":{"hookEventName":"AfterTool","additionalContext":"no"}}`, 0},
		{"gemini", "AfterAgent", deny, `{"decision":"deny","reason":"[writ] no"}`, 0},
		{"gemini", "BeforeTool", host.Answer{Command: "confined"}, `{"hookSpecificOutput":{"hookEventName":"BeforeTool","tool_input":{"command":"confined"}}}`, 0},
		{"opencode", "tool.execute.before", host.Answer{Command: "confined"}, `{"verdict":"pass","command":"confined"}`, 0},
		{"codex", "PreToolUse", host.Answer{Command: "confined"}, ``, 0},
		{"copilot", "preToolUse", pass, `{}`, 0},
		{"copilot", "preToolUse", deny, `{"permissionDecision":"deny","permissionDecisionReason":"no"}`, 2},
		{"copilot", "preToolUse", ask, `{"permissionDecision":"ask","permissionDecisionReason":"sure?"}`, 0},
		{"copilot", "PreToolUse", deny, `{"permissionDecision":"deny","permissionDecisionReason":"no","hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}`, 2},
		{"copilot", "userPromptSubmitted", told, `{}`, 0},
		{"copilot", "permissionRequest", deny, `{"behavior":"deny","message":"no"}`, 0},
		{"copilot", "postToolUse", told, `{"additionalContext":"c"}`, 0},
		{"copilot", "postToolUseFailure", told, ``, 2},
		{"copilot", "agentStop", deny, `{"decision":"block","reason":"[writ] no"}`, 0},
		{"opencode", "tool.execute.before", pass, `{"verdict":"pass"}`, 0},
		{"opencode", "tool.execute.before", deny, `{"verdict":"deny","reason":"no"}`, 2},
		{"opencode", "tool.execute.before", ask, `{"verdict":"deny","reason":"` + unasked("OpenCode") + `"}`, 2},
		{"opencode", "chat.message", told, `{"verdict":"pass","context":"c"}`, 0},
	} {
		call, _ := Parse(c.host, c.event, []byte("{}"))
		got := Render(call, c.answer)
		if strings.TrimSuffix(got.Stdout, "\n") != c.stdout || got.Exit != c.exit {
			t.Errorf("%s %s %+v: got %+v", c.host, c.event, c.answer, got)
		}
		if c.exit == 2 && got.Stderr == "" {
			t.Errorf("%s %s: nothing on standard error", c.host, c.event)
		}
	}
}

func FuzzOtherHosts(f *testing.F) {
	for i, agent := range Names[1:] {
		for _, x := range fixtures(f, agent) {
			f.Add(uint8(i), x.Event, []byte(x.Payload))
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, event string, payload []byte) {
		agent := Names[int(which)%len(Names)]
		c, err := Parse(agent, event, payload)
		if err == nil && c.Session == "" {
			t.Fatal("a call without a session")
		}
		for _, a := range []host.Answer{{}, {Verdict: host.Refuse, Reason: "r", Context: "c"}, {Verdict: host.AskUser, Reason: "q", Notice: "n"}} {
			r := Render(c, a)
			if r.Stdout != "" && !json.Valid([]byte(r.Stdout)) {
				t.Fatalf("not JSON: %s", r.Stdout)
			}
			if c.Kind == host.BeforeTool && a.Verdict == host.Refuse && r.Exit != refusalExit(agent) {
				t.Fatalf("a refusal that refuses nothing: %+v", r)
			}
		}
	})
}

func TestHowCommandsEndAndWhatIsDone(t *testing.T) {
	for name, x := range map[string]struct {
		host, event, payload string
		kind                 host.Kind
		exit                 string // "" for unknown
		done                 []string
	}{
		"claude, well":           {"claude", "PostToolUse", `{"session_id":"s","tool_name":"Bash","tool_input":{"command":"go test"},"tool_response":{"stdout":"ok"}}`, host.AfterTool, "0", nil},
		"claude, in background":  {"claude", "PostToolUse", `{"session_id":"s","tool_name":"Bash","tool_input":{"command":"go test","run_in_background":true}}`, host.AfterTool, "", nil},
		"claude, interrupted":    {"claude", "PostToolUse", `{"session_id":"s","tool_name":"Bash","tool_input":{"command":"go test"},"tool_response":{"interrupted":true}}`, host.AfterTool, "", nil},
		"cursor, well":           {"cursor", "postToolUse", `{"conversation_id":"s","tool_name":"Grep","tool_input":{},"tool_output":"{\"exitCode\":0}"}`, host.AfterTool, "", nil},
		"codex, badly":           {"codex", "PostToolUse", `{"session_id":"s","tool_name":"Bash","tool_input":{"command":"go test"},"tool_response":{"output":"FAIL","metadata":{"exit_code":1}}}`, host.ToolFailed, "1", nil},
		"codex, unknown":         {"codex", "PostToolUse", `{"session_id":"s","tool_name":"Bash","tool_input":{"command":"go test"},"tool_response":"ok"}`, host.AfterTool, "", nil},
		"copilot, well":          {"copilot", "postToolUse", `{"sessionId":"s","toolName":"bash","toolArgs":{"command":"go test"},"toolResult":{"resultType":"success","textResultForLlm":"ok\n<shellId: 0 completed with exit code 0>"}}`, host.AfterTool, "0", nil},
		"copilot, badly":         {"copilot", "postToolUse", `{"sessionId":"s","toolName":"bash","toolArgs":{"command":"go test"},"toolResult":{"resultType":"success","textResultForLlm":"<shellId: 0 completed with exit code 0>\nFAIL\n<shellId: 1 completed with exit code 2>"}}`, host.ToolFailed, "2", nil},
		"copilot, running on":    {"copilot", "postToolUse", `{"sessionId":"s","toolName":"bash","toolArgs":{"command":"go test"},"toolResult":{"resultType":"success","textResultForLlm":"<shellId: 0 completed with exit code 0>\nstill running"}}`, host.AfterTool, "", nil},
		"gemini, well":           {"gemini", "AfterTool", `{"session_id":"s","tool_name":"run_shell_command","tool_input":{"command":"go test"},"tool_response":{"llmContent":"<untrusted_context>\nOutput: ok\nProcess Group PGID: 7\n</untrusted_context>"}}`, host.AfterTool, "0", nil},
		"gemini, badly":          {"gemini", "AfterTool", `{"session_id":"s","tool_name":"run_shell_command","tool_input":{"command":"go test"},"tool_response":{"llmContent":"<untrusted_context>\nOutput: Exit Code: 0\nFAIL\nExit Code: 3\nProcess Group PGID: 7\n</untrusted_context>"}}`, host.ToolFailed, "1", nil},
		"gemini, in background":  {"gemini", "AfterTool", `{"session_id":"s","tool_name":"run_shell_command","tool_input":{"command":"go test"},"tool_response":{"llmContent":"Command moved to background (PID: 7)."}}`, host.AfterTool, "", nil},
		"opencode, badly":        {"opencode", "tool.execute.after", `{"session_id":"s","tool_name":"bash","tool_input":{"command":"go test"},"tool_response":{"exit":2,"output":"FAIL"}}`, host.ToolFailed, "2", nil},
		"opencode, killed":       {"opencode", "tool.execute.after", `{"session_id":"s","tool_name":"bash","tool_input":{"command":"go test"},"tool_response":{"exit":null}}`, host.AfterTool, "", nil},
		"claude's list":          {"claude", "PreToolUse", `{"session_id":"s","tool_name":"TodoWrite","tool_input":{"todos":[{"content":"a","status":"completed"},{"content":"b","status":"pending"}]}}`, host.BeforeTool, "", []string{"a"}},
		"claude's update":        {"claude", "PreToolUse", `{"session_id":"s","tool_name":"TaskUpdate","tool_input":{"taskId":"7","status":"completed"}}`, host.BeforeTool, "", []string{"7"}},
		"codex's plan":           {"codex", "PreToolUse", `{"session_id":"s","tool_name":"update_plan","tool_input":{"plan":[{"step":"a","status":"completed"},{"step":"b","status":"in_progress"}]}}`, host.BeforeTool, "", []string{"a"}},
		"gemini's list":          {"gemini", "BeforeTool", `{"session_id":"s","tool_name":"write_todos","tool_input":{"todos":[{"description":"a","status":"completed"}]}}`, host.BeforeTool, "", []string{"a"}},
		"opencode's list":        {"opencode", "tool.execute.before", `{"session_id":"s","tool_name":"todowrite","tool_input":{"todos":[{"content":"a","status":"completed","id":"1"}]}}`, host.BeforeTool, "", []string{"a"}},
		"a list that is no list": {"claude", "PreToolUse", `{"session_id":"s","tool_name":"TodoWrite","tool_input":{"todos":"all done"}}`, host.BeforeTool, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := Parse(x.host, x.event, []byte(x.payload))
			exit := ""
			if c.Exit != nil {
				exit = strconv.Itoa(*c.Exit)
			}
			if err != nil || c.Kind != x.kind || exit != x.exit || !reflect.DeepEqual(c.Done, x.done) {
				t.Errorf("kind %v, exit %q, done %q, %v", c.Kind, exit, c.Done, err)
			}
		})
	}
	c, err := Parse("claude", "PreToolUse", []byte(`{"session_id":"s","tool_name":"Agent","tool_input":{"subagent_type":"Explore","description":"find it","prompt":"Where is it?"}}`))
	if err != nil || c.Task == nil || *c.Task != (host.Task{Type: "Explore", Title: "find it", Prompt: "Where is it?"}) {
		t.Errorf("%+v, %v", c.Task, err)
	}
}

// refusalExit is the exit status that a host takes a refusal of a tool with.
func refusalExit(agent string) int {
	if agent == "gemini" {
		return 0
	}
	return 2
}
