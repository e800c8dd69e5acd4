package enforcement

import (
	"strings"
	"testing"
)

// TestAnAnswerApprovesWhatWasShown: what changes the plan after the agent ended its
// turn – a command that it left running, for one – is not what the user answered.
func TestAnAnswerApprovesWhatWasShown(t *testing.T) {
	x := newSession(t, ModeWork)
	x.write(PlanFile, goodPlan)
	x.do(EndTurn{Workspace: x.workspace(), Settings: DefaultSettings()})
	shown := Awaits(x.state, x.workspace())
	answer := func(id, shown string) Decision {
		return x.do(SubmitPrompt{Prompt: "approved", ActID: id, Origin: OriginUser, Shown: shown, Workspace: x.workspace(), Settings: DefaultSettings()})
	}
	x.files[PlanFile] = strings.Replace(goodPlan, "- `tests/", "- `src/payment.py`\n- `tests/", 1)
	d := answer("a", shown)
	x.phase(PhasePlanning)
	if shown == "" || !strings.Contains(d.Notice, "src/payment.py") || !strings.Contains(d.Notice, "once more") || d.Offer.Fingerprint == shown {
		t.Errorf("shown %q; %q", shown, d.Notice)
	}
	answer("b", d.Offer.Fingerprint)
	x.phase(PhaseTesting)

	x = newSession(t, ModeWork)
	x.write(PlanFile, goodPlan)
	x.do(EndTurn{Workspace: x.workspace(), Settings: DefaultSettings()})
	x.write(PlanFile, otherPlan) // in a turn that goes on, while the user types
	d = answer("c", shown)
	x.phase(PhasePlanning)
	answer("d", d.Offer.Fingerprint)
	x.phase(PhaseTesting)

	for told, want := range map[string]string{"the plan": PhaseImplementation, "other tests": PhaseTesting} {
		x = newSession(t, ModeWork)
		x.write(PlanFile, goodPlan)
		x.do(EndTurn{Workspace: x.workspace(), Settings: DefaultSettings()})
		shown = Awaits(x.state, x.workspace())
		x.do(ApproveGate{Gate: GatePlan, Channel: ChannelTerminal, ActID: "t", Fingerprint: shown, Workspace: x.workspace(), Settings: DefaultSettings()})
		x.write("tests/test_cart.py", goodTest)
		if told == "other tests" {
			shown = "of tests that stood there before"
		}
		answer("e", shown)
		x.phase(want)
	}
}

// TestAGoAheadIsForAPlanThatWasShown: a plan that stands in the folder from before is
// approved by words that name it, or once a turn ended with it.
func TestAGoAheadIsForAPlanThatWasShown(t *testing.T) {
	goAheads := []string{"go", "ok do it", "yes", "continue", "ship it", "go ahead with the plan", "👍"}
	for what, x := range map[string]func() *session{
		"from before the session": func() *session {
			x := newSession(t, ModeWork)
			x.files[PlanFile] = goodPlan
			return x
		},
		"changed by another": func() *session {
			x := newSession(t, ModeWork)
			x.write(PlanFile, goodPlan)
			x.files[PlanFile] = otherPlan
			return x
		},
		"of the round before": func() *session {
			x := reach(t, PhaseImplementation)
			x.do(SetMode{Mode: ModeWork})
			return x
		},
	} {
		for _, words := range goAheads {
			x := x()
			if x.prompt(words); x.state.Phase() != PhasePlanning || x.recorded() != "prompt.submitted" || !strings.Contains(x.last.Notice, "src/cart.py") {
				t.Errorf("%s: %q: phase %s, recorded %s, told %q", what, words, x.state.Phase(), x.recorded(), x.last.Notice)
			}
		}
	}

	x := newSession(t, ModeWork)
	x.files[PlanFile] = goodPlan
	x.do(SubmitPrompt{Prompt: "go", ActID: "a", Origin: OriginUser, Shown: Awaits(x.state, x.workspace()), Workspace: x.workspace(), Settings: DefaultSettings()})
	x.phase(PhaseTesting) // a turn ended with it
	x = newSession(t, ModeWork)
	x.files[PlanFile] = goodPlan
	x.prompt("the plan is approved")
	x.phase(PhaseTesting)
	x = newSession(t, "")
	x.write(PlanFile, goodPlan)
	x.do(SetMode{Mode: ModeWork})
	x.prompt("go")
	x.phase(PhaseTesting) // written before the mode was chosen
}

// TestAWishIsNotApprovedByThePlanBefore: for something new, the plan that was
// approved stands for nothing until it is written anew.
func TestAWishIsNotApprovedByThePlanBefore(t *testing.T) {
	for _, words := range []string{"go", "approved", "the plan is approved", "/writ-approve plan"} {
		x := reach(t, PhaseImplementation)
		x.prompt("new task: a login page")
		x.phase(PhasePlanning)
		if Awaits(x.state, x.workspace()) != "" || Calls(x.state, x.workspace(), DefaultSettings()) != "" {
			t.Errorf("the plan before is offered: %s", Calls(x.state, x.workspace(), DefaultSettings()))
		}
		if x.prompt(words); x.state.Phase() != PhasePlanning {
			t.Errorf("%q: %s", words, x.last.Notice)
		}
		if words != "go" && !strings.Contains(x.last.Notice, "continue with the plan") {
			t.Errorf("%q: told %q", words, x.last.Notice)
		}
		x.write(PlanFile, otherPlan)
		x.prompt("go")
		x.phase(PhaseTesting)
	}
	x := reach(t, PhaseImplementation)
	x.prompt("new task: a login page")
	x.do(ApproveGate{Gate: GatePlan, Channel: ChannelTerminal, ActID: "t", Fingerprint: x.state.Offer(GatePlan, x.workspace()).Fingerprint, Workspace: x.workspace(), Settings: DefaultSettings()})
	x.phase(PhaseTesting) // who sees it whole may approve it again
}
