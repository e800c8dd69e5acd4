package hosts

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/writbus/writ/enforcement/host"
)

func TestClaudeCalls(t *testing.T) {
	for name, c := range map[string]struct {
		event, payload string
		check          func(host.Call) bool
	}{
		"a prompt and its origin": {
			"UserPromptSubmit", `{"session_id":"s","prompt_id":"p","cwd":"/p","hook_event_name":"UserPromptSubmit","prompt":"go on","source":"user"}`,
			func(c host.Call) bool {
				return c.Kind == host.Prompt && c.Prompt == "go on" && c.Origin == "user" && c.PromptID == "p" && c.Dir == "/p"
			},
		},
		"a prompt of unknown origin": {
			"UserPromptSubmit", `{"session_id":"s","prompt":"x"}`,
			func(c host.Call) bool { return c.Kind == host.Prompt && c.Origin == "" },
		},
		"how a session started is not who prompted": {
			"SessionStart", `{"session_id":"s","source":"startup","model":"m"}`,
			func(c host.Call) bool {
				return c.Kind == host.SessionStart && c.Source == "startup" && c.Origin == "" && c.Model == "m"
			},
		},
		"a typed command": {
			"UserPromptExpansion", `{"session_id":"s","expansion_type":"slash_command","command_name":"/writ-approve","command_args":"plan","prompt":"/writ-approve plan"}`,
			func(c host.Call) bool {
				return c.Kind == host.Command && c.Command == "writ-approve" && c.Args == "plan" && c.Origin == "user"
			},
		},
		"a whole file": {
			"PreToolUse", `{"session_id":"s","tool_name":"Write","tool_input":{"file_path":"/p/a","content":"x"},"tool_use_id":"t"}`,
			func(c host.Call) bool {
				return c.Kind == host.BeforeTool && len(c.Writes) == 1 && c.Writes[0].Path == "/p/a" && *c.Writes[0].Content == "x"
			},
		},
		"several edits": {
			"PreToolUse", `{"session_id":"s","tool_name":"MultiEdit","tool_input":{"file_path":"/p/a","edits":[{"old_string":"a","new_string":"b"},{"old_string":"c","new_string":"d","replace_all":true}]}}`,
			func(c host.Call) bool {
				return len(c.Writes[0].Edits) == 2 && c.Writes[0].Edits[1] == host.Edit{Old: "c", New: "d", All: true}
			},
		},
		"a notebook": {
			"PreToolUse", `{"session_id":"s","tool_name":"NotebookEdit","tool_input":{"notebook_path":"/p/n.ipynb","new_source":"1"}}`,
			func(c host.Call) bool { return c.Writes[0].Path == "/p/n.ipynb" && c.Writes[0].Opaque },
		},
		"a shell command": {
			"PreToolUse", `{"session_id":"s","tool_name":"Bash","tool_input":{"command":"ls > x"}}`,
			func(c host.Call) bool { return c.Shell != nil && *c.Shell == "ls > x" },
		},
		"a plan that was accepted": {
			"PostToolUse", `{"session_id":"s","tool_name":"ExitPlanMode","tool_input":{"plan":"old"},"tool_response":{"plan":"accepted"}}`,
			func(c host.Call) bool { return c.Kind == host.AfterTool && c.Plan == "accepted" },
		},
		"a sub-agent": {
			"PreToolUse", `{"session_id":"s","agent_id":"a1","agent_type":"Explore","tool_name":"Read","tool_input":{"file_path":"/x"}}`,
			func(c host.Call) bool { return c.Agent == "a1" && c.AgentType == "Explore" && len(c.Writes) == 0 },
		},
		"the payload's event wins": {
			"Whatever", `{"session_id":"s","hook_event_name":"Stop"}`,
			func(c host.Call) bool { return c.Kind == host.Stop && c.Hook == "Stop" },
		},
		"an event of a later version": {
			"MoonLanded", `{"session_id":"s","crew":3,"note":"x"}`,
			func(c host.Call) bool { return c.Kind == host.Other && c.Hook == "MoonLanded" },
		},
		"a field of another type": {
			"PostToolUse", `{"session_id":"s","duration_ms":"fast","tool_name":"Bash","tool_input":{"command":"ls"}}`,
			func(c host.Call) bool { return c.Tool == "Bash" && c.Millis == 0 },
		},
		"a byte order mark": {
			"Stop", "\xef\xbb\xbf" + `{"session_id":"s"}`,
			func(c host.Call) bool { return c.Session == "s" },
		},
	} {
		t.Run(name, func(t *testing.T) {
			call, err := Parse("claude", c.event, []byte(c.payload))
			if err != nil || !c.check(call) {
				t.Errorf("%+v, %v", call, err)
			}
		})
	}
}

func TestFieldsAreShortAndPlain(t *testing.T) {
	got := host.Fields([]byte(`{"session_id":"s","crew":3,"note":"x","ok":true,"deep":{"a":1},"long":"` + strings.Repeat("x", 300) + `"}`))
	if len(got) != 3 || got["crew"] != 3.0 || got["note"] != "x" || got["ok"] != true {
		t.Errorf("%v", got)
	}
	if got := host.Fields([]byte(`[`)); got != nil {
		t.Errorf("%v", got)
	}
}

