package enforcement

import (
	"slices"
	"strings"
	"testing"

	"github.com/writbus/writ/schemas"
)

// seeTests reports what running test files showed, and nothing beside.
type seeTests struct {
	Files     []schemas.TestFileResult
	Workspace Workspace // as for an approval
}

func (c seeTests) check() error { return nil }

func (c seeTests) decide(s State) Decision {
	return Decision{Verdict: Allow, Record: shown(s, c.Files, c.Workspace)}
}

// ran is what running a test file as it stands showed.
func (x *session) ran(name string, r schemas.TestFileResult) Decision {
	x.t.Helper()
	w := x.runnable()
	r.Path, r.SHA256, r.Support = name, Hash([]byte(x.files[name])), SupportOf(w)
	return x.do(seeTests{Files: []schemas.TestFileResult{r}, Workspace: w})
}

// runnable is the workspace of a machine that can run every test file.
func (x *session) runnable() Workspace {
	w := x.workspace()
	w.Runs = map[string]string{}
	for name := range w.Tests {
		if isTestFile(name) {
			w.Runs[name] = ""
		}
	}
	return w
}

// approves submits a gate's approval on such a machine.
func (x *session) approves(gate string) Decision {
	x.t.Helper()
	x.uses++
	return x.do(SubmitPrompt{Prompt: "/writ-approve " + gate, ActID: "prompt-" + strings.Repeat("i", x.uses), Origin: OriginUser, Workspace: x.runnable(), Settings: DefaultSettings()})
}

func missing(module, symbol string, whole bool) schemas.TestFailure {
	return schemas.TestFailure{Name: "t", Cause: schemas.FailMissing, Module: module, Symbol: symbol, Whole: whole, Line: "missing " + module + symbol}
}

