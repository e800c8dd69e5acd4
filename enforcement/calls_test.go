package enforcement

import (
	"strings"
	"testing"

	"github.com/writbus/writ/schemas"
)

func TestWhatWaitsIsCalled(t *testing.T) {
	x := newSession(t, ModeWork)
	if got := Calls(x.state, x.workspace(), DefaultSettings()); got != "" {
		t.Errorf("nothing was written: %q", got)
	}
	x.write(PlanFile, badPlan)
	if got := Calls(x.state, x.workspace(), DefaultSettings()); got != "" {
		t.Errorf("a plan that cannot be approved calls nobody: %q", got)
	}
	x.write(PlanFile, goodPlan)
	says := func(wanted ...string) {
		t.Helper()
		got := Calls(x.state, x.workspace(), DefaultSettings())
		for _, want := range wanted {
			if !strings.Contains(got, want) {
				t.Errorf("%q is not in %q", want, got)
			}
		}
	}
	says("the plan waits for you: Carts", "It allows writing src/cart.py, tests/test_cart.py", "/writ-approve plan", "writ approve")
	x.prompt("/writ-approve plan")
	x.write(testFile, goodTest)
	says("the tests wait for you: Carts", "tests/test_cart.py: test_total (assert total([1, 2]) == 3)", "/writ-approve tests")
	strict := DefaultSettings()
	strict.Approval = AssurancePasskey
	if got := Calls(x.state, x.workspace(), strict); strings.Contains(got, "answering") || !strings.Contains(got, "passkey") {
		t.Errorf("words open nothing here: %q", got)
	}
	x.prompt("/writ-approve tests")
	x.write(codeFile, "def total(x): return sum(x)\n")
	if got := Calls(x.state, x.workspace(), DefaultSettings()); got != "" {
		t.Errorf("the implementation goes on, and calls nobody: %q", got)
	}
	ends := func(outcome string) {
		x.do(EndTurn{Ran: &schemas.TestsFinished{Trigger: "stop", Kind: KindTest, Command: "pytest", Outcome: outcome, Output: "red"}, Workspace: x.workspace()})
	}
	ends(schemas.OutcomeFailed)
	if got := Calls(x.state, x.workspace(), DefaultSettings()); got != "" {
		t.Errorf("tests fail: %q", got)
	}
	ends(schemas.OutcomePassed)
	says("the tests pass (`pytest`)", "yours to end", "/writ-approve implementation")
	x.prompt("/writ-approve implementation")
	x.phase(PhaseVerification)
	says("not done yet", "0 of ", "not ticked in capabilities.md: ")
	ticked := ""
	for _, text := range x.state.Work.Gates[GatePlan].Capabilities {
		ticked += "- [x] " + text + "\n"
	}
	x.write(CapabilitiesFile, ticked)
	says("writ: done: all capabilities")
	delete(x.files, codeFile)
	says("not done yet", "planned and not there: "+codeFile)
}
