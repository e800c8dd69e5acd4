package hosts

import (
	"encoding/json"
	"testing"

	"github.com/writbus/writ/enforcement/host"
)

// TestToolsThatNoTableOfTheirHostKnows: of a host's own tools, too, it counts what
// they are given. What cannot be read is not taken for harmless.
func TestToolsThatNoTableOfTheirHostKnows(t *testing.T) {
	for _, c := range []struct{ agent, event, tool, input, want string }{
		{"codex", "PreToolUse", "js_repl", `"require('fs').writeFileSync('a.js', '')"`, "unproven"},
		{"codex", "PreToolUse", "patch_later", `"*** Begin Patch\n*** Add File: a.go\n+x\n*** End Patch"`, "unproven"},
		{"codex", "PreToolUse", "multi_tool_use.parallel", `{"tool_uses":[{"recipient_name":"functions.shell","parameters":{"command":"touch a.go"}}]}`, "unproven"},
		{"codex", "PreToolUse", "request_user_input", `{"questions":[{"id":"a","question":"which?"}]}`, "passes"},
		{"codex", "PreToolUse", "list_mcp_resources", `{"server":"x"}`, "passes"},
		{"gemini", "BeforeTool", "new_write_tool", `{"dest":"src/a.go","data":"x"}`, "writes"},
		{"gemini", "BeforeTool", "delegate_to_agent", `{"agent_name":"codebase_investigator","objective":"look"}`, "passes"},
		{"gemini", "BeforeTool", "get_internal_docs", `{"path":"hooks.md"}`, "passes"},
		{"gemini", "BeforeTool", "complete_task", `[1]`, "unproven"},
		{"cursor", "preToolUse", "EditNotebook", `{"target_notebook":"a.ipynb","cell_idx":1,"new_string":"x"}`, "writes"},
		{"cursor", "preToolUse", "SemanticSearch", `{"query":"where is it"}`, "passes"},
		{"copilot", "preToolUse", "write_bash", `{"shellId":"1","input":"echo x > a.go{enter}"}`, "runs"},
		{"copilot", "preToolUse", "write_powershell", `"{\"shellId\":\"1\",\"input\":\"x\"}"`, "runs"},
		{"copilot", "preToolUse", "read_bash", `{"shellId":"1","delay":5}`, "passes"},
		{"copilot", "preToolUse", "sql", `{"query":"INSERT INTO todos VALUES (1)","description":"note it"}`, "passes"},
		{"copilot", "preToolUse", "fetch_copilot_cli_documentation", `{}`, "passes"},
	} {
		payload := map[string]any{"session_id": "s", "conversation_id": "s", "cwd": "/p", "tool_name": c.tool, "tool_input": json.RawMessage(c.input)}
		if c.agent == "copilot" {
			payload = map[string]any{"sessionId": "s", "timestamp": 1, "cwd": "/p", "toolName": c.tool, "toolArgs": json.RawMessage(c.input)}
		}
		raw, err := json.Marshal(payload)
		if err != nil {
			t.Fatal(err)
		}
		call, err := Parse(c.agent, c.event, raw)
		got := "passes"
		switch {
		case call.Shell != nil:
			got = "runs"
		case len(call.Writes) > 0:
			got = "writes"
		case call.Unproven != "" || call.Code:
			got = "unproven"
		}
		if err != nil || got != c.want {
			t.Errorf("%s %s %s: %s, %v, want %s", c.agent, c.tool, c.input, got, err, c.want)
		}
	}
}

// TestAPayloadWithOddFieldsIsNoPass: whatever stands in a field of a payload, nothing
// panics, an event that its host calls otherwise is the one that the hook was set
// for, and a tool without a name is not read.
func TestAPayloadWithOddFieldsIsNoPass(t *testing.T) {
	odd := []any{nil, 1.5, "", "x", []any{}, map[string]any{"a": nil}, true}
	for _, agent := range Names {
		for _, x := range fixtures(t, agent) {
			was, err := Parse(x.Host, x.Event, x.Payload)
			var fields map[string]any
			if err != nil || json.Unmarshal(x.Payload, &fields) != nil {
				continue
			}
			for key, is := range fields {
				for _, value := range odd {
					fields[key] = value
					raw, err := json.Marshal(fields)
					if err != nil {
						t.Fatal(err)
					}
					c, err := Parse(x.Host, x.Event, raw)
					Render(c, host.Answer{Verdict: host.Refuse, Reason: "no", Context: "c", Notice: "n"})
					named := value == "x"
					switch key {
					case "hook_event_name":
						if c.Kind != was.Kind && was.Kind == host.BeforeTool {
							t.Errorf("%s %s: an event named %v is taken for kind %d", agent, x.Name, value, c.Kind)
						}
					case "tool_name", "toolName":
						if err == nil && c.Kind == host.BeforeTool && !named && c.Tool == "" {
							t.Errorf("%s %s: a tool named %v is read", agent, x.Name, value)
						}
					}
				}
				fields[key] = is
			}
		}
	}
}
