package hosts

import (
	"encoding/json"
	"testing"
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
