package projections_test

import (
	"testing"
	"time"

	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/schemas"
)

func TestActivityCountsPerRuleAndHour(t *testing.T) {
	s := &script{memoryLog: newMemoryLog()}
	one := schemas.Session("s1")
	s.add(one, schemas.PromptSubmitted{Prompt: "a"})
	s.add(one, schemas.RulesShown{Trigger: "prompt", Tokens: 90, Rules: []schemas.ShownRule{
		{ID: "GO-ERR-001", Score: 0.9, Band: "retrieved"}, {ID: "GO-ERR-002", Score: 0.4, Band: "retrieved"}, {ID: "ENF-PLAN-001", Band: "mandatory"},
	}})
	s.add(one, schemas.ToolDecided{Tool: "Write", Verdict: "deny", Rule: "ENF-GATE-PLAN"})
	s.add(one, schemas.ToolDecided{Tool: "Write", Verdict: "allow"})
	s.add(one, schemas.RuleViolated{Violations: []schemas.Violation{{Rule: "GO-ERR-001", Path: "a.go", Line: 3}}})
	s.add(schemas.RuleAggregate("GO-ERR-001"), schemas.OutcomeRecorded{Positive: false, Evidence: "check_failed", Session: "s1"})
	s.add(schemas.Session(schemas.ProbeSession+"1"), schemas.ToolDecided{Tool: "Write", Verdict: "deny", Rule: "ENF-GATE-PLAN"}) // writ doctor's
	rd := view(t, s.memoryLog, projections.NewActivity())

	rules := map[string]projections.RuleActivity{}
	for r, err := range (projections.Activity{}).Rules(rd) {
		if err != nil {
			t.Fatal(err)
		}
		rules[r.Rule] = r
	}
	if r := rules["GO-ERR-001"]; r.Shown != 1 || r.Violated != 1 || r.Ignored != 1 || r.Followed != 0 || !r.Last.Equal(epoch.Add(6*time.Minute)) {
		t.Errorf("GO-ERR-001: %+v", r)
	}
	if r := rules["ENF-GATE-PLAN"]; r.Denied != 1 || r.Shown != 0 {
		t.Errorf("ENF-GATE-PLAN: %+v", r)
	}
	var hours []projections.Hour
	for h, err := range (projections.Activity{}).Hours(rd, epoch) {
		if err != nil {
			t.Fatal(err)
		}
		hours = append(hours, h)
	}
	want := projections.Hour{Start: epoch.Truncate(time.Hour), Prompts: 1, Answered: 1, Shown: 2, Tokens: 90, Best: 0.9, Allowed: 1, Denied: 1, Ignored: 1}
	if len(hours) != 1 || hours[0] != want {
		t.Errorf("%+v, want %+v", hours, want)
	}
	for h := range (projections.Activity{}).Hours(rd, epoch.Add(2*time.Hour)) {
		t.Errorf("an hour before the first one asked for: %+v", h)
	}
}
