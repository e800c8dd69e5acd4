package enforcement

import (
	"strings"
	"testing"

	"github.com/writbus/writ/schemas"
)

func TestApprovalOpensTheNextPhase(t *testing.T) {
	x := newSession(t, ModeWork)
	x.phase(PhasePlanning)
	x.write(codeFile, "x = 1")
	x.want(Deny, RulePlan)
	x.write(PlanFile, goodPlan)
	x.prompt("The plan is approved.")
	x.phase(PhaseTesting)
	if got := x.recorded(); got != "prompt.submitted gate.approved" {
		t.Errorf("recorded %s", got)
	}
	x.write(codeFile, "x = 1")
	x.want(Deny, RuleTests)
	x.write(testFile, goodTest)
	x.prompt("lgtm, go ahead")
	x.phase(PhaseImplementation)
	x.write(codeFile, "x = 1")
	x.want(Allow, "")
	x.write(PlanFile, otherPlan)
	x.want(Deny, RuleLock)
	x.prompt("go ahead")
	x.phase(PhaseImplementation)
	x.prompt("approved")
	x.phase(PhaseVerification)
	x.write(codeFile, "x = 2")
	x.want(Deny, RuleVerify)
	x.do(ReopenPhase{Reason: "a fault"})
	x.write(codeFile, "x = 2")
	x.want(Allow, "")
}

func TestApprovalNeedsSomethingValid(t *testing.T) {
	x := newSession(t, ModeWork)
	x.prompt("approved")
	x.phase(PhasePlanning)
	x.write(PlanFile, badPlan)
	x.prompt("yes")
	if got := x.recorded(); got != "prompt.submitted" {
		t.Errorf("a bare go-ahead without a valid plan recorded %s", got)
	}
	x.prompt("I approve the plan")
	x.phase(PhasePlanning)
	if got := x.recorded(); got != "prompt.submitted approval.refused" {
		t.Errorf("recorded %s", got)
	}
	if len(x.last.Problems) < 2 || !strings.Contains(x.last.Context, x.last.Problems[1]) {
		t.Errorf("not all problems are told: %v; %s", x.last.Problems, x.last.Context)
	}
	x.write(PlanFile, goodPlan)
	x.prompt("yes")
	x.phase(PhaseTesting)
	x.prompt("approved")
	x.phase(PhaseTesting)
	x.write(testFile, badTest)
	x.prompt("approved")
	x.phase(PhaseTesting)
	x.write(testFile, goodTest)
	x.prompt("approved")
	x.phase(PhaseImplementation)
}

func TestWhoMayApprove(t *testing.T) {
	tests := []struct {
		name      string
		edit      func(*SubmitPrompt)
		opens     bool
		channel   string
		assurance string
	}{
		{"typed command", func(c *SubmitPrompt) { c.Prompt, c.Command, c.Arguments = "/writ-approve plan", "writ-approve", "plan" }, true, ChannelCommand, AssuranceCommand},
		{"typed command of a plugin", func(c *SubmitPrompt) { c.Prompt, c.Command = "/writ:writ-approve", "writ:writ-approve" }, true, ChannelCommand, AssuranceCommand},
		{"prompt of the user", func(c *SubmitPrompt) { c.Origin = OriginUser }, true, ChannelPrompt, AssurancePrompt},
		{"prompt of nobody says whom", func(*SubmitPrompt) {}, true, ChannelUnsourced, AssurancePrompt},
		{"unsourced, where the project forbids it", func(c *SubmitPrompt) { c.Settings.AllowUnsourcedPrompts = false }, false, ChannelUnsourced, ""},
		{"loop", func(c *SubmitPrompt) { c.Origin = "loop_wakeup" }, false, ChannelPrompt, ""},
		{"schedule", func(c *SubmitPrompt) { c.Origin = "schedule_wakeup" }, false, ChannelPrompt, ""},
		{"system", func(c *SubmitPrompt) { c.Origin = "system" }, false, ChannelPrompt, ""},
		{"sdk", func(c *SubmitPrompt) { c.Origin = "sdk" }, false, ChannelPrompt, ""},
		{"command in a schedule", func(c *SubmitPrompt) { c.Origin, c.Command = "schedule_wakeup", "writ-approve" }, false, ChannelPrompt, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			x := newSession(t, ModeWork)
			x.write(PlanFile, goodPlan)
			c := SubmitPrompt{Prompt: "approved", ActID: "act", Workspace: x.workspace(), Settings: DefaultSettings()}
			tt.edit(&c)
			x.do(c)
			if x.state.Approved(GatePlan) != tt.opens {
				t.Fatalf("approved %t, want %t", x.state.Approved(GatePlan), tt.opens)
			}
			if tt.opens {
				if g := x.state.Work.Gates[GatePlan]; g.Channel != tt.channel || g.Assurance != tt.assurance {
					t.Errorf("channel %s, assurance %s, want %s, %s", g.Channel, g.Assurance, tt.channel, tt.assurance)
				}
				return
			}
			refused, ok := x.last.Record[len(x.last.Record)-1].(schemas.ApprovalRefused)
			if !ok || refused.Channel != tt.channel {
				t.Errorf("recorded %s, channel %q, want approval.refused by %s", x.recorded(), refused.Channel, tt.channel)
			}
		})
	}
}

