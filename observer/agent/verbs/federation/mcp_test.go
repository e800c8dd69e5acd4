package federation

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/writbus/writ/observer/agent/verbs"
)

func newTestMCP(t *testing.T) *MCP {
	t.Helper()
	m := NewMCP(map[string]Server{
		"near":   {Command: []string{os.Args[0], serverArg}, Env: map[string]string{"OURS": "yes"}},
		"far":    {URL: overHTTP(t, "Bearer token"), Headers: map[string]string{"Authorization": "Bearer token"}},
		"closed": {URL: overHTTP(t, "Bearer other"), Headers: map[string]string{"Authorization": "Bearer token"}},
		"broken": {Command: []string{os.Args[0], serverArg, "broken"}},
		"absent": {Command: []string{"/no/such/program"}},
	}, "test")
	t.Cleanup(m.Close)
	return m
}

func TestMCPCall(t *testing.T) {
	t.Setenv("SECRET_KEY", "secret")
	m := newTestMCP(t)
	workspace, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ args, want string }{
		{`call near greet {"name": "you", "loud": true}`, "hello you"},
		{`call far greet {"name":"me"}`, "hello me"},
		{`call near environment`, workspace + ` "yes" ""`},
		{`call near fails {}`, "ERR: the tool near fails failed. Adapt: read what it says.\n\nit did not work"},
		{`call far nothing`, "OK: far nothing answered nothing"},
		{`call near refuses`, "ERR: "},
		{`call near no_such_tool {}`, "ERR: MCP server near refused: unknown tool \"no_such_tool\""},
		{`call near greet {"name": 7}`, "ERR: "},
		{`call near greet [1]`, "ERR: the arguments are no JSON object: "},
		{`call near greet null`, "ERR: the arguments are no JSON object: it is null. "},
		{`call near greet {"name": "x"`, "ERR: the arguments are no JSON object: unexpected end of JSON input. "},
		{`call near`, "ERR: /mcp call needs a server and a tool. "},
		{`call nobody greet {}`, "ERR: there is no MCP server nobody. Adapt: use one of absent, broken, closed, far, near."},
		{`call absent greet {}`, "ERR: MCP server absent cannot be used: "},
		{`call broken greet {}`, "ERR: MCP server broken cannot be used: "},
		{`call closed greet {}`, "ERR: MCP server closed cannot be used: "},
		{`frobnicate`, "ERR: /mcp has no frobnicate. "},
	} {
		r := ask(t.Context(), t, m, "mcp", c.args, workspace)
		if !strings.HasPrefix(r.Text, c.want) {
			t.Errorf("/mcp %s: %q", c.args, r.Text)
		}
		if failed := strings.HasPrefix(c.want, "ERR"); failed == (r.Outcome == verbs.Done) {
			t.Errorf("/mcp %s: outcome %q", c.args, r.Outcome)
		}
		if r.Outcome == verbs.Done && !strings.HasPrefix(c.want, "OK") && r.Trust != verbs.TrustMCP {
			t.Errorf("/mcp %s: trust %q", c.args, r.Trust)
		}
	}
	if r := ask(t.Context(), t, m, "mcp", "call broken greet", workspace); !strings.Contains(r.Text, "the configuration is missing") {
		t.Errorf("what a server says when it does not start: %q", r.Text)
	}
	r := ask(t.Context(), t, m, "mcp", "call far picture", workspace)
	if r.Text != "look:\n[audio/wav, 3 bytes]\n[link: x file:///x]\n[resource mem:y]\ninside" || len(r.Images) != 1 || string(r.Images[0].Data) != "png" || len(r.Keep) != 1 {
		t.Errorf("%+v", r)
	}
}

