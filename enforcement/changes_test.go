package enforcement

import (
	"testing"
	"time"

	"github.com/writbus/writ/schemas"
)

// TestChangesNameWhatAllowedThem folds a session with a write in each phase, and one
// that nothing allowed.
func TestChangesNameWhatAllowedThem(t *testing.T) {
	var c Changes
	at := time.Unix(1, 0)
	for _, p := range []schemas.Payload{
		schemas.ModeChanged{To: ModeWork},
		wroteFile("plan.md", "1"),
		schemas.GateApproved{Gate: GatePlan, Fingerprint: "f-plan", Channel: "terminal", ActID: "1", NextPhase: PhaseTesting},
		wroteFile("a_test.go", "2"),
		schemas.GateApproved{Gate: GateTests, Fingerprint: "f-tests", Channel: "prompt", ActID: "2", NextPhase: PhaseImplementation},
		wroteFile("a.go", "3"), wroteFile("a.go", "4"),
		schemas.ToolFinished{Tool: "Write", Failed: true, Files: []schemas.FileState{{Path: "failed.go"}}},
		schemas.WriteUnapproved{Changes: []schemas.UnapprovedChange{{Path: "b.go", Change: "created"}, {Path: "c.go", Change: "changed", PutBack: true}}},
	} {
		c.Take(schemas.Event{Aggregate: schemas.Session("s"), Time: at, Data: p})
	}
	files := c.Files()
	want := []schemas.SessionChange{
		{Path: "a.go", Writes: 2, Last: at, Mode: ModeWork, Phase: PhaseImplementation, Gate: GateTests, Fingerprint: "f-tests", Channel: "prompt", SHA256: "4"},
		{Path: "a_test.go", Writes: 1, Last: at, Mode: ModeWork, Phase: PhaseTesting, Gate: GatePlan, Fingerprint: "f-plan", Channel: "terminal", SHA256: "2"},
		{Path: "b.go", Writes: 1, Last: at, Mode: ModeWork, Phase: PhaseImplementation, Gate: GateTests, Fingerprint: "f-tests", Channel: "prompt", Unapproved: true},
		{Path: "plan.md", Writes: 1, Last: at, Mode: ModeWork, Phase: PhasePlanning, SHA256: "1"},
	}
	if len(files) != len(want) {
		t.Fatalf("%+v", files)
	}
	for i := range want {
		if files[i] != want[i] {
			t.Errorf("%+v\nwant %+v", files[i], want[i])
		}
	}
}

func wroteFile(path, digest string) schemas.Payload {
	return schemas.ToolFinished{Tool: "Write", Files: []schemas.FileState{{Path: path, SHA256: digest}}}
}
