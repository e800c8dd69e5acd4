package daemon

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/writbus/writ/schemas"
)

const leaky = `package store

import "database/sql"

// ByEmail finds a user by its e-mail address, in a query that is put together.
func ByEmail(db *sql.DB, email string) (*sql.Rows, error) {
	query := "SELECT id, name FROM users WHERE email = '" + email + "'"
	return db.Query(query)
}
`

// TestReadingBringsRulesWhereCodeIsJudged: in review and debug, not elsewhere.
func TestReadingBringsRulesWhereCodeIsJudged(t *testing.T) {
	t.Parallel()
	w := shippedFor(t, newProject(t, ""))
	put(t, filepath.Join(w.project, "go.mod"), "module m\n")
	put(t, filepath.Join(w.project, "store.go"), leaky)
	for session, mode := range map[string]string{"r1": "review", "c1": "conversation"} {
		w.send("SessionStart", map[string]any{"session_id": session})
		if _, err := call[schemas.ActReply](w, w.hook, schemas.SvcMode, schemas.ModeRequest{Session: session, Mode: mode}); err != nil {
			t.Fatal(err)
		}
		reply := w.send("PreToolUse", map[string]any{"session_id": session, "tool_name": "Read", "tool_input": map[string]any{"file_path": filepath.Join(w.project, "store.go")}})
		if told := strings.Contains(reply.Stdout, "--- WRIT RULES ---"); told != (mode == "review") {
			t.Errorf("%s: %s", mode, reply.Stdout)
		}
	}
	again := w.send("PreToolUse", map[string]any{"session_id": "r1", "tool_name": "Read", "tool_use_id": "2", "tool_input": map[string]any{"file_path": filepath.Join(w.project, "store.go")}})
	shown := map[string]int{}
	for _, e := range w.history("r1") {
		var p schemas.RulesShown
		if e.Type == "rules.shown" && json.Unmarshal(e.Data, &p) == nil && p.Trigger == "read" {
			for _, r := range p.Rules {
				shown[r.ID]++
			}
		}
	}
	for id, times := range shown {
		if times > 1 {
			t.Errorf("%s is told twice: %s", id, again.Stdout)
		}
	}
	if len(shown) == 0 {
		t.Error("nothing is recorded as shown")
	}
}

// TestRulesInInstructionsAreNotInjectedBesideThem takes the mandatory band out
// of a session whose host already gives it to the model.
func TestRulesInInstructionsAreNotInjectedBesideThem(t *testing.T) {
	t.Parallel()
	w := start(t, t.TempDir(), newProject(t, "mode: conversation\n"))
	rule := strings.Replace(ruleText("ZOO-STRIPE-001", "Paint the stripes before the picture is printed."), "---\n", "---\nmandatory: true\n", 1)
	w.changed(schemas.RuleChangeRequest{Act: schemas.RuleAdd, Content: rule})
	if r := w.send("SessionStart", map[string]any{}); !strings.Contains(r.Stdout, "ZOO-STRIPE-001") {
		t.Fatalf("the band is not there: %s", r.Stdout)
	}
	file := filepath.Join(w.project, "CLAUDE.md")
	put(t, file, "# House rules\n\n* **Paint the stripes**, before the\n  picture is printed.\n* ZOO-OTHER-001\n")
	w.send("InstructionsLoaded", map[string]any{"file_path": file, "memory_type": "Project", "load_reason": "session_start"})
	if r := w.prompt("hello"); strings.Contains(r.Stdout, "ZOO-STRIPE-001") {
		t.Errorf("injected beside the instructions: %s", r.Stdout)
	}
	for _, odd := range []string{"/no/such/file", "relative.md", w.project, ""} {
		if r := w.send("InstructionsLoaded", map[string]any{"file_path": odd}); r.Exit != 0 {
			t.Errorf("%q: %+v", odd, r)
		}
	}
	w.send("PreCompact", map[string]any{"trigger": "auto"})
	if r := w.prompt("and now?"); !strings.Contains(r.Stdout, "ZOO-STRIPE-001") {
		t.Errorf("after a compaction the host has not given them yet: %s", r.Stdout)
	}
}

func TestACompactionLeavesTheModelWhereItWas(t *testing.T) {
	t.Parallel()
	w := inImplementation(t, "")
	w.wrote("store/users.go", "package store\n")
	w.send("PreCompact", map[string]any{"trigger": "manual"})
	w.send("PostCompact", map[string]any{"trigger": "manual", "compact_summary": "…"})
	r := w.send("SessionStart", map[string]any{"source": "compact"})
	for _, want := range []string{"Phase: implementation", "capability: An unknown address yields ErrNotFound", "store/users_test.go", "verified: store/users.go"} {
		if !strings.Contains(r.Stdout, want) {
			t.Errorf("without %q: %s", want, r.Stdout)
		}
	}
	if r := w.prompt("go on"); strings.Contains(r.Stdout, "is gone") {
		t.Errorf("told twice: %s", r.Stdout)
	}
}

