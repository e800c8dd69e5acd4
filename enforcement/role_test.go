package enforcement

import (
	"strings"
	"testing"

	"github.com/writbus/writ/schemas"
)

func TestRoleOf(t *testing.T) {
	for text, want := range map[string]string{
		"Explore|find the store|": RoleExplore, "|Search for callers|": RoleExplore, "code-reviewer|review the diff|": RoleReviewQuality,
		"general-purpose|Spec review|": RoleReviewSpec, "spec-reviewer||": RoleReviewSpec, "|Review task 1 for spec compliance|": RoleReviewSpec,
		"|Review the changes against the plan|": RoleReviewSpec, "general-purpose|Code quality review|": RoleReviewQuality,
		"|Security review of the store|": RoleReviewQuality, "Plan|design the store|": RolePlan, "|Write tests for the store|": RoleTest,
		"|Implement task 2|": RoleImplement, "general-purpose|Fix the lookup|": RoleImplement, "general-purpose||": "",
		"general-purpose|Task 3|Implement the lookup as planned.\nThen somebody will review it.": RoleImplement, "||": "",
	} {
		part := strings.SplitN(text, "|", 3)
		if got := RoleOf(Task{part[0], part[1], part[2]}); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestTheReviewOfQualityComesSecond(t *testing.T) {
	quality := RequestTool{Tool: "Agent", Task: &Task{Type: "code-reviewer", Title: "Code quality review"}, Settings: DefaultSettings()}
	spec := RequestTool{Tool: "Agent", Task: &Task{Type: "general-purpose", Title: "Spec review"}, Settings: DefaultSettings()}
	s := inImplementation("store.go")
	early := mustDecide(t, s, quality)
	if early.Verdict != Deny || early.Rule != RuleReviewOrder || !strings.Contains(early.Reason, "store.go") {
		t.Fatalf("too early: %+v", early)
	}
	started := fold(s, mustDecide(t, s, spec))
	for _, p := range []schemas.Payload{
		schemas.SubagentStarted{AgentID: "other", AgentType: "Explore"},
		schemas.SubagentStopped{AgentID: "other"},
		schemas.SubagentStarted{AgentID: "a1", AgentType: "general-purpose"},
	} {
		started = Evolve(started, schemas.Event{Data: p})
	}
	if d := mustDecide(t, started, quality); d.Verdict != Deny {
		t.Errorf("while it reviews: %+v", d)
	}
	done := Evolve(started, schemas.Event{Data: schemas.SubagentStopped{AgentID: "a1"}})
	if d := mustDecide(t, done, quality); d.Verdict != Allow || len(d.Record) != 2 {
		t.Errorf("afterwards: %+v", d)
	}
	changed := Evolve(done, schemas.Event{Data: schemas.ToolFinished{Tool: "Edit", Files: []schemas.FileState{{Path: "store.go"}}}})
	if d := mustDecide(t, changed, quality); d.Verdict != Deny {
		t.Errorf("after another change: %+v", d)
	}
	for name, state := range map[string]State{"a conversation": {Mode: ModeConversation, Unreviewed: []string{"a.go"}}, "nothing changed": inImplementation()} {
		if d := mustDecide(t, state, quality); d.Verdict != Allow {
			t.Errorf("%s: %+v", name, d)
		}
	}
	if text := RolePrompt(RoleReviewSpec, "s1"); !strings.Contains(text, "plan.md") || !strings.Contains(text, "session show s1") {
		t.Errorf("told: %s", text)
	}
}

func TestACompactionIsResumedOnce(t *testing.T) {
	s := inImplementation("store.go")
	s.Work.Gates = map[string]Gate{
		GatePlan:  {Fingerprint: "0123456789abcdef", Capabilities: []string{"An unknown address yields ErrNotFound"}},
		GateTests: {Files: []schemas.FileState{{Path: "store_test.go"}}},
	}
	s.Violations = []schemas.Violation{{Rule: "ZOO-1", Path: "store.go", Line: 3, Message: "paint it"}}
	show := func(s State, id, band string) State {
		return Evolve(s, schemas.Event{Data: schemas.RulesShown{Rules: []schemas.ShownRule{{ID: id, Band: band}}}})
	}
	s = show(show(s, "SQL-1", "retrieved"), "DOC-1", BandInstructions)
	if had := strings.Join(s.Had(), " "); had != "DOC-1 SQL-1" {
		t.Errorf("had %s", had)
	}
	if s.Resume() != "" {
		t.Error("nothing was shortened")
	}
	after := s
	for _, stage := range []string{"before", "after"} {
		after = fold(after, mustDecide(t, after, Compact{schemas.ContextCompacted{Stage: stage}}))
	}
	text := after.Resume()
	for _, want := range []string{"plan.md is approved", "ErrNotFound", "store_test.go", "store.go:3: ZOO-1", "changed since anything was verified: store.go"} {
		if !strings.Contains(text, want) {
			t.Errorf("without %q:\n%s", want, text)
		}
	}
	if len(after.Had()) != 0 || strings.Join(after.Before, " ") != "SQL-1" || after.Compactions != 1 {
		t.Errorf("after: %+v", after)
	}
	for name, p := range map[string]schemas.Payload{
		"the host's start": schemas.SessionStarted{Host: "claude", Project: "/p", Source: "compact"},
		"a prompt":         schemas.PromptSubmitted{Prompt: "go on"},
	} {
		if told := Evolve(after, schemas.Event{Data: p}); told.Resume() != "" || told.Before != nil {
			t.Errorf("%s: told again", name)
		}
	}
	if resumed := Evolve(after, schemas.Event{Data: schemas.SessionStarted{Host: "claude", Project: "/p", Source: "resume"}}); resumed.Resume() == "" {
		t.Error("another start tells nothing")
	}
}