func TestToolsAreThoseGranted(t *testing.T) {
	t.Parallel()
	m := newTestMCP(t)
	r := ask(t.Context(), t, m, "mcp", "tools near", t.TempDir())
	if !strings.HasPrefix(r.Text, "near:\n  child {}\n") || !strings.Contains(r.Text, "  greet {\"name\": string, \"loud\"?: boolean}\n    Greets somebody.\n") || r.Trust != verbs.TrustMCP {
		t.Errorf("%q", r.Text)
	}
	r = ask(t.Context(), t, m, "mcp", "tools", t.TempDir(), "/mcp server=far tool=gr*,fails")
	if r.Text != "far:\n  fails {}\n  greet {\"name\": string, \"loud\"?: boolean}\n    Greets somebody.\n" {
		t.Errorf("%q", r.Text)
	}
	if r := ask(t.Context(), t, m, "mcp", "tools far", t.TempDir(), "/mcp server=near"); r.Text != "OK: no tools that you may call" {
		t.Errorf("%q", r.Text)
	}
	if r := ask(t.Context(), t, m, "mcp", "tools", t.TempDir()); !strings.Contains(r.Text, "ERR: MCP server broken cannot be used") || !strings.Contains(r.Text, "near:\n") {
		t.Errorf("%q", r.Text)
	}
	if r := ask(t.Context(), t, m, "mcp", "tools nobody", t.TempDir()); !strings.HasPrefix(r.Text, "ERR: there is no MCP server nobody") {
		t.Errorf("%q", r.Text)
	}
	if r := ask(t.Context(), t, NewMCP(nil, ""), "mcp", "tools", t.TempDir()); !strings.HasPrefix(r.Text, "ERR: no MCP server is set up") {
		t.Errorf("%q", r.Text)
	}
}

// TestAServerThatDiesIsStartedAgain, and one that hangs does not hold others up.
func TestAServerThatDiesIsStartedAgain(t *testing.T) {
	t.Parallel()
	m := newTestMCP(t)
	dir := t.TempDir()
	ask(t.Context(), t, m, "mcp", `call near greet {"name": "x"}`, dir)
	if r := ask(t.Context(), t, m, "mcp", "call near die", dir); r.Outcome != verbs.Failed {
		t.Errorf("%q", r.Text)
	}
	if r := ask(t.Context(), t, m, "mcp", `call near greet {"name": "again"}`, dir); r.Text != "hello again" {
		t.Errorf("after its end: %q", r.Text)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	var wait sync.WaitGroup
	wait.Go(func() {
		if r := ask(ctx, t, m, "mcp", "call near hang", dir); !strings.Contains(r.Text, "in time") {
			t.Errorf("%q", r.Text)
		}
	})
	wait.Go(func() {
		if r := ask(t.Context(), t, m, "mcp", `call near greet {"name": "meanwhile"}`, dir); r.Text != "hello meanwhile" {
			t.Errorf("%q", r.Text)
		}
	})
	wait.Wait()
}

// npmVariable is a command line that starts a server from npm; see
// test/ci/mcp-npm.sh.
const npmVariable = "WRIT_TEST_MCP_NPM"

func TestMCPServerFromNPM(t *testing.T) {
	command := strings.Fields(os.Getenv(npmVariable))
	if len(command) == 0 {
		t.Skip("needs Node and a server: test/ci/mcp-npm.sh installs one and sets " + npmVariable)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("from the file"), 0o644); err != nil {
		t.Fatal(err)
	}
	m := NewMCP(map[string]Server{"files": {Command: append(command, dir)}}, "test")
	t.Cleanup(m.Close)
	r := ask(t.Context(), t, m, "mcp", "tools files", dir, "/mcp server=files tool=*read*")
	if !strings.Contains(r.Text, "read_text_file {\"path\": string") || strings.Contains(r.Text, "write_file") {
		t.Errorf("%q", r.Text)
	}
	if r := ask(t.Context(), t, m, "mcp", `call files read_text_file {"path": "`+filepath.Join(dir, "a.txt")+`"}`, dir); !strings.Contains(r.Text, "from the file") {
		t.Errorf("%q", r.Text)
	}
	if r := ask(t.Context(), t, m, "mcp", `call files read_text_file {"path": "/etc/passwd"}`, dir); !strings.HasPrefix(r.Text, "ERR: the tool files read_text_file failed") {
		t.Errorf("%q", r.Text)
	}
}