func TestJudgeSeenTakesWhatThePlanPromises(t *testing.T) {
	assertion := schemas.TestFailure{Name: "a", Cause: schemas.FailAssertion, Line: "assert 0 == 3"}
	fault := schemas.TestFailure{Name: "f", Cause: schemas.FailFault, Line: "NameError"}
	other := schemas.TestFailure{Name: "o", Cause: schemas.FailOther, Line: "KeyError"}
	wholeFault := schemas.TestFailure{Cause: schemas.FailFault, Whole: true, Line: "declared and not used"}
	files := []string{"src/cart.py", "shop/tax.go", "web/cart.ts"}
	for name, c := range map[string]struct {
		test    string
		result  schemas.TestFileResult
		want    string
		red     int
		content string
	}{
		"an assertion":                       {result: schemas.TestFileResult{Failed: []schemas.TestFailure{assertion}, Passed: 2}, want: "red", red: 1},
		"an assertion beside a fault":        {result: schemas.TestFileResult{Failed: []schemas.TestFailure{fault, assertion}}, want: "red", red: 1},
		"a module that the plan names":       {result: schemas.TestFileResult{Failed: []schemas.TestFailure{missing("cart", "", true)}}, want: "red", red: 1},
		"the same within a package":          {result: schemas.TestFileResult{Failed: []schemas.TestFailure{missing("src.cart", "", true)}}, want: "red", red: 1},
		"the same by its path":               {result: schemas.TestFileResult{Failed: []schemas.TestFailure{missing("../web/cart.ts", "", true)}}, want: "red", red: 1},
		"a folder that the plan fills":       {result: schemas.TestFileResult{Failed: []schemas.TestFailure{missing("example.org/m/shop", "", true)}}, want: "red", red: 1},
		"a module that nobody names":         {result: schemas.TestFileResult{Failed: []schemas.TestFailure{missing("requests", "", true)}}, want: "unclear"},
		"a name of a module that is changed": {result: schemas.TestFileResult{Failed: []schemas.TestFailure{missing("cart", "total", true)}}, want: "red", red: 1},
		"a name of one that is not":          {result: schemas.TestFileResult{Failed: []schemas.TestFailure{missing("os", "totl", true)}}, want: "unclear"},
		"a name that the plan has":           {result: schemas.TestFileResult{Failed: []schemas.TestFailure{missing("os", "Total", false)}}, want: "red", red: 1},
		"a part of one":                      {result: schemas.TestFileResult{Failed: []schemas.TestFailure{missing("os", "Tot", false)}}, want: "unclear"},
		"a name beside the code":             {test: "shop/tax_test.go", result: schemas.TestFileResult{Failed: []schemas.TestFailure{missing("", "Rate", true)}}, want: "red", red: 1},
		"a member, where the tests use it":   {content: "from cart import Cart", result: schemas.TestFileResult{Failed: []schemas.TestFailure{missing("", "price", false)}}, want: "red", red: 1},
		"a member, where they do not":        {content: "from carts import Cart", result: schemas.TestFileResult{Failed: []schemas.TestFailure{missing("", "price", false)}}, want: "unclear"},
		"all that keeps it from building":    {result: schemas.TestFileResult{Failed: []schemas.TestFailure{missing("cart", "", true), missing("src.cart", "x", true)}}, want: "red", red: 1},
		"a fault among it":                   {result: schemas.TestFileResult{Failed: []schemas.TestFailure{missing("cart", "", true), wholeFault}}, want: "broken"},
		"something else among it":            {result: schemas.TestFileResult{Failed: []schemas.TestFailure{missing("cart", "", true), missing("requests", "", true)}}, want: "unclear"},
		"a fault":                            {result: schemas.TestFileResult{Failed: []schemas.TestFailure{fault, other}, Passed: 1}, want: "broken"},
		"another error":                      {result: schemas.TestFileResult{Failed: []schemas.TestFailure{other}, Passed: 1}, want: "unclear"},
		"one that differs":                   {result: schemas.TestFileResult{Differs: []string{"a"}, Passed: 1}, want: "differs"},
		"passing":                            {result: schemas.TestFileResult{Passed: 2, Skipped: 1}, want: "passes"},
		"not run":                            {result: schemas.TestFileResult{NotRun: "no pytest"}, want: "not_run"},
		"nothing":                            {result: schemas.TestFileResult{}, want: "not_run"},
	} {
		p := promises{test: "tests/test_cart.py", content: c.content, plan: "The `Total` of a cart.", files: files}
		if c.test != "" {
			p.test = c.test
		}
		got := judgeSeen(c.result, p)
		if got.Verdict != c.want || got.Red != c.red {
			t.Errorf("%s: %s with %d red, want %s with %d", name, got.Verdict, got.Red, c.want, c.red)
		}
		if got.Line == "" && got.Reason == "" && got.Verdict != schemas.SeenPasses {
			t.Errorf("%s: nothing says why", name)
		}
	}
	p := promisesOf(State{}, testFile, Workspace{Plan: []byte("A `Total`. <!-- Hidden\n -->and `Tax` <!-- Open")})
	if !p.mentions("Total") || !p.mentions("Tax") || p.mentions("Hidden") || p.mentions("Open") {
		t.Error("what a reader of the plan does not see is promised, or what he sees is not")
	}
}