// TestAResumedConversationHasTheRulesThatAlwaysHold: again where its host keeps nothing
// that hooks said, and once where it does.
func TestAResumedConversationHasTheRulesThatAlwaysHold(t *testing.T) {
	t.Parallel()
	w := start(t, t.TempDir(), newProject(t, "mode: conversation\n"))
	rule := strings.Replace(ruleText("ZOO-STRIPE-001", "Paint the stripes before the picture is printed."), "---\n", "---\nmandatory: true\n", 1)
	w.changed(schemas.RuleChangeRequest{Act: schemas.RuleAdd, Content: rule})
	for agent, again := range map[string]bool{"gemini": true, "copilot": true, "codex": false, "claude": false} {
		w.agent = agent
		prompt := map[string]string{"gemini": "BeforeAgent"}[agent]
		for i, source := range []string{"startup", "resume", "resume"} {
			r := w.send("SessionStart", map[string]any{"session_id": agent, "source": source})
			if told := strings.Contains(r.Stdout, "ZOO-STRIPE-001"); told != (again || i == 0) {
				t.Errorf("%s, %s: told %v\n%s", agent, source, told, r.Stdout)
			}
			if r := w.send(cmp.Or(prompt, "UserPromptSubmit"), map[string]any{"session_id": agent, "prompt": "hello"}); strings.Contains(r.Stdout, "Paint the stripes") {
				t.Errorf("%s, %s: told twice\n%s", agent, source, r.Stdout)
			}
		}
	}
}

// TestSubagentsAreToldTheirRoleAndRules: the task comes with the tool, the
// sub-agent with another event.
func TestSubagentsAreToldTheirRoleAndRules(t *testing.T) {
	t.Parallel()
	w := shippedFor(t, newProject(t, "mode: conversation\n"))
	r := w.send("PreToolUse", map[string]any{"tool_name": "Agent", "tool_use_id": "t1", "tool_input": map[string]any{
		"subagent_type": "general-purpose", "description": "Implement the lookup", "prompt": "The login query is built by concatenating the e-mail address into the SQL string. Bind it.",
	}})
	if r.Exit != 0 {
		t.Fatalf("%+v", r)
	}
	r = w.send("SubagentStart", map[string]any{"agent_id": "a1", "agent_type": "general-purpose"})
	for _, want := range []string{"Your role: implement", "session show s1", "SQL", "Mode: conversation"} {
		if !strings.Contains(r.Stdout, want) {
			t.Errorf("without %q: %s", want, r.Stdout)
		}
	}
	if r := w.send("SubagentStart", map[string]any{"agent_id": "a2", "agent_type": "Explore"}); !strings.Contains(r.Stdout, "Your role: explore") {
		t.Errorf("by its type alone: %s", r.Stdout)
	}
}

// TestWhatAShellWritesIsChecked: a rule is broken by whatever wrote the line.
func TestWhatAShellWritesIsChecked(t *testing.T) {
	t.Parallel()
	w := start(t, t.TempDir(), newProject(t, "mode: conversation\n"))
	rule := strings.Replace(ruleText("ZOO-STRIPE-001", "Paint the stripes before printing."), "---\n", horseCheck, 1)
	w.changed(schemas.RuleChangeRequest{Act: schemas.RuleAdd, Content: rule})
	old := "package zoo\n\nfunc old() { draw(horse) }\n"
	put(t, filepath.Join(w.project, "zoo.go"), old)
	_, after := w.bash("t1", "cat >> zoo.go <<'EOF'\nfunc fresh() { draw(horse) }\nEOF", func() {
		put(t, filepath.Join(w.project, "zoo.go"), old+"func fresh() { draw(horse) }\n")
	})
	if !strings.Contains(after.Stdout, "zoo.go:4: ZOO-STRIPE-001") || strings.Contains(after.Stdout, "zoo.go:3") {
		t.Errorf("named in the command: %s", after.Stdout)
	}
	_, after = w.bash("t2", "python3 make.py", func() { put(t, filepath.Join(w.project, "made.go"), old) })
	if !strings.Contains(after.Stdout, "made.go:3: ZOO-STRIPE-001") {
		t.Errorf("made by a program: %s", after.Stdout)
	}
}

// TestAPlanWithoutAGraveRuleIsPlannedAgain, and one that names it is not.
func TestAPlanWithoutAGraveRuleIsPlannedAgain(t *testing.T) {
	t.Parallel()
	w := start(t, t.TempDir(), newProject(t, "mode: work\n"))
	for id, severity := range map[string]string{"ZOO-GRAVE-001": "critical", "ZOO-LIGHT-001": "low"} {
		text := strings.Replace(ruleText(id, "Paint the stripes of "+id+" before printing."), "---\n", strings.Replace(horseCheck, "horse", strings.ToLower(id[4:9]), 1), 1)
		w.changed(schemas.RuleChangeRequest{Act: schemas.RuleAdd, Content: strings.Replace(text, "severity: high", "severity: "+severity, 1)})
	}
	w.wrote("plan.md", goodPlan)
	w.prompt("approved")
	w.wrote("store/users_test.go", goodTest)
	w.prompt("the tests are approved")
	write := func(id, path, body string) schemas.HookReply {
		return w.tool(id, "Write", map[string]any{"content": body}, path, body)
	}
	if r := write("1", "store/users.go", "package store\n\nfunc a() { draw(light) }\n"); strings.Contains(r.Stdout, "planning gap") {
		t.Errorf("a light rule: %s", r.Stdout)
	}
	if r := write("2", "store/other.go", "package store\n\nfunc b() { draw(grave) }\n"); strings.Contains(r.Stdout, "planning gap") {
		t.Errorf("a file that is not planned: %s", r.Stdout)
	}
	if r := write("3", "store/users.go", "package store\n\nfunc a() { draw(grave) }\n"); !strings.Contains(r.Stdout, "a planning gap: store/users.go breaks ZOO-GRAVE-001") {
		t.Errorf("a grave rule: %s", r.Stdout)
	}
	view, err := call[schemas.SessionView](w, w.hook, schemas.SvcSession, schemas.SessionQuery{Session: "s1"})
	if err != nil || view.Phase != "planning" {
		t.Errorf("phase %s, %v", view.Phase, err)
	}
}
