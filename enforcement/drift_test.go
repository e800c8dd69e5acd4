package enforcement

import (
	"strings"
	"testing"

	"github.com/writbus/writ/schemas"
)

func TestDriftStopsUntilRestored(t *testing.T) {
	x := reach(t, PhaseImplementation)
	x.files[PlanFile] = otherPlan
	x.write(codeFile, "x = 2")
	x.want(Deny, RuleDrift)
	if got := x.recorded(); got != "tool.decided gate.drifted" {
		t.Errorf("recorded %s", got)
	}
	if !strings.Contains(x.last.Reason, PlanFile) {
		t.Errorf("the reason does not name the file: %s", x.last.Reason)
	}
	x.write(testFile, otherTest)
	x.want(Deny, RuleDrift)
	if got := x.recorded(); got != "tool.decided" {
		t.Errorf("the same drift is recorded twice: %s", got)
	}
	x.write("/tmp/x", "x")
	x.want(Allow, "")
	x.write(PlanFile, goodPlan+"\n")
	x.want(Deny, RuleDrift)
	x.write(PlanFile, goodPlan)
	x.want(Allow, "")
	x.write(codeFile, "x = 2")
	x.want(Allow, "")
	if g := x.state.Work.Gates[GatePlan]; len(g.Drift) != 0 {
		t.Errorf("drift is still recorded: %+v", g.Drift)
	}
}

func TestDriftRestoredByTheUserIsRecorded(t *testing.T) {
	x := reach(t, PhaseImplementation)
	delete(x.files, PlanFile)
	x.write(codeFile, "x = 2")
	x.want(Deny, RuleDrift)
	x.files[PlanFile] = goodPlan
	x.write(codeFile, "x = 2")
	x.want(Allow, "")
	if len(x.state.Work.Gates[GatePlan].Drift) != 0 {
		t.Error("drift is still recorded")
	}
}

func TestDriftReapproved(t *testing.T) {
	x := reach(t, PhaseImplementation)
	x.files[PlanFile] = otherPlan
	x.write(codeFile, "x = 2")
	x.want(Deny, RuleDrift)
	x.prompt("ok, the plan is approved")
	x.phase(PhaseImplementation)
	x.write(codeFile, "x = 2")
	x.want(Allow, "")
	x.files[testFile] = otherTest
	x.write(codeFile, "x = 3")
	x.want(Deny, RuleDrift)
	x.prompt("/writ-approve tests")
	x.write(codeFile, "x = 3")
	x.want(Allow, "")
}

func TestOwnTestEditsAreNoDrift(t *testing.T) {
	x := reach(t, PhaseImplementation)
	x.write(testFile, otherTest)
	x.want(Allow, "")
	x.write(codeFile, "x = 2")
	x.want(Allow, "")
	if o := x.state.Offer(GateImplementation, x.workspace()); len(o.Changed) != 1 || o.Changed[0] != testFile {
		t.Errorf("the changed test is not shown for approval: %+v", o)
	}
	// Between decision and report either content may stand there.
	req := x.requestOf(testFile, goodTest+"\n")
	x.do(req)
	x.write(codeFile, "x = 3")
	x.want(Allow, "")
	x.files[testFile] = goodTest + "\n"
	x.write(codeFile, "x = 4")
	x.want(Allow, "")
	x.files[testFile] = "something else"
	x.write(codeFile, "x = 5")
	x.want(Deny, RuleDrift)
	x.files[testFile] = goodTest + "\n"
	x.finish(req, testFile)
	x.write(codeFile, "x = 5")
	x.want(Allow, "")
}

func TestCommandThatNobodyCanTellMayChangeTests(t *testing.T) {
	x := reach(t, PhaseImplementation)
	d := x.shell("npm run format")
	if d.Verdict != Allow {
		t.Fatalf("%+v", d)
	}
	req := RequestTool{Tool: "Bash", ToolUseID: d.Record[0].(schemas.ToolDecided).ToolUseID}
	x.files[testFile] = otherTest
	x.files[PlanFile] = otherPlan
	x.finish(req, testFile, PlanFile)
	if got := x.recorded(); got != "tool.finished gate.drifted" || x.last.Context == "" {
		t.Errorf("recorded %s, context %q", got, x.last.Context)
	}
	x.write(codeFile, "x = 2")
	x.want(Deny, RuleDrift)
	x.write(PlanFile, goodPlan)
	x.write(codeFile, "x = 2")
	x.want(Allow, "")
}

