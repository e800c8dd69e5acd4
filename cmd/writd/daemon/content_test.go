package daemon

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/enforcement/project"
	"github.com/writbus/writ/schemas"
)

const horseCheck = "---\ncheck: {language: go, pattern: 'draw\\(horse\\)', message: paint the stripes}\n"

// tool runs both hooks of a write, with the write in between.
func (w *world) tool(id, name string, input map[string]any, path, content string) schemas.HookReply {
	w.t.Helper()
	input["file_path"] = filepath.Join(w.project, path)
	payload := map[string]any{"tool_name": name, "tool_use_id": id, "tool_input": input}
	if reply := w.send("PreToolUse", payload); reply.Exit != 0 {
		w.t.Fatalf("%s: %s", id, reply.Stderr)
	}
	put(w.t, filepath.Join(w.project, path), content)
	return w.send("PostToolUse", map[string]any{"tool_name": name, "tool_use_id": id, "tool_input": input, "tool_response": map[string]any{}})
}

// TestViolationsAreToldHeldAndCounted: what a change breaks is told at once,
// old faults in the same file are not, and a turn in work mode does not end
// before it is fixed.
func TestViolationsAreToldHeldAndCounted(t *testing.T) {
	w := start(t, t.TempDir(), newProject(t, "mode: conversation\n"))
	rule := strings.Replace(ruleText("ZOO-STRIPE-001", "Paint the stripes before printing."), "---\n", horseCheck, 1)
	w.changed(schemas.RuleChangeRequest{Act: schemas.RuleAdd, Content: rule})
	w.prompt("hello")
	old := "package zoo\n\nfunc old() { draw(horse) }\n"
	put(t, filepath.Join(w.project, "zoo.go"), old)
	broken := old + "\nfunc fresh() { draw(horse) }\n"
	reply := w.tool("t1", "Write", map[string]any{"content": broken}, "zoo.go", broken)
	if !strings.Contains(reply.Stdout, "zoo.go:5: ZOO-STRIPE-001: paint the stripes") || strings.Contains(reply.Stdout, "zoo.go:3") {
		t.Fatalf("told: %s", reply.Stdout)
	}
	if reply := w.send("Stop", map[string]any{"stop_hook_active": false}); strings.Contains(reply.Stdout, "block") {
		t.Errorf("held outside of work: %s", reply.Stdout)
	}
	if _, err := call[schemas.ActReply](w, w.admin, schemas.SvcModeByUser, schemas.ModeRequest{Session: "s1", Mode: "work"}); err != nil {
		t.Fatal(err)
	}
	if reply := w.send("Stop", map[string]any{"stop_hook_active": false}); !strings.Contains(reply.Stdout, `"decision":"block"`) || !strings.Contains(reply.Stdout, "ZOO-STRIPE-001") {
		t.Errorf("not held: %s", reply.Stdout)
	}
	if reply := w.send("Stop", map[string]any{"stop_hook_active": true}); strings.Contains(reply.Stdout, "block") || !strings.Contains(reply.Stdout, "ZOO-STRIPE-001") {
		t.Errorf("held again: %s", reply.Stdout)
	}
	// Somebody mends it behind Writ's back.
	put(t, filepath.Join(w.project, "zoo.go"), old)
	if reply := w.send("Stop", map[string]any{"stop_hook_active": false}); strings.Contains(reply.Stdout, "block") {
		t.Errorf("held for what is gone: %s", reply.Stdout)
	}
	view, err := call[schemas.RuleView](w, w.hook, schemas.SvcRule, schemas.RuleQuery{ID: "ZOO-STRIPE-001"})
	if err != nil || view.Negative != 1 {
		t.Errorf("outcomes: %+v, %v", view, err)
	}
}

// TestWhatIsFixedCountsForTheRule: by an edit, whose lines are found without
// the content before.
func TestWhatIsFixedCountsForTheRule(t *testing.T) {
	w := start(t, t.TempDir(), newProject(t, "mode: conversation\n"))
	rule := strings.Replace(ruleText("ZOO-STRIPE-001", "Paint the stripes before printing."), "---\n", horseCheck, 1)
	w.changed(schemas.RuleChangeRequest{Act: schemas.RuleAdd, Content: rule})
	bad, good := "package zoo\n\nfunc a() { draw(horse) }\n", "package zoo\n\nfunc a() { draw(horse, stripes) }\n"
	w.tool("t1", "Write", map[string]any{"content": bad}, "zoo.go", bad)
	reply := w.tool("t2", "Edit", map[string]any{"old_string": "draw(horse)", "new_string": "draw(horse, stripes)"}, "zoo.go", good)
	if !strings.Contains(reply.Stdout, "fixed: ZOO-STRIPE-001") {
		t.Errorf("told: %s", reply.Stdout)
	}
	view, err := call[schemas.RuleView](w, w.hook, schemas.SvcRule, schemas.RuleQuery{ID: "ZOO-STRIPE-001"})
	if err != nil || view.Negative != 1 || view.Positive != 1 {
		t.Errorf("outcomes: %+v, %v", view, err)
	}
	w.tool("t3", "Write", map[string]any{"content": bad}, "other.go", bad)
	w.send("SessionEnd", map[string]any{"reason": "exit"})
	if view, err = call[schemas.RuleView](w, w.hook, schemas.SvcRule, schemas.RuleQuery{ID: "ZOO-STRIPE-001"}); err != nil || view.Negative != 3 {
		t.Errorf("what was left does not count: %+v, %v", view, err)
	}
}

