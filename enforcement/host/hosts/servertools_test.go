package hosts

import (
	"bufio"
	"encoding/json"
	"os"
	"testing"
)

// serverTool is a call of a server's tool: one that reads, or one that writes or
// starts something. Missed are those that are taken for the other.
type serverTool struct {
	Server, Tool  string
	Input         json.RawMessage
	Reads, Missed bool
}

// payload is the call as a host tells it.
func (c serverTool) payload(host string) (event string, payload map[string]any) {
	payload = map[string]any{"session_id": "s", "cwd": "/p", "tool_use_id": "t", "tool_name": "mcp__" + c.Server + "__" + c.Tool, "tool_input": c.Input}
	switch host {
	case "cursor":
		payload["conversation_id"], payload["workspace_roots"], payload["command"] = "s", []string{"/p"}, "npx -y "+c.Server+"-mcp"
		payload["tool_name"], payload["tool_input"] = c.Tool, string(c.Input)
		return "beforeMCPExecution", payload
	case "gemini":
		payload["tool_name"] = "mcp_" + c.Server + "_" + c.Tool
		payload["mcp_context"] = map[string]string{"server_name": c.Server, "tool_name": c.Tool}
		return "BeforeTool", payload
	case "copilot":
		return "preToolUse", map[string]any{"sessionId": "s", "cwd": "/p", "toolName": c.Server + "-" + c.Tool, "toolArgs": string(c.Input), "toolCallId": "t"}
	case "opencode":
		payload["tool_name"] = c.Server + "_" + c.Tool
		return "tool.execute.before", payload
	}
	return "PreToolUse", payload
}

// TestServersToolsThatWriteAreAskedFor: whatever a tool that only reads by its name
// is given beside what it reads, in the form of every host. Those that read pass
// where the host tells the server from the tool.
func TestServersToolsThatWriteAreAskedFor(t *testing.T) {
	file, err := os.Open("testdata/servertools.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	calls, missed := map[bool]int{}, map[bool]int{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var c serverTool
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		calls[c.Reads]++
		if c.Missed {
			missed[c.Reads]++
		}
		for _, host := range []string{"claude", "codex", "gemini", "cursor", "copilot", "opencode"} {
			event, fields := c.payload(host)
			payload, err := json.Marshal(fields)
			if err != nil {
				t.Fatal(err)
			}
			call, err := Parse(host, event, payload)
			reads := err == nil && call.Unproven == "" && !call.Code && len(call.Writes) == 0 && call.Shell == nil
			if joined := host == "cursor" || host == "copilot" || host == "opencode"; c.Missed == (reads == c.Reads) && !(joined && (c.Reads || c.Missed)) {
				t.Errorf("%s: %s %s %s: taken for reading: %t (%s), want %t, missed: %t", host, c.Server, c.Tool, c.Input, reads, call.Unproven, c.Reads, c.Missed)
			}
		}
	}
	t.Logf("writers: %d, missed %d; readers: %d, missed %d", calls[false], missed[false], calls[true], missed[true])
}

// TestOnlyWritsOwnServerHasItsToolsInCursor, which names a tool without its server.
func TestOnlyWritsOwnServerHasItsToolsInCursor(t *testing.T) {
	for command, own := range map[string]bool{
		"/home/me/.local/share/writ/writ mcp": true, "writ": true, `C:\Writ\writ.exe mcp`: true, `"/home/me/my tools/writ" mcp`: true,
		"npx -y @modelcontextprotocol/server-postgres": false, "writer mcp": false, "": false,
	} {
		payload, err := json.Marshal(map[string]any{
			"conversation_id": "s", "workspace_roots": []string{"/p"}, "hook_event_name": "beforeMCPExecution",
			"tool_name": "query", "tool_input": `{"sql":"COPY t TO PROGRAM 'touch a'"}`, "command": command,
		})
		if err != nil {
			t.Fatal(err)
		}
		if call, err := Parse("cursor", "beforeMCPExecution", payload); err != nil || call.FromServer == own || (call.Unproven == "") != own {
			t.Errorf("%q: from a server %t, %q, %v", command, call.FromServer, call.Unproven, err)
		}
	}
}

// TestToolsOfTheHostItselfAreNotAskedFor, whatever they are told to read, and how:
// what a host brings along has parameters that no list of ours knows.
func TestToolsOfTheHostItselfAreNotAskedFor(t *testing.T) {
	file, err := os.Open("testdata/builtins.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var c struct {
			Host, Event string
			Payload     json.RawMessage
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		if call, err := Parse(c.Host, c.Event, c.Payload); err != nil || call.Unproven != "" || call.Code || len(call.Writes) > 0 || call.Shell != nil {
			t.Errorf("%s: %s: %q, %v", c.Host, c.Payload, call.Unproven, err)
		}
	}
}