func TestOneActApprovesOnce(t *testing.T) {
	x := newSession(t, ModeWork)
	x.write(PlanFile, goodPlan)
	x.write("/tmp/x", "x")
	c := SubmitPrompt{Prompt: "/writ-approve", ActID: "one", Origin: OriginUser, Workspace: x.workspace(), Settings: DefaultSettings()}
	x.do(c)
	x.phase(PhaseTesting)
	x.write(testFile, goodTest)
	c.Workspace = x.workspace()
	x.do(c)
	x.phase(PhaseTesting)
	approve := ApproveGate{Channel: ChannelTerminal, ActID: "one", Workspace: x.workspace(), Fingerprint: x.state.Offer(GateTests, x.workspace()).Fingerprint}
	x.do(approve)
	x.want(Deny, "")
	x.phase(PhaseTesting)
	approve.ActID = "two"
	x.do(approve)
	x.phase(PhaseImplementation)
}

// A host may report one typed command as a command and as a prompt, with
// different ids or none: it is one act.
func TestTypedCommandReportedTwiceIsOneAct(t *testing.T) {
	asCommand := SubmitPrompt{Prompt: "/writ-approve", Command: "writ-approve", ActID: "a", Origin: OriginUser, Settings: DefaultSettings()}
	asPrompt := SubmitPrompt{Prompt: "/writ-approve\n", ActID: "b", Origin: OriginUser, Settings: DefaultSettings()}
	for _, order := range [][2]SubmitPrompt{{asCommand, asPrompt}, {asPrompt, asCommand}} {
		x := newSession(t, ModeWork)
		x.write(PlanFile, goodPlan)
		x.write(testFile, goodTest)
		x.files[testFile] = goodTest
		x.state.Work.TestFiles = []string{testFile}
		for _, c := range order {
			c.Workspace = x.workspace()
			x.do(c)
		}
		x.phase(PhaseTesting)
		for _, c := range order {
			c.Workspace = x.workspace()
			c.ActID += "2"
			x.do(c)
		}
		x.phase(PhaseImplementation)
	}
	x := newSession(t, ModeWork)
	x.write(PlanFile, goodPlan)
	x.prompt("approved")
	for range 2 { // the same hook, installed twice
		x.do(SubmitPrompt{Prompt: "/writ-mode conversation", PromptID: "p1", ActID: "p1", Origin: OriginUser, Settings: DefaultSettings()})
	}
	for range 2 {
		x.do(SubmitPrompt{Prompt: "/writ-mode work", PromptID: "p2", ActID: "p2", Origin: OriginUser, Settings: DefaultSettings()})
	}
	x.phase(PhaseTesting)
}

// TestATypedCommandIsTheActItself: a host that reports the prompt first, without
// saying who typed it, and then the command, has the command approve.
func TestATypedCommandIsTheActItself(t *testing.T) {
	strict := DefaultSettings()
	strict.AllowUnsourcedPrompts = false
	for name, set := range map[string]Settings{"default": DefaultSettings(), "strict": strict} {
		for _, id := range []string{"p1", ""} {
			x := newSession(t, ModeWork)
			x.write(PlanFile, goodPlan)
			asPrompt := SubmitPrompt{Prompt: "/writ-approve plan", PromptID: id, ActID: "a" + id, Expands: true, Settings: set, Workspace: x.workspace()}
			asCommand := asPrompt
			asCommand.Command, asCommand.Arguments, asCommand.Origin = "writ-approve", "plan", OriginUser
			if d := x.do(asPrompt); len(d.Record) != 1 || d.Notice != "" {
				t.Errorf("%s: the prompt alone does %+v", name, d)
			}
			x.phase(PhasePlanning)
			x.do(asCommand)
			x.phase(PhaseTesting)
			if g := x.state.Work.Gates[GatePlan]; g.Channel != ChannelCommand || g.Assurance != AssuranceCommand {
				t.Errorf("%s: approved by %s, %s", name, g.Channel, g.Assurance)
			}
			if d := x.do(asCommand); len(d.Record) != 1 {
				t.Errorf("%s: reported again, the command does %+v", name, d)
			}
			if id == "" {
				continue
			}
			asPrompt.PromptID, asPrompt.ActID, asCommand.PromptID, asCommand.ActID = "p2", "p2", "p2", "p2"
			asPrompt.Workspace, asCommand.Workspace = x.workspace(), x.workspace()
			x.do(asPrompt)
			if d := x.do(asCommand); len(d.Problems) == 0 {
				t.Errorf("%s: it approves a second time: %+v", name, d)
			}
		}
	}
	x := newSession(t, ModeWork)
	x.write(PlanFile, goodPlan)
	x.do(SubmitPrompt{Prompt: "/writ-approve plan", PromptID: "p", ActID: "p", Expands: true, Settings: DefaultSettings(), Workspace: x.workspace()})
	x.do(SubmitPrompt{Prompt: "/writ-approve plan", Command: "writ-approve", Arguments: "plan", Origin: "sdk", PromptID: "p", ActID: "p", Expands: true, Settings: DefaultSettings(), Workspace: x.workspace()})
	x.phase(PhasePlanning)
}