func TestPayloadsThatCannotBeRead(t *testing.T) {
	for name, payload := range map[string]string{
		"nothing":                  "",
		"half":                     `{"session_id":"s","tool_na`,
		"a list":                   `[1]`,
		"no session":               `{"prompt":"x"}`,
		"a write without a path":   `{"session_id":"s","tool_name":"Write","tool_input":{"content":"x"}}`,
		"a write without input":    `{"session_id":"s","tool_name":"Write"}`,
		"a write of another shape": `{"session_id":"s","tool_name":"Write","tool_input":[1]}`,
		"a shell without command":  `{"session_id":"s","tool_name":"Bash","tool_input":{}}`,
	} {
		t.Run(name, func(t *testing.T) {
			call, err := Parse("claude", "PreToolUse", []byte(payload))
			if !errors.Is(err, host.ErrPayload) {
				t.Fatalf("%+v, %v", call, err)
			}
			if call.Kind != host.BeforeTool {
				t.Errorf("the kind is lost: %v", call.Kind)
			}
		})
	}
	if _, err := Parse("emacs", "PreToolUse", nil); !errors.Is(err, host.ErrUnknownHost) {
		t.Errorf("unknown host: %v", err)
	}
}

func TestClaudeAnswers(t *testing.T) {
	tool := host.Call{Host: "claude", Hook: "PreToolUse", Kind: host.BeforeTool}
	for name, c := range map[string]struct {
		call   host.Call
		answer host.Answer
		stdout string
		exit   int
		stderr string
	}{
		"a pass says nothing": {tool, host.Answer{}, "", 0, ""},
		"a refusal says it three times": {
			tool,
			host.Answer{Verdict: host.Refuse, Reason: "no"},
			`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}`, 2, "no\n",
		},
		"a question": {
			tool,
			host.Answer{Verdict: host.AskUser, Reason: "sure?"},
			`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"sure?"}}`, 0, "",
		},
		"a pass with context keeps the host's own permission flow": {
			tool,
			host.Answer{Context: "c"},
			`{"hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"c"}}`, 0, "",
		},
		"a refused permission is JSON alone": {
			host.Call{Hook: "PermissionRequest", Kind: host.Permission},
			host.Answer{Verdict: host.Refuse, Reason: "no"},
			`{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"no"}}}`, 0, "",
		},
		"a prompt's context": {
			host.Call{Hook: "UserPromptSubmit", Kind: host.Prompt},
			host.Answer{Context: "rules", Notice: "n"},
			`{"systemMessage":"n","hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"rules"}}`, 0, "",
		},
		"what is said after a compaction is shown as it is": {
			host.Call{Hook: "PostCompact", Kind: host.AfterCompact}, host.Answer{Context: "Mode: work."}, "Mode: work.", 0, "",
		},
		"an event that takes no context tells the user": {
			host.Call{Hook: "SessionEnd", Kind: host.SessionEnd}, host.Answer{Context: "bye"}, `{"systemMessage":"bye"}`, 0, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := Render(c.call, c.answer)
			if strings.TrimSuffix(got.Stdout, "\n") != c.stdout || got.Exit != c.exit || got.Stderr != c.stderr {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// TestAnswersObeyNobody: a host prints what it is told, and a name that an agent chose may
// hold what a terminal obeys.
func TestAnswersObeyNobody(t *testing.T) {
	const bad = "a\x1b]0;t\x07\x1b[2Jb\u009b1m\u202ec\r\n"
	for _, agent := range Names {
		for _, kind := range []host.Kind{host.BeforeTool, host.Permission, host.Prompt, host.AfterTool, host.AfterCompact, host.Stop} {
			for _, verdict := range []host.Verdict{host.Pass, host.Refuse, host.AskUser} {
				reply := Render(host.Call{Host: agent, Kind: kind}, host.Answer{Verdict: verdict, Reason: bad, Notice: bad})
				said := reply.Stdout + reply.Stderr
				for _, hidden := range []string{"\x1b", "\x07", "\r", "\u009b", "\u202e", `\u001b`, `\u0007`, `\r`, `\u009b`, `\u202e`} {
					if strings.Contains(said, hidden) {
						t.Errorf("%s, %v, %v says %q: %s", agent, kind, verdict, hidden, said)
					}
				}
			}
		}
	}
}

func TestAnswersStayWithinTheHostsLimit(t *testing.T) {
	long := strings.Repeat("ü", 20_000)
	got := Render(host.Call{Hook: "UserPromptSubmit", Kind: host.Prompt}, host.Answer{Context: long, Notice: long})
	var out struct {
		SystemMessage string
		Specific      struct{ AdditionalContext string } `json:"hookSpecificOutput"`
	}
	if err := json.Unmarshal([]byte(got.Stdout), &out); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{out.SystemMessage, out.Specific.AdditionalContext} {
		if n := utf8.RuneCountInString(text); n != 10_000 || !utf8.ValidString(text) {
			t.Errorf("%d characters", n)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, event := range []string{"SessionStart", "SessionEnd", "UserPromptSubmit", "UserPromptExpansion", "PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest", "SubagentStart", "SubagentStop", "PreCompact", "PostCompact", "Stop", "InstructionsLoaded"} {
		f.Add(event, []byte(`{"session_id":"s","tool_name":"Write","tool_input":{"file_path":"/a","content":"x"}}`))
	}
	f.Add("PreToolUse", []byte(`{"session_id":"s","tool_name":"MultiEdit","tool_input":{"file_path":"/a","edits":[{}]}}`))
	f.Fuzz(func(t *testing.T, event string, payload []byte) {
		c, err := Parse("claude", event, payload)
		if err == nil && c.Session == "" {
			t.Fatal("a call without a session")
		}
		if reply := Render(c, host.Answer{Verdict: host.Refuse, Reason: "r", Context: "c"}); c.Kind != host.AfterCompact && reply.Stdout != "" && !json.Valid([]byte(reply.Stdout)) {
			t.Fatalf("not JSON: %s", reply.Stdout)
		}
	})
}