func TestRefusedWritesLeaveNothingExpected(t *testing.T) {
	x := reach(t, PhaseVerification)
	req := x.requestOf(testFile, otherTest)
	x.do(req)
	x.want(Deny, RuleVerify)
	x.files[testFile] = otherTest // the host let it through all the same
	x.finish(req, testFile)
	x.write(CapabilitiesFile, "- [x] a\n")
	x.want(Deny, RuleDrift)
}

func TestSubagentsTestEditsAreNoDrift(t *testing.T) {
	x := reach(t, PhaseImplementation)
	sub := &session{t: t, files: x.files}
	sub.do(StartSession{schemas.SessionStarted{Host: "claude", Project: "/p", Parent: "s"}})
	req := sub.requestOf(testFile, otherTest)
	req.Actor = Actor{Agent: "a1", Parent: &x.state}
	req.Workspace = x.workspace()
	if d := sub.do(req); d.Verdict != Allow {
		t.Fatalf("%+v", d)
	}
	x.files[testFile] = otherTest
	sub.do(FinishTool{
		ToolFinished: schemas.ToolFinished{Tool: "Write", ToolUseID: req.ToolUseID, Files: []schemas.FileState{fileState(testFile, []byte(otherTest))}},
		Actor:        req.Actor,
	})
	next := x.requestOf(codeFile, "x = 2")
	x.do(next)
	x.want(Deny, RuleDrift)
	next.Workspace.Left = sub.state.LeftFiles()
	x.do(next)
	x.want(Allow, "")
	if got := sub.state.TestFiles(); len(got) != 1 || got[0] != testFile {
		t.Errorf("the sub-agent's test files: %v", got)
	}
}

func TestInvalidationCloses(t *testing.T) {
	x := reach(t, PhaseImplementation)
	x.do(InvalidateGate{Gate: GateTests, Reason: "a test is missing"})
	x.phase(PhaseTesting)
	x.write(codeFile, "x = 2")
	x.want(Deny, RuleTests)
	x.do(InvalidateGate{Gate: GatePlan, Reason: "a file is missing"})
	x.phase(PhasePlanning)
	x.write(codeFile, "x = 2")
	x.want(Deny, RulePlan)
	x.do(InvalidateGate{Gate: GatePlan, Reason: "once more"})
	x.want(Deny, "")
	x.do(InvalidateGate{Gate: "roof", Reason: "it leaks"})
	x.want(Deny, "")
}

func TestInvalidationClosesParkedWork(t *testing.T) {
	x := reach(t, PhaseImplementation)
	x.do(SetMode{Mode: ModeConversation, ByUser: true})
	x.do(InvalidateGate{Gate: GatePlan, Reason: "the plan is old"})
	x.want(Allow, "")
	x.do(SetMode{Mode: ModeWork})
	x.phase(PhasePlanning)
	x.write(codeFile, "x = 2")
	x.want(Deny, RulePlan)
}

// TestPlanningGap: the approval of a plan goes where a file that it plans breaks a
// rule that it does not name, and where the plan stands as it was approved.
func TestPlanningGap(t *testing.T) {
	planned := strings.Replace(goodPlan, "No matching rules", "- CART-TOTAL-001: one function computes it", 1)
	named, unnamed := "CART-TOTAL-001", "CART-ROUNDING-001"
	at := func(phase string) State {
		s := reach(t, phase).state
		gate := s.Work.Gates[GatePlan]
		gate.Files = []schemas.FileState{{Path: PlanFile, SHA256: Hash([]byte(planned))}}
		s.Work.Gates[GatePlan] = gate
		return s
	}
	for name, c := range map[string]struct {
		phase, file, plan string
		broken            []string
		rule              string // "" where the approval stays
	}{
		"a rule that it does not name": {PhaseImplementation, codeFile, planned, []string{unnamed}, unnamed},
		"one of each":                  {PhaseImplementation, codeFile, planned, []string{named, unnamed}, unnamed},
		"a rule that it names":         {PhaseImplementation, codeFile, planned, []string{named}, ""},
		"a file that it does not plan": {PhaseImplementation, "elsewhere/x.py", planned, []string{unnamed}, ""},
		"a plan that changed":          {PhaseImplementation, codeFile, planned + "\n", []string{unnamed}, ""},
		"a plan that cannot be read":   {PhaseImplementation, codeFile, "", []string{unnamed}, ""},
		"no implementation yet":        {PhaseTesting, codeFile, planned, []string{unnamed}, ""},
	} {
		d, err := PlanningGap(at(c.phase), c.file, []byte(c.plan), c.broken)
		if err != nil || d.Verdict != Allow {
			t.Errorf("%s: %s, %v", name, d.Verdict, err)
		}
		rule := ""
		for _, p := range d.Record {
			if closed, is := p.(schemas.GateInvalidated); is {
				rule = closed.Rule
			}
		}
		if rule != c.rule {
			t.Errorf("%s: the approval is taken back for %q, want %q", name, rule, c.rule)
		}
	}
}

