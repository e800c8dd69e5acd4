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
	x.write(PlanFile, otherPlan) // in a turn that goes on, which the user follows
	answer("c", shown)
	x.phase(PhaseTesting)
}