// TestTestsAreApprovedOnceTheyWereSeenRed drives the gate of the tests over every
// verdict.
func TestTestsAreApprovedOnceTheyWereSeenRed(t *testing.T) {
	red := schemas.TestFileResult{Failed: []schemas.TestFailure{missing("cart", "", true)}, Passed: 1}
	for name, c := range map[string]struct {
		result  schemas.TestFileResult
		refused string // in the problems, "" where it is approved
		told    string
	}{
		"red":     {red, "", "seen red: 1 test (missing cart); passes: 1 test"},
		"passes":  {schemas.TestFileResult{Passed: 3}, "all of its 3 tests pass before any code is written", "passes: 3 tests"},
		"broken":  {schemas.TestFileResult{Failed: []schemas.TestFailure{{Cause: schemas.FailFault, Line: "NameError: totl"}}}, "by a fault of its own", "NameError: totl"},
		"differs": {schemas.TestFileResult{Differs: []string{"test_total"}}, "", "differs from run to run: test_total"},
		"unclear": {schemas.TestFileResult{Failed: []schemas.TestFailure{missing("requests", "", true)}}, "", "fails, for nothing that the plan promises: missing requests"},
		"not run": {schemas.TestFileResult{NotRun: "No module named pytest"}, "", "not run: No module named pytest"},
	} {
		x := reach(t, PhaseTesting)
		x.write(testFile, goodTest)
		x.ran(testFile, c.result)
		o := x.state.Offer(GateTests, x.runnable())
		if len(o.Seen) != 1 || !strings.Contains(o.Seen[0].Text, c.told) {
			t.Errorf("%s: the offer shows %+v", name, o.Seen)
		}
		d := x.approves(GateTests)
		got := strings.Join(d.Problems, "; ")
		if (got == "") != (c.refused == "") || !strings.Contains(got, c.refused) || x.state.Approved(GateTests) != (c.refused == "") {
			t.Errorf("%s: refused by %q, want %q", name, got, c.refused)
		}
		if !strings.Contains(d.Notice, c.told) && c.refused == "" {
			t.Errorf("%s: the user is told %q", name, d.Notice)
		}
	}
}

// TestTestsAreNotApprovedBeforeTheTurnEndsInWhichTheyWereWritten: that is when they
// run. A host that never says so, or where no run came of it, is not waited for.
func TestTestsAreNotApprovedBeforeTheTurnEndsInWhichTheyWereWritten(t *testing.T) {
	for name, c := range map[string]struct {
		before, after int // turns that end before and after the write
		refused       bool
	}{
		"a host that tells of no end": {0, 0, false}, "within the turn": {1, 0, true}, "after it, without a run": {1, 1, false},
	} {
		x := reach(t, PhaseTesting)
		end := func(times int) {
			for range times {
				x.do(EndTurn{Workspace: x.workspace(), Settings: DefaultSettings()})
			}
		}
		end(c.before)
		x.write(testFile, goodTest)
		end(c.after)
		d := x.approves(GateTests)
		if got := strings.Contains(strings.Join(d.Problems, ";"), "has not run yet"); got != c.refused || x.state.Approved(GateTests) == c.refused {
			t.Errorf("%s: %q", name, d.Problems)
		}
	}
}

func TestWhatWasSeenIsOfTheContentThatRan(t *testing.T) {
	x := reach(t, PhaseTesting)
	x.write(testFile, goodTest)
	if files := Unseen(x.state, x.runnable(), false); !slices.Equal(files, []string{testFile}) {
		t.Fatalf("to be run: %q", files)
	}
	x.ran(testFile, schemas.TestFileResult{Failed: []schemas.TestFailure{missing("cart", "", true)}})
	if files := Unseen(x.state, x.runnable(), false); len(files) > 0 {
		t.Errorf("to be run again: %q", files)
	}
	x.write(testFile, otherTest)
	if o := x.state.Offer(GateTests, x.runnable()); o.Seen[0].Verdict != "" || !strings.Contains(o.Seen[0].Text, "not run yet") {
		t.Errorf("the run before the change counts: %+v", o.Seen)
	}
	if d := x.approves(GateTests); x.state.Approved(GateTests) || !strings.Contains(d.Notice, "since it ran") {
		t.Errorf("what changed after its run is approved: %s", d.Notice)
	}
	x.ran(testFile, schemas.TestFileResult{Failed: []schemas.TestFailure{missing("cart", "", true)}})
	x.write("tests/conftest.py", "import sys\n")
	if files := Unseen(x.state, x.runnable(), false); !slices.Equal(files, []string{testFile}) {
		t.Errorf("what serves the tests changed, and to be run are %q", files)
	}
	w := x.runnable()
	if d := x.do(seeTests{Files: []schemas.TestFileResult{{Path: testFile, SHA256: Hash([]byte(goodTest)), Passed: 1}}, Workspace: w}); len(d.Record) > 0 {
		t.Errorf("a run of another content is recorded: %+v", d.Record)
	}
}

