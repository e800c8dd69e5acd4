package enforcement

import (
	"strings"
	"testing"

	"github.com/writbus/writ/schemas"
)

func TestWhoMaySetWhichMode(t *testing.T) {
	tests := []struct {
		from string
		set  SetMode
		want Verdict
	}{
		{"", SetMode{Mode: ModeWork}, Allow},
		{"", SetMode{Mode: ModeConversation}, Deny},
		{"", SetMode{Mode: ModeConversation, ByUser: true}, Allow},
		{"", SetMode{Mode: ModeReview}, Allow},
		{"", SetMode{Mode: ModeDebug}, Deny},
		{"", SetMode{Mode: ModeDebug, Repro: []string{"a"}}, Deny},
		{"", SetMode{Mode: "turbo"}, Deny},
		{"", SetMode{Mode: ""}, Deny},
		{"", SetMode{Mode: "turbo", ByUser: true}, Deny},
		{"", SetMode{Mode: ModeWork, Orchestrator: true}, Deny},
		{"", SetMode{Mode: ModeWork, Orchestrator: true, ByUser: true}, Allow},
		{"", SetMode{Mode: ModeConversation, Settings: Settings{RequireWork: true}}, Deny},
		{"", SetMode{Mode: ModeWork, Settings: Settings{RequireWork: true}}, Allow},
		{"", SetMode{Mode: ModeReview, ByUser: true, Settings: Settings{RequireWork: true}}, Allow},
		{ModeWork, SetMode{Mode: ModeConversation}, Deny},
		{ModeWork, SetMode{Mode: ModeReview}, Deny},
		{ModeWork, SetMode{Mode: ModeDebug}, Deny},
		{ModeWork, SetMode{Mode: ModeDebug, ByUser: true}, Allow},
		{ModeWork, SetMode{Mode: ModeWork}, Allow},
		{ModeWork, SetMode{Mode: ModeWork, Orchestrator: true}, Deny},
		{ModeConversation, SetMode{Mode: ModeWork}, Allow},
		{ModeConversation, SetMode{Mode: ModeReview}, Allow},
		{ModeDebug, SetMode{Mode: ModeDebug, Repro: []string{"a", "b"}}, Deny},
		{ModeDebug, SetMode{Mode: ModeDebug, Repro: []string{"a", "b"}, ByUser: true}, Allow},
		{ModeDebug, SetMode{Mode: ModeReview}, Allow},
		{ModeDebug, SetMode{Mode: ModeConversation}, Deny},
		{ModeReview, SetMode{Mode: ModeConversation}, Deny},
		{ModeReview, SetMode{Mode: ModeConversation, ByUser: true}, Allow},
	}
	for _, tt := range tests {
		x := newSession(t, tt.from)
		x.do(tt.set)
		if x.last.Verdict != tt.want {
			t.Errorf("%q → %+v: %s, want %s: %s", tt.from, tt.set, x.last.Verdict, tt.want, x.last.Reason)
		}
		if want := tt.want == Allow; (x.state.Mode == tt.set.Mode && x.state.Mode != tt.from) != want && tt.from != tt.set.Mode {
			t.Errorf("%q → %+v: mode is %q", tt.from, tt.set, x.state.Mode)
		}
	}
}

func TestWorkIsParkedAndComesBack(t *testing.T) {
	x := reach(t, PhaseImplementation)
	x.prompt("/writ-mode conversation")
	if x.state.Mode != ModeConversation || x.state.Phase() != "" {
		t.Fatalf("%+v", x.state)
	}
	x.write("README.md", "hello")
	x.want(Allow, "")
	x.do(SetMode{Mode: ModeWork})
	x.phase(PhaseImplementation)
	x.write(codeFile, "x = 2")
	x.want(Allow, "")
	x.do(SetMode{Mode: ModeWork})
	x.phase(PhasePlanning)
	x.write(codeFile, "x = 3")
	x.want(Deny, RulePlan)
}

func TestParkedWorkSeesWhatChangedMeanwhile(t *testing.T) {
	x := reach(t, PhaseImplementation)
	x.prompt("/writ-mode conversation")
	x.write(PlanFile, otherPlan)
	x.want(Allow, "")
	x.prompt("/writ-mode work")
	x.write(codeFile, "x = 2")
	x.want(Deny, RuleDrift)
}

