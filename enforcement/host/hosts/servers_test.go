package hosts

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestToolsOfServers judges tools of MCP servers, and others that no table knows,
// by their names and inputs, the same for every host.
func TestToolsOfServers(t *testing.T) {
	for _, c := range []struct{ tool, input, want string }{
		{"mcp__filesystem__write_file", `{"path":"/p/a.go","content":"x"}`, "writes /p/a.go"},
		{"mcp__filesystem__edit_file", `{"path":"/p/a.go","edits":[{"oldText":"a","newText":"b"}]}`, "writes /p/a.go"},
		{"mcp__filesystem__move_file", `{"source":"/tmp/x","destination":"/p/a.go"}`, "writes /tmp/x /p/a.go"},
		{"mcp__filesystem__create_directory", `{"path":"/p/src"}`, "writes /p/src"},
		{"mcp__serena__replace_symbol_body", `{"relative_path":"src/a.go","name_path":"A","body":"x"}`, "writes src/a.go"},
		{"mcp__ed__applyEdit", `{"uri":"file:///p/a.go","edits":[]}`, "writes /p/a.go"},
		{"mcp__x__anything", `{"path":"/p/a.go","content":"x"}`, "writes /p/a.go"},
		{"mcp__shell__run_command", `{"command":"touch a.go"}`, "runs touch a.go"},
		{"mcp__serena__execute_shell_command", `{"command":"ls","cwd":"/p"}`, "runs ls"},
		{"mcp__filesystem__read_file", `{"path":"/p/a.go"}`, "reads /p/a.go"},
		{"mcp__filesystem__search_files", `{"path":"/p","content":"x"}`, "reads /p"},
		{"mcp__fs__readTextFile", `{"path":"/p/write.go"}`, "reads /p/write.go"},
		{"mcp__res__fetch", `{"uri":"file:///data/credentials/admin.json"}`, "reads /data/credentials/admin.json"},
		{"mcp__github__create_or_update_file", `{"owner":"o","repo":"r","path":"src/a.go","content":"x"}`, "reads src/a.go"},
		{"mcp__filesystem__write_file", `{"path":"src/a.go","content":"x","owner":"o","repo":"r"}`, "writes src/a.go"},
		{"mcp__git_hub__write_file", `{"path":"src/a.go","content":"x","repo":"r"}`, "writes src/a.go"},
		{"mcp__github__write_local", `{"path":"src/a.go","content":"x"}`, "writes src/a.go"},
		{"mcp__ed__find_and_replace", `{"path":"/p/a.go","replacement":"x"}`, "writes /p/a.go"},
		{"mcp__playwright__browser_take_screenshot", `{"filename":"shot.png"}`, "reads"},
		{"mcp__context7__resolve", `{"libraryName":"x"}`, "reads"},
		{"Update", `{"file_path":"/p/a.go","content":"x"}`, "writes /p/a.go"},
		{"Write ", `{"file_path":"/p/a.go","content":"x"}`, "writes /p/a.go"},
		{"LS", `{"path":"/data"}`, "reads /data"},
		{"SlashCommand", `{"command":"/writ-status"}`, "reads"},
		{"TodoWrite", `{"todos":[],"path":"/p/a.go","content":"x"}`, "reads"},
		{"REPL", `{"code":"fs.writeFileSync('/p/a.go', 'x')"}`, "runs code"},
		{"mcp__ide__executeCode", `{"code":"open('/p/a.go','w')"}`, "runs code"},
		{"mcp__py__run_python", `{"script":"open('/p/a.go','w')"}`, "runs code"},
		{"mcp__py__explain", `{"code":"open('/p/a.go','w')"}`, "reads"},
		{"mcp__ide__getDiagnostics", `{"uri":"file:///p/a.go"}`, "reads /p/a.go"},
		{"mcp__ci__run_workflow", `{"name":"build"}`, "reads"},
		{"mcp__odd__write_file", `["/p/a.go"]`, "reads"},
	} {
		payload, err := json.Marshal(map[string]any{
			"session_id": "s", "cwd": "/p", "tool_name": c.tool, "tool_use_id": "t", "tool_input": json.RawMessage(c.input),
		})
		if err != nil {
			t.Fatal(err)
		}
		call, err := Parse("claude", "PreToolUse", payload)
		if err != nil {
			t.Errorf("%s: %v", c.tool, err)
			continue
		}
		got := "reads " + strings.Join(call.Reads, " ")
		switch {
		case call.Code:
			got = "runs code"
		case call.Shell != nil:
			got = "runs " + *call.Shell
		case len(call.Writes) > 0:
			got = "writes"
			for _, w := range call.Writes {
				got += " " + w.Path
			}
		}
		if got = strings.TrimSpace(got); got != c.want && (c.want != "reads" || !strings.HasPrefix(got, "reads")) {
			t.Errorf("%s %s: %s, want %s", c.tool, c.input, got, c.want)
		}
	}
}

// TestSourceOfAPrompt: a source that is missing is told from one that cannot be
// read, which is nobody's word.
func TestSourceOfAPrompt(t *testing.T) {
	for source, want := range map[string]string{
		``: "", `"source":"user",`: "user", `"source":"sdk",`: "sdk", `"source":null,`: "",
		`"source":5,`: "unreadable", `"source":"",`: "unreadable", `"source":{"a":1},`: "unreadable",
	} {
		call, err := Parse("claude", "UserPromptSubmit", []byte(`{`+source+`"session_id":"s","cwd":"/p","prompt":"approved"}`))
		if err != nil || call.Origin != want {
			t.Errorf("%s: origin %q, %v, want %q", source, call.Origin, err, want)
		}
	}
}