func TestAPlanMayNameACharacterisation(t *testing.T) {
	x := newSession(t, ModeWork)
	x.write(PlanFile, strings.Replace(goodPlan, "its tests", "characterises today's totals", 1))
	x.prompt("/writ-approve plan")
	x.write(testFile, goodTest)
	x.ran(testFile, schemas.TestFileResult{Passed: 1})
	if d := x.approves(GateTests); !x.state.Approved(GateTests) {
		t.Errorf("%q", d.Problems)
	}
}

// TestWhatWasRedHasToPass: the end of the work is approved once the tests that were
// red passed after the last change.
func TestWhatWasRedHasToPass(t *testing.T) {
	x := reach(t, PhaseTesting)
	x.write(testFile, goodTest)
	x.ran(testFile, schemas.TestFileResult{Failed: []schemas.TestFailure{missing("cart", "", true)}})
	x.approves(GateTests)
	x.write(codeFile, "def total(x): return 4\n")
	x.ran(testFile, schemas.TestFileResult{Failed: []schemas.TestFailure{{Cause: schemas.FailAssertion, Line: "assert 4 == 3"}}})
	if d := x.approves(GateImplementation); x.state.Approved(GateImplementation) || !strings.Contains(d.Notice, "has not passed since") || !strings.Contains(d.Notice, "assert 4 == 3") {
		t.Errorf("still red: %+v", d)
	}
	x.ran(testFile, schemas.TestFileResult{Passed: 1})
	if files := Unseen(x.state, x.runnable(), false); len(files) > 0 {
		t.Errorf("green, and to be run again: %q", files)
	}
	x.write(codeFile, "def total(x): return sum(x)\n")
	if x.approves(GateImplementation); x.state.Approved(GateImplementation) {
		t.Error("the code changed since the tests passed")
	}
	if files := Unseen(x.state, x.runnable(), false); !slices.Equal(files, []string{testFile}) {
		t.Errorf("the code changed, and to be run are %q", files)
	}
	x.ran(testFile, schemas.TestFileResult{Passed: 1})
	if d := x.approves(GateImplementation); !x.state.Approved(GateImplementation) {
		t.Errorf("green: %q", d.Problems)
	}
}

// TestTestsOfWrittenCodeMayPass: after code was written under the plan, tests that
// are written anew pass, which is no reason to refuse them.
func TestTestsOfWrittenCodeMayPass(t *testing.T) {
	x := reach(t, PhaseImplementation)
	x.write(codeFile, "def total(x): return sum(x)\n")
	x.do(InvalidateGate{Gate: GateTests, Reason: "they test the mock"})
	x.write(testFile, otherTest)
	x.ran(testFile, schemas.TestFileResult{Passed: 1})
	if d := x.approves(GateTests); !x.state.Approved(GateTests) {
		t.Errorf("%q", d.Problems)
	}
}

func TestAnAgentIsSentBackWithTestsThatPass(t *testing.T) {
	x := reach(t, PhaseTesting)
	x.write(testFile, goodTest)
	w := x.runnable()
	end := EndTurn{Seen: []schemas.TestFileResult{{Path: testFile, SHA256: Hash([]byte(goodTest)), Passed: 1}}, Workspace: w, Settings: DefaultSettings()}
	if d := x.do(end); d.Verdict != Deny || d.Rule != RuleTests || !strings.Contains(d.Reason, "its only test passes") || x.recorded() != "turn.ended tests.seen" {
		t.Errorf("%s %s: %s", d.Verdict, x.recorded(), d.Reason)
	}
	end.Again = true
	if d := x.do(end); d.Verdict != Allow || !strings.Contains(d.Notice, "with tests that cannot be approved") {
		t.Errorf("again: %s %s", d.Verdict, d.Notice)
	}
}