func TestModeByPrompt(t *testing.T) {
	x := newSession(t, ModeWork)
	x.do(SubmitPrompt{Prompt: "/writ-mode conversation", ActID: "a", Origin: "schedule_wakeup", Settings: DefaultSettings()})
	if x.state.Mode != ModeWork || x.recorded() != "prompt.submitted approval.refused" {
		t.Errorf("mode %q, recorded %s", x.state.Mode, x.recorded())
	}
	x.prompt("/writ-mode turbo")
	if x.state.Mode != ModeWork || x.last.Notice == "" {
		t.Errorf("mode %q, notice %q", x.state.Mode, x.last.Notice)
	}
	x.prompt("/writ-mode debug --repro src/a.py src/b.py")
	if x.state.Mode != ModeDebug || strings.Join(x.state.Repro, " ") != "src/a.py src/b.py" {
		t.Errorf("%+v", x.state)
	}
	x.do(SubmitPrompt{Prompt: "/writ-mode work --orchestrator", Command: "writ-mode", Arguments: "work --orchestrator", ActID: "b", Settings: DefaultSettings()})
	if x.state.Mode != ModeWork || !x.state.Orchestrator {
		t.Errorf("%+v", x.state)
	}
	x.prompt("what does /writ-mode conversation do?")
	if x.state.Mode != ModeWork {
		t.Error("a mention of the command changed the mode")
	}
}

func TestSessionStartsInTheProjectsMode(t *testing.T) {
	x := &session{t: t, files: map[string]string{}}
	x.do(StartSession{schemas.SessionStarted{Host: "claude", Project: "/p", Mode: ModeWork}})
	x.phase(PhasePlanning)
	x.write(PlanFile, goodPlan)
	x.prompt("approved")
	x.do(StartSession{schemas.SessionStarted{Host: "claude", Project: "/p", Mode: ModeWork, Source: "resume"}})
	x.phase(PhaseTesting)
}

func TestCompactionForgetsWhatWasShownAndNothingElse(t *testing.T) {
	x := reach(t, PhaseTesting)
	show := ShowRules{schemas.RulesShown{Rules: []schemas.ShownRule{{ID: "GO-B-1"}, {ID: "GO-A-1"}}, Trigger: "prompt", Tokens: 120}}
	x.do(show)
	if strings.Join(x.state.Fresh, " ") != "GO-A-1 GO-B-1" || x.state.Tokens != 120 {
		t.Fatalf("%+v", x.state)
	}
	x.do(Compact{schemas.ContextCompacted{Stage: "before"}})
	if len(x.state.Fresh) != 0 || x.state.Tokens != 0 || x.state.Spent != 120 || len(x.state.Shown) != 2 {
		t.Errorf("%+v", x.state)
	}
	x.do(show)
	x.do(Compact{schemas.ContextCompacted{Stage: "after"}})
	if len(x.state.Fresh) != 2 || x.state.Compactions != 1 || x.last.Context == "" {
		t.Errorf("what was shown after the compaction is forgotten, or it counts twice: %+v", x.state)
	}
	x.phase(PhaseTesting)
	x.write(testFile, goodTest)
	x.prompt("approved")
	if len(x.state.Fresh) != 0 {
		t.Error("a new phase shows rules anew")
	}
}

func TestSessionAudit(t *testing.T) {
	x := reach(t, PhaseTesting)
	x.write(codeFile, "x")
	x.write(codeFile, "x")
	x.write(".git/config", "x")
	x.do(EndSession{Reason: "logout"})
	got := x.last.Record[0].(schemas.SessionEnded)
	if got.Refusals != 3 || strings.Join(got.Denied, " ") != "ENF-GATE-TEST ENF-PROTECTED" || got.Written != 1 || !x.state.Ended {
		t.Errorf("%+v", got)
	}
}

// TestTheUserHearsWhichModeHolds: whoever moves between modes is told where they are,
// and by the command alone.
func TestTheUserHearsWhichModeHolds(t *testing.T) {
	x := newSession(t, "")
	for _, c := range []struct{ typed, told string }{
		{"/writ-mode", "no mode is chosen"},
		{"/writ-mode small", "small mode"},
		{"/writ-mode", "small mode"},
		{"/writ-mode work", "work mode, phase planning"},
		{"/writ-mode smal", `no mode "smal"`},
		{"/writ-mode", "work mode"},
	} {
		if d := x.prompt(c.typed); !strings.Contains(d.Notice, c.told) {
			t.Errorf("%s: told %q", c.typed, d.Notice)
		}
	}
}
