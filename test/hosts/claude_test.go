package hosts

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/writbus/writ/test/hosts/script"
)

const (
	lookUp  = "Look up what holds here."
	planIt  = "Plan it now."
	carryOn = "Carry on."
)

// writTool is a call of one of Writ's tools, as a plugin's server names them.
func writTool(name string, input map[string]any) script.Reply {
	return script.Reply{Calls: []script.Call{{Tool: "mcp__plugin_writ_writ__" + name, Input: input}}}
}

const proposed = `{"id":"SHOP-CENTS-001","title":"Count money in cents","domain":"go","severity":"high","scope":"file",
"trigger":"A price or a sum of money is stored or added up.","statement":"Keep money as a whole number of cents; format it where it is shown."}`

// TestClaudeWithThePlugin: the plugin is valid, its MCP server answers, and with
// the project's own hooks beside it nothing counts twice.
func TestClaudeWithThePlugin(t *testing.T) {
	folders(t)
	a := agents[0]
	plugin := filepath.Join(t.TempDir(), "plugin")
	plain := a.args
	a.args = func(r *rig, prompt string) []string {
		return append(plain(r, prompt), "--plugin-dir", plugin, "--allowedTools", "Bash,Write,mcp__plugin_writ_writ__*")
	}
	r := guarded(t, a)
	r.must("writ", "init", "--plugin", plugin)
	if out := r.must(r.agent.program, "plugin", "validate", "--strict", plugin); !strings.Contains(out, "Validation passed") {
		t.Error(out)
	}
	r.model.Scripts = map[string][]script.Reply{
		lookUp: {
			writTool("status", map[string]any{}),
			writTool("query", map[string]any{"text": "build a SQL query from what the user typed"}),
			writTool("recall", map[string]any{"text": "sum of prices"}),
			writTool("propose", map[string]any{"content": proposed}),
			writTool("advance_phase", map[string]any{}),
			{Calls: []script.Call{a.file(filepath.Join(r.project, "cart.go"), code)}},
			{Text: "That is what I found."},
		},
		planIt: {
			{Calls: []script.Call{a.shell("writ mode set work")}},
			{Calls: []script.Call{a.file(filepath.Join(r.project, "plan.md"), plan)}},
			writTool("advance_phase", map[string]any{"gate": "plan"}),
			{Text: "The plan waits for you."},
		},
		carryOn: {
			writTool("advance_phase", map[string]any{"gate": "plan"}),
			writTool("status", map[string]any{}),
			{Text: "On to the tests."},
		},
	}
	told, results := r.turn(lookUp)
	r.wantResults(results, `"mode":""`, `"id":"SQL-`, `"hits":[]`, `"id":"SHOP-CENTS-001"`, "only work mode has phases", "ENF-GATE-MODE: cart.go")
	if n := strings.Count(told, "This project is guarded by Writ."); n != 1 {
		t.Errorf("the model was told of the guard %d times", n)
	}
	session, _ := r.session()
	kinds := map[string]int{}
	for _, line := range lines(r.events(session)) {
		var e struct{ Type string }
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		kinds[e.Type]++
	}
	for kind, want := range map[string]int{"session.started": 1, "prompt.submitted": 1, "turn.ended": 1, "session.ended": 1} {
		if kinds[kind] != want {
			t.Errorf("%d of %s, want %d: %v", kinds[kind], kind, want, kinds)
		}
	}
	_, results = r.turn(planIt)
	r.wantResults(results, "planning", "", "the user has not approved the plan")
	if log := r.events(session); !strings.Contains(log, `"approval.refused"`) {
		t.Errorf("the call for an approval was not recorded:\n%s", tail(log))
	}
	r.atTerminal("plan", session)
	_, results = r.turn(carryOn)
	r.wantResults(results, "testing", `"phase":"testing"`)
}

// TestClaudeKnowsItsShellInAHeldCommand: functions, aliases and options that Claude
// Code takes over from the user's own shell are there in a held command as well.
func TestClaudeKnowsItsShellInAHeldCommand(t *testing.T) {
	folders(t)
	a := agents[0]
	plain := a.prepare
	a.prepare = func(r *rig) {
		plain(r)
		r.vars = append(r.vars, "SHELL=/bin/bash")
		r.write("~/.bashrc", "greet() { echo \"hello $1\"; }\nalias shout='echo ALOUD'\nset -o pipefail\n")
	}
	r := guarded(t, a)
	r.model.Scripts = map[string][]script.Reply{
		wish: {
			{Calls: []script.Call{a.shell("writ mode set work")}},
			{Calls: []script.Call{a.shell("greet you; shout it; false | true; echo status $?; " + bypass)}},
			{Text: "Done."},
		},
	}
	_, results := r.turn(wish)
	r.wantResults(results, "", "hello you\nALOUD it\nstatus 1")
	if !strings.Contains(results[1], "ermission denied") || r.has("cart.go") {
		t.Errorf("the command was not held: %s", results[1])
	}
}