func TestApproveAtATerminal(t *testing.T) {
	x := newSession(t, ModeWork)
	x.write(PlanFile, goodPlan)
	ask := ApproveGate{Channel: ChannelTerminal, ActID: "t1", Workspace: x.workspace()}
	d := x.do(ask)
	if d.Verdict != Ask || d.Offer == nil || d.Offer.Gate != GatePlan || len(d.Record) != 0 {
		t.Fatalf("asking what waits: %+v", d)
	}
	ask.Fingerprint = d.Offer.Fingerprint
	x.files[PlanFile] = otherPlan
	ask.Workspace = x.workspace()
	x.do(ask)
	x.want(Deny, "")
	x.phase(PhasePlanning)
	ask.ActID, ask.Fingerprint = "t2", x.last.Offer.Fingerprint
	x.do(ask)
	x.phase(PhaseTesting)
	x.do(ApproveGate{Channel: "mcp", Gate: GateTests, ActID: "t3", Fingerprint: "f", Workspace: x.workspace()})
	x.want(Deny, "")
	if got := x.recorded(); got != "approval.refused" {
		t.Errorf("recorded %s", got)
	}
}

func TestApproveInTheDialog(t *testing.T) {
	x := newSession(t, ModeWork)
	x.write(PlanFile, goodPlan)
	c := ApproveGate{Channel: ChannelDialog, ActID: "use-9", Presented: []byte(otherPlan), Workspace: x.workspace()}
	x.do(c)
	x.phase(PhasePlanning)
	c.ActID, c.Presented = "use-10", []byte(goodPlan+"\n")
	x.do(c)
	x.phase(PhaseTesting)
	if g := x.state.Work.Gates[GatePlan]; g.Assurance != AssuranceCommand {
		t.Errorf("assurance %q", g.Assurance)
	}
}

func TestAgentsCannotAdvance(t *testing.T) {
	x := newSession(t, ModeWork)
	x.write(PlanFile, goodPlan)
	x.do(AdvancePhase{Workspace: x.workspace()})
	x.want(Deny, RulePlan)
	if got := x.recorded(); got != "approval.refused" {
		t.Errorf("recorded %s", got)
	}
	x.prompt("approved")
	x.do(AdvancePhase{Workspace: x.workspace()})
	x.want(Allow, "")
	x.phase(PhaseTesting)
	x.prompt("and now?")
	x.do(AdvancePhase{Workspace: x.workspace()})
	x.want(Deny, RuleTests)
	x.do(AdvancePhase{Gate: GatePlan, Workspace: x.workspace()})
	x.want(Allow, "")
}

func TestVerificationEnds(t *testing.T) {
	x := reach(t, PhaseVerification)
	x.prompt("check it")
	x.do(AdvancePhase{Workspace: x.workspace()})
	x.want(Deny, RuleVerify)
	x.write(CapabilitiesFile, "- [x] A cart with a discount shows the reduced total\n")
	x.want(Allow, "")
	delete(x.files, codeFile)
	x.do(AdvancePhase{Workspace: x.workspace()})
	x.want(Deny, RuleVerify)
	x.files[codeFile] = "x"
	x.do(AdvancePhase{Workspace: x.workspace()})
	x.want(Deny, RuleVerify) // nobody ran the tests
	x.do(FinishTool{ToolFinished: schemas.ToolFinished{Tool: "Bash"}, Command: "pytest", Workspace: x.workspace()})
	x.do(AdvancePhase{Workspace: x.workspace()})
	x.want(Allow, "")
}

func TestSubagentSessionsHaveNoActs(t *testing.T) {
	x := &session{t: t, files: map[string]string{PlanFile: goodPlan}}
	x.do(StartSession{schemas.SessionStarted{Host: "claude", Project: "/p", Parent: "parent", Mode: ModeWork}})
	x.prompt("approved")
	x.phase(PhasePlanning)
	x.do(SetMode{Mode: ModeConversation})
	x.want(Deny, RuleMode)
}

func TestRefusedActIsSpent(t *testing.T) {
	x := newSession(t, ModeWork)
	x.write(PlanFile, badPlan)
	c := SubmitPrompt{Prompt: "I approve the plan", ActID: "one", Origin: OriginUser, Workspace: x.workspace(), Settings: DefaultSettings()}
	x.do(c)
	x.write(PlanFile, goodPlan)
	c.Workspace = x.workspace()
	x.do(c)
	x.phase(PhasePlanning)
	if got := x.recorded(); got != "prompt.submitted" {
		t.Errorf("a prompt reported again recorded %s", got)
	}
	c.ActID = "two"
	x.do(c)
	x.phase(PhaseTesting)
	x.prompt("/writ-approve plan")
	if len(x.last.Problems) != 1 || x.last.Problems[0] != "the plan is approved already" {
		t.Errorf("%v", x.last.Problems)
	}
}