// TestApprovedTestsThatPassAtATurnsEndShowTheWork: where nobody knows how the project
// runs its tests, what Writ saw pass is a run of tests like any other.
func TestApprovedTestsThatPassAtATurnsEndShowTheWork(t *testing.T) {
	const code = "def total(x): return sum(x)\n"
	notRun := &schemas.TestsFinished{Trigger: "stop", Kind: KindTest, Outcome: schemas.OutcomeNotRun, Output: "no runner"}
	failed := &schemas.TestsFinished{Trigger: "stop", Kind: KindTest, Command: "make test", Outcome: schemas.OutcomeTimedOut}
	for name, c := range map[string]struct {
		before func(x *session)
		after  func(x *session)
		seen   schemas.TestFileResult
		ran    *schemas.TestsFinished
		shown  bool
		due    bool // the project's tests are still to come
	}{
		"it passes":                       {seen: schemas.TestFileResult{Passed: 1}, shown: true},
		"another run failed before":       {before: failedBefore, seen: schemas.TestFileResult{Passed: 1}, shown: true},
		"the project's cannot be run":     {seen: schemas.TestFileResult{Passed: 1}, ran: notRun, shown: true, due: true},
		"the project's do not end":        {seen: schemas.TestFileResult{Passed: 1}, ran: failed, due: true},
		"it fails":                        {seen: schemas.TestFileResult{Failed: []schemas.TestFailure{missing("cart", "", true)}}, due: true},
		"it did not run":                  {seen: schemas.TestFileResult{NotRun: "no python"}, due: true},
		"the approved tests were altered": {after: func(x *session) { x.write(testFile, otherTest) }, seen: schemas.TestFileResult{Passed: 1}, due: true},
		"a second one was never run": {before: func(x *session) {
			gates := cloned(x.state.Work.Gates)
			gate := gates[GateTests]
			x.files["tests/test_more.py"] = otherTest
			gate.Files = append(slices.Clone(gate.Files), fileState("tests/test_more.py", []byte(otherTest)))
			gates[GateTests] = gate
			x.state.Work.Gates = gates
		}, seen: schemas.TestFileResult{Passed: 1}, due: true},
	} {
		x := reach(t, PhaseTesting)
		x.write(testFile, goodTest)
		x.ran(testFile, schemas.TestFileResult{Failed: []schemas.TestFailure{missing("cart", "", true)}})
		x.approves(GateTests)
		if c.before != nil {
			c.before(x)
		}
		x.write(codeFile, code)
		if c.after != nil {
			c.after(x)
		}
		c.seen.Path, c.seen.SHA256, c.seen.Support = testFile, Hash([]byte(x.files[testFile])), SupportOf(x.runnable())
		d := x.do(EndTurn{Message: "Done.", Ran: c.ran, Seen: []schemas.TestFileResult{c.seen}, Workspace: x.runnable(), Settings: DefaultSettings()})
		if blocked := strings.Contains(d.Reason, "nothing was run since"); blocked == c.shown {
			t.Errorf("%s: %s %q", name, d.Verdict, d.Reason)
		}
		if problems := unbuilt(x.state, x.runnable()); (len(problems) == 0) != c.shown {
			t.Errorf("%s: verification finds %q", name, problems)
		}
		if due := len(x.state.PendingTests) > 0; due != c.due {
			t.Errorf("%s: due are %q", name, x.state.PendingTests)
		}
		x.write(codeFile, code+"# more\n")
		if d := x.do(EndTurn{Message: "Done.", Workspace: x.runnable(), Settings: DefaultSettings()}); !strings.Contains(d.Reason, "nothing was run since") {
			t.Errorf("%s: a pass counts for what changed after it: %s", name, d.Verdict)
		}
	}
}

func failedBefore(x *session) {
	x.write(codeFile, "def total(x): return 4\n")
	x.do(FinishTool{ToolFinished: schemas.ToolFinished{Tool: "Bash", Failed: true, Error: "FAILED"}, Command: "python3 -m unittest"})
}
