package enforcement

import (
	"strings"
	"testing"

	"github.com/writbus/writ/schemas"
)

// TestWhatCameOfARunAfterATurnIsKeptForThePrompt: a run in the background that did not
// come to its end is not taken for one that found nothing, and one that passed is told.
func TestWhatCameOfARunAfterATurnIsKeptForThePrompt(t *testing.T) {
	for outcome, want := range map[string]string{schemas.OutcomeTimedOut: "were ended after 60 s", schemas.OutcomeNotRun: "could not be run", schemas.OutcomePassed: "passed: `go test ./...`"} {
		d, err := Decide(State{Project: "/p", Mode: ModeWork, Work: Work{Phase: PhaseImplementation}}, EndTurn{Late: true, Ran: &schemas.TestsFinished{
			Trigger: "stop", Kind: KindTest, Command: "go test ./...", Outcome: outcome, Output: "no runner", Millis: 60_000, Late: true,
		}})
		if err != nil || !strings.Contains(d.Notice, want) {
			t.Errorf("%s: %q, %v", outcome, d.Notice, err)
		}
	}
}

// TestTestsThatCouldNotRunAreToldOnce beside those that did.
func TestTestsThatCouldNotRunAreToldOnce(t *testing.T) {
	s := State{Project: "/p", Mode: ModeWork, Work: Work{Phase: PhaseImplementation}}
	end := EndTurn{Ran: &schemas.TestsFinished{Trigger: "stop", Kind: KindTest, Command: "pytest", Outcome: schemas.OutcomePassed, Passed: 3, Unrun: "`test_b` has no module"}}
	for _, want := range []string{"writ: not all tests could be run: `test_b` has no module.", ""} {
		d, err := Decide(s, end)
		if err != nil || d.Notice != want || d.Verdict != Allow {
			t.Errorf("%q, %v, want %q", d.Notice, err, want)
		}
		for _, p := range d.Record {
			s = Evolve(s, schemas.Event{Data: p})
		}
	}
}

// A person who approves where nothing waits is told so, in work mode and before a mode is
// chosen; a word of talk says nothing.
func TestApprovalOfNothingIsAnswered(t *testing.T) {
	done := State{Project: "/p", Mode: ModeWork, Work: Work{Phase: PhaseVerification, Gates: map[string]Gate{GatePlan: {}, GateTests: {}}}}
	for _, c := range []struct {
		state  State
		prompt string
		told   bool
	}{
		{done, "approved", true},
		{done, "ok", false},
		{State{Project: "/p"}, "approved", true},
		{State{Project: "/p", Mode: ModeConversation}, "approved", false},
	} {
		d, err := Decide(c.state, SubmitPrompt{Prompt: c.prompt, ActID: "prompt:1", PromptID: "1", Origin: OriginUser})
		if err != nil {
			t.Fatal(err)
		}
		if got := d.Notice == textNothingWaits; got != c.told {
			t.Errorf("%s, %q: %q", c.state.Mode, c.prompt, d.Notice)
		}
	}
}

// Failures that were there before are no pass.
func TestKnownFailuresAreNoPass(t *testing.T) {
	d, err := Decide(State{Project: "/p", Mode: ModeWork, Work: Work{Phase: PhaseImplementation}}, EndTurn{Late: true, Ran: &schemas.TestsFinished{
		Trigger: "stop", Kind: KindTest, Command: "go test ./...", Outcome: schemas.OutcomePassed, Known: 2, Late: true,
	}})
	if err != nil || !strings.Contains(d.Notice, "2 fail as before") || strings.Contains(d.Notice, "passed") {
		t.Errorf("%q, %v", d.Notice, err)
	}
}
