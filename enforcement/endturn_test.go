package enforcement

import (
	"strings"
	"testing"

	"github.com/writbus/writ/schemas"
)

// TestWhatCouldNotRunAfterATurnIsKeptForThePrompt: a run in the background that did not
// come to its end is not taken for one that found nothing.
func TestWhatCouldNotRunAfterATurnIsKeptForThePrompt(t *testing.T) {
	for outcome, want := range map[string]string{schemas.OutcomeTimedOut: "were ended after 60 s", schemas.OutcomeNotRun: "could not be run", schemas.OutcomePassed: ""} {
		d, err := Decide(State{Project: "/p", Mode: ModeWork, Work: Work{Phase: PhaseImplementation}}, EndTurn{Late: true, Ran: &schemas.TestsFinished{
			Trigger: "stop", Kind: KindTest, Command: "go test ./...", Outcome: outcome, Output: "no runner", Millis: 60_000, Late: true,
		}})
		if err != nil || !strings.Contains(d.Notice, want) || (want == "") != (d.Notice == "") {
			t.Errorf("%s: %q, %v", outcome, d.Notice, err)
		}
	}
}