func TestSecretsAreRefusedBeforeTheyAreWritten(t *testing.T) {
	w := start(t, t.TempDir(), newProject(t, "mode: conversation\n"))
	token := "glpat-" + "Vq7tR2xLmWz4Kd81sHcY"
	reply := w.write("config.go", "package a\n\nconst key = \""+token+"\"\n")
	if reply.Exit != 2 || !strings.Contains(reply.Stderr, "ENF-SECRET") || strings.Contains(reply.Stdout+reply.Stderr, token) {
		t.Errorf("%+v", reply)
	}
	if reply := w.write("config.go", "package a\n\nvar key = os.Getenv(\"KEY\")\n"); reply.Exit != 0 {
		t.Errorf("a clean file: %+v", reply)
	}
	if _, err := os.Stat(filepath.Join(w.project, "config.go")); err == nil {
		t.Error("the hook wrote the file")
	}
}

// TestSecretsAreRefusedWhateverTheFileHolds: what a write brings is looked at, also
// where it cannot be told what it leaves of the file.
func TestSecretsAreRefusedWhateverTheFileHolds(t *testing.T) {
	w := start(t, t.TempDir(), newProject(t, "mode: conversation\n"))
	line := "const key = \"glpat-" + "Vq7tR2xLmWz4Kd81sHcY" + "\"\n"
	put(t, filepath.Join(w.project, "big.txt"), strings.Repeat("some line\n", project.MaxRead/10+1))
	put(t, filepath.Join(w.project, "small.txt"), "a\n")
	write := func(name, content string) schemas.HookReply { return w.write(name, content) }
	edit := func(name, old, new string) schemas.HookReply {
		return w.send("PreToolUse", map[string]any{
			"tool_name": "Edit", "tool_use_id": "edit-" + name, "tool_input": map[string]any{"file_path": filepath.Join(w.project, name), "old_string": old, "new_string": new},
		})
	}
	for name, reply := range map[string]schemas.HookReply{
		"over a large file":          write("big.txt", line),
		"in a large file":            edit("big.txt", "some line", line),
		"for what is not there":      edit("small.txt", "b", line),
		"in a large text":            write("new.txt", strings.Repeat("some line\n", 300_000)+line),
		"in a text with a zero byte": write("zero.txt", "a\x00\n"+line),
	} {
		if reply.Exit != 2 || !strings.Contains(reply.Stderr, "ENF-SECRET") {
			t.Errorf("%s: %+.300v", name, reply)
		}
	}
}

// TestReadingARuleIsAnOutcome: a rule of which a prompt brought a line, and that
// the agent then reads, did its work. One that was not offered the agent has then too,
// and may cite; it is no outcome.
func TestReadingARuleIsAnOutcome(t *testing.T) {
	w := shippedWorld(t)
	w.prompt("add rate limiting to the login route")
	offered := ""
	for _, r := range w.rulesShown("prompt") {
		if r.Band == enforcement.BandLine {
			offered = r.ID
		}
	}
	if offered == "" {
		t.Fatal("no line was given")
	}
	for range 2 {
		w.send("PostToolUse", map[string]any{
			"tool_name": "Bash", "tool_use_id": "read-1", "tool_input": map[string]any{"command": "writ rule show " + offered + " && writ rule show GO-CTX-FIRST-001 NO-SUCH-RULE-001"},
			"tool_response": map[string]any{},
		})
	}
	if read := w.rulesShown("asked"); len(read) != 2 || read[0].ID != offered || read[0].Band != "retrieved" || read[1].ID != "GO-CTX-FIRST-001" {
		t.Errorf("read %+v, offered %s", read, offered)
	}
	for id, positive := range map[string]int{offered: 1, "GO-CTX-FIRST-001": 0} {
		view, err := call[schemas.RuleView](w, w.hook, schemas.SvcRule, schemas.RuleQuery{ID: id})
		if err != nil || view.Positive != positive {
			t.Errorf("%s: %d positive outcomes, want %d; %v", id, view.Positive, positive, err)
		}
	}
}

// rulesShown are the rules of the session that a trigger brought.
func (w *world) rulesShown(trigger string) (rules []schemas.ShownRule) {
	for _, e := range w.history("s1") {
		var p schemas.RulesShown
		if e.Type == (schemas.RulesShown{}).EventType() && json.Unmarshal(e.Data, &p) == nil && p.Trigger == trigger {
			rules = append(rules, p.Rules...)
		}
	}
	return rules
}

// TestAnAgentHearsWhyItsPlanCannotBeApproved: at once as it wrote it, and nothing of
// one that can be.
func TestAnAgentHearsWhyItsPlanCannotBeApproved(t *testing.T) {
	w := start(t, t.TempDir(), newProject(t, "mode: work\n"))
	written := func(content string) schemas.HookReply {
		w.write("plan.md", content)
		put(t, filepath.Join(w.project, "plan.md"), content)
		return w.send("PostToolUse", map[string]any{
			"tool_name": "Write", "tool_use_id": "plan", "tool_input": map[string]any{"file_path": filepath.Join(w.project, "plan.md"), "content": content},
			"tool_response": map[string]any{},
		})
	}
	const plan = "# Totals\n\n## Files\n- shop.go: Total\n\n## Analysis\nTotal adds the prices of a cart, which are cents.\n\n## Rules Applied\nNo matching rules\n\n## Capabilities\n- [ ] The prices of a cart are added up\n"
	if reply := written(strings.Replace(plan, "No matching rules", "NO-SUCH-RULE-001 says so", 1)); !strings.Contains(reply.Stdout, "plan.md cannot be approved as it is") || !strings.Contains(reply.Stdout, "NO-SUCH-RULE-001") {
		t.Errorf("of a plan that cites what is not there: %q", reply.Stdout)
	}
	if reply := written(plan); strings.Contains(reply.Stdout, "cannot be approved") {
		t.Errorf("of a plan that can be approved: %q", reply.Stdout)
	}
}
