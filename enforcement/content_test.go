package enforcement

import (
	"strings"
	"testing"
	"time"

	"github.com/writbus/writ/schemas"
)

func found(path string, line int, rule string) schemas.Violation {
	return schemas.Violation{Rule: rule, Path: path, Line: line, Excerpt: rule + " code", Message: "do it right"}
}

// take decides and folds what the decision records.
func take(t *testing.T, s State, c Command) (State, Decision) {
	t.Helper()
	d, err := Decide(s, c)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range d.Record {
		s = Evolve(s, schemas.Event{Time: time.Unix(1, 0), Aggregate: schemas.Session("s"), Data: p})
	}
	return s, d
}

func TestViolationsStayUntilTheyAreGone(t *testing.T) {
	s := State{Host: "claude", Mode: ModeWork}
	a, b := found("a.go", 3, "GO-A-001"), found("a.go", 9, "GO-B-001")
	s, d := take(t, s, CheckContent{Path: "a.go", Found: []schemas.Violation{a, b}, Present: []string{a.Key(), b.Key()}})
	if len(s.Violations) != 2 || !strings.Contains(d.Context, "a.go:3: GO-A-001") {
		t.Fatalf("%+v\n%s", s.Violations, d.Context)
	}
	// Another line changes: what is pending is not told again and stays.
	moved := a
	moved.Line = 5
	s, d = take(t, s, CheckContent{Path: "a.go", Present: []string{moved.Key(), b.Key()}})
	if len(s.Violations) != 2 || len(d.Record) != 0 {
		t.Errorf("%+v, recorded %v", s.Violations, d.Record)
	}
	// A check of another file changes nothing here.
	s, _ = take(t, s, CheckContent{Path: "b.go"})
	s, d = take(t, s, EndTurn{})
	if d.Verdict != Deny || !strings.Contains(d.Reason, "2 violations") || d.Rule != "GO-A-001" {
		t.Errorf("the turn ended: %+v", d)
	}
	s, d = take(t, s, EndTurn{Again: true})
	if d.Verdict != Allow || !strings.Contains(d.Notice, "GO-B-001") {
		t.Errorf("sent back again and again: %+v", d)
	}
	s, d = take(t, s, CheckContent{Path: "a.go", Present: []string{b.Key()}})
	if len(s.Violations) != 1 || !strings.Contains(d.Context, "fixed: GO-A-001") {
		t.Errorf("%+v %s", s.Violations, d.Context)
	}
	s, d = take(t, s, EndTurn{Gone: []schemas.Violation{b}})
	if d.Verdict != Allow || len(s.Violations) != 0 {
		t.Errorf("%+v, %+v", d, s.Violations)
	}
}

func TestOnlyWorkIsSentBack(t *testing.T) {
	v := found("a.go", 3, "GO-A-001")
	for _, s := range []State{{Mode: ModeConversation, Violations: []schemas.Violation{v}}, {Mode: ModeWork}} {
		if _, d := take(t, s, EndTurn{}); d.Verdict != Allow {
			t.Errorf("%s: %+v", s.Mode, d)
		}
	}
	if _, d := take(t, State{Mode: ModeWork, Violations: []schemas.Violation{v}}, EndTurn{Agent: "reviewer"}); d.Verdict != Allow {
		t.Errorf("a sub-agent pays for the session: %+v", d)
	}
}

func TestASecretIsRefusedWhereWritingIsAllowed(t *testing.T) {
	s := State{Host: "claude", Mode: ModeConversation, Project: "/p"}
	request := RequestTool{Tool: "Write", Targets: []schemas.Target{{Path: "/p/a.go", Rel: "a.go", Class: ClassCode}}, Settings: DefaultSettings()}
	if _, d := take(t, s, request); d.Verdict != Allow {
		t.Fatalf("%+v", d)
	}
	request.Secrets = []Secret{{Path: "a.go", Line: 4, What: "a github token"}}
	_, d := take(t, s, request)
	if d.Verdict != Deny || d.Rule != RuleSecret || !strings.Contains(d.Reason, "line 4") || !strings.Contains(d.Reason, "a.go") {
		t.Errorf("%+v", d)
	}
}