func TestThirdInvalidationEscalates(t *testing.T) {
	tests := []struct {
		rules []string
		want  string
	}{
		{[]string{"GO-A-1", "GO-A-1", "GO-A-1"}, DiagnosisSame},
		{[]string{"GO-A-1", "GO-A-2", "GO-A-3"}, DiagnosisDifferent},
		{[]string{"GO-A-1", "GO-A-2", "GO-A-1"}, DiagnosisMixed},
		{[]string{"", "", ""}, DiagnosisMixed},
		{[]string{"GO-A-1", "GO-A-1"}, ""},
	}
	for _, tt := range tests {
		x := newSession(t, ModeWork)
		for i, rule := range tt.rules {
			x.write(PlanFile, goodPlan+strings.Repeat("\n", i))
			x.prompt("approved")
			x.do(InvalidateGate{Gate: GatePlan, Reason: "planning gap", Rule: rule})
		}
		got := x.last.Record[0].(schemas.GateInvalidated).Diagnosis
		if got != tt.want || (got != "") != (x.last.Notice != "") {
			t.Errorf("%v: diagnosis %q, want %q (notice %q)", tt.rules, got, tt.want, x.last.Notice)
		}
	}
}

func TestApprovalReplacesWhatOwnWritesLeft(t *testing.T) {
	x := reach(t, PhaseImplementation)
	x.write(testFile, otherTest)
	x.files[testFile] = goodTest + "\n"
	x.write(codeFile, "x = 2")
	x.want(Deny, RuleDrift)
	x.prompt("/writ-approve tests")
	x.write(codeFile, "x = 2")
	x.want(Allow, "")
	x.files[testFile] = otherTest
	x.write(codeFile, "x = 3")
	x.want(Deny, RuleDrift)
}

func TestFailedWriteLeavesNothingExpected(t *testing.T) {
	x := reach(t, PhaseImplementation)
	req := x.requestOf(testFile, otherTest)
	x.do(req)
	x.want(Allow, "")
	x.files[testFile] = badTest // somebody else's
	x.do(FinishTool{
		ToolFinished: schemas.ToolFinished{Tool: req.Tool, ToolUseID: req.ToolUseID, Failed: true, Files: []schemas.FileState{fileState(testFile, []byte(badTest))}},
		Workspace:    x.workspace(),
	})
	x.write(codeFile, "x = 2")
	x.want(Deny, RuleDrift)
}

// A write that the user answered for takes the place of what the session's own
// writes left: their content is nobody's any more.
func TestAnsweredWriteReplacesWhatOwnWritesLeft(t *testing.T) {
	x := reach(t, PhaseImplementation)
	x.write(testFile, otherTest)
	x.want(Allow, "")
	delete(x.files, PlanFile)
	x.request(testFile, goodTest) // the first refusal; the second asks
	req := x.requestOf(testFile, goodTest)
	req.Settings.DenyToAsk = true
	x.do(req)
	x.want(Ask, RuleDrift)
	x.files[testFile] = goodTest
	x.finish(req, testFile)
	x.files[PlanFile] = goodPlan
	x.write(codeFile, "x = 2")
	x.want(Allow, "")
	x.files[testFile] = otherTest
	x.write(codeFile, "x = 3")
	x.want(Deny, RuleDrift)
}
