package cli

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/enforcement/host"
	"github.com/writbus/writ/schemas"
)

// hostCall is a host's event before a tool, with a payload that writes and one
// that only reads.
var hostCalls = map[string]struct{ event, writes, reads, prompt string }{
	"cursor": {
		"preToolUse",
		`{"conversation_id":"s","hook_event_name":"preToolUse","cursor_version":"2","workspace_roots":["ROOT"],"tool_name":"Write","tool_input":{"file_path":"a","content":"x"}}`,
		`{"conversation_id":"s","hook_event_name":"preToolUse","cursor_version":"2","workspace_roots":["ROOT"],"tool_name":"Read","tool_input":{"file_path":"a"}}`,
		"beforeSubmitPrompt",
	},
	"codex": {
		"PreToolUse",
		`{"session_id":"s","cwd":"ROOT","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}`,
		`{"session_id":"s","cwd":"ROOT","hook_event_name":"PreToolUse","tool_name":"view_image","tool_input":{"path":"a"}}`,
		"UserPromptSubmit",
	},
	"gemini": {
		"BeforeTool",
		`{"session_id":"s","cwd":"ROOT","hook_event_name":"BeforeTool","tool_name":"write_file","tool_input":{"file_path":"a","content":"x"}}`,
		`{"session_id":"s","cwd":"ROOT","hook_event_name":"BeforeTool","tool_name":"read_file","tool_input":{"file_path":"a"}}`,
		"BeforeAgent",
	},
	"copilot": {
		"preToolUse",
		`{"sessionId":"s","cwd":"ROOT","toolName":"create","toolArgs":"{\"path\":\"a\",\"file_text\":\"x\"}"}`,
		`{"sessionId":"s","cwd":"ROOT","toolName":"view","toolArgs":{"path":"a"}}`,
		"userPromptSubmitted",
	},
	"opencode": {
		"tool.execute.before",
		`{"session_id":"s","cwd":"ROOT","hook_event_name":"tool.execute.before","tool_name":"edit","tool_input":{"filePath":"a","oldString":"a","newString":"b"}}`,
		`{"session_id":"s","cwd":"ROOT","hook_event_name":"tool.execute.before","tool_name":"read","tool_input":{"filePath":"a"}}`,
		"chat.message",
	},
}

// Without a daemon every host refuses what writes, in its own form, and lets
// pass what reads.
func TestOtherHostsWithoutADaemon(t *testing.T) {
	down := fails(errors.New("no"))
	for agent, c := range hostCalls {
		t.Run(agent, func(t *testing.T) {
			for _, x := range []struct {
				payload, settings string
				refused           bool
			}{
				{c.writes, "", true}, {c.writes, "fail: open\n", false}, {c.reads, "", false}, {`{"half`, "", true}, {"", "", true},
			} {
				s := &script{startup: config.ErrNoDaemon, answers: []func(context.Context, bus.Request) (bus.Reply, error){down}}
				env, root := world(t, true, x.settings, s)
				r := runHookOf(env, strings.NewReader(strings.ReplaceAll(x.payload, "ROOT", root)), agent, c.event)
				if x.refused {
					if agent == "gemini" {
						// Its refusals end well: the object on standard output says all.
						reason, _ := host.Refusal(r)
						r.Exit, r.Stderr = r.Exit+2, r.Stderr+reason
					}
					mustDeny(t, r, "could not judge")
					continue
				}
				if _, denied := host.Refusal(r); denied || r.Exit != 0 || r.Stdout != "" && !json.Valid([]byte(r.Stdout)) {
					t.Errorf("%q did not pass: %+v", x.payload, r)
				}
			}
			s := &script{startup: config.ErrNoDaemon, answers: []func(context.Context, bus.Request) (bus.Reply, error){down}}
			env, _ := world(t, true, "", s)
			if r := runHookOf(env, strings.NewReader("{"), agent, c.prompt); r.Exit != 0 {
				t.Errorf("a prompt is stopped: %+v", r)
			}
		})
	}
}

// A project without Writ is none of its business; hosts that take silence for
// a failure are told so.
func TestOtherHostsOutsideAProject(t *testing.T) {
	want := map[string]string{"cursor": `{"continue":true,"permission":"allow"}`, "codex": "", "gemini": "{}", "copilot": "{}", "opencode": `{"verdict":"pass"}`}
	for agent, c := range hostCalls {
		s := &script{answers: []func(context.Context, bus.Request) (bus.Reply, error){answer(`{}`)}}
		env, root := world(t, false, "", s)
		r := runHookOf(env, strings.NewReader(strings.ReplaceAll(c.writes, "ROOT", root)), agent, c.event)
		if got := (schemas.HookReply{Stdout: strings.TrimSpace(r.Stdout), Stderr: r.Stderr, Exit: r.Exit}); got != (schemas.HookReply{Stdout: want[agent]}) || len(s.roles) > 0 {
			t.Errorf("%s: %+v", agent, r)
		}
	}
}
