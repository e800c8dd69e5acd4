package enforcement

import (
	"slices"
	"strings"
	"testing"

	"github.com/writbus/writ/schemas"
)

// TestLadderOfAssurance: each channel opens a gate up to its own rung, and says
// above it what does.
func TestLadderOfAssurance(t *testing.T) {
	channels := []string{ChannelPrompt, ChannelCommand, ChannelDashboard, ChannelTerminal, ChannelPasskey}
	for i, channel := range channels {
		for j, least := range append(slices.Clone(Ladder), "word of another version") {
			x := newSession(t, ModeWork)
			x.write(PlanFile, goodPlan)
			settings, w := DefaultSettings(), x.workspace()
			settings.Approval = least
			switch channel {
			case ChannelPrompt:
				x.do(SubmitPrompt{Prompt: "approved", Origin: OriginUser, ActID: "act", Workspace: w, Settings: settings})
			case ChannelCommand:
				x.do(SubmitPrompt{Prompt: "/writ-approve", Command: CommandApprove, ActID: "act", Workspace: w, Settings: settings})
			default:
				x.do(ApproveGate{Channel: channel, Fingerprint: x.state.Offer(GatePlan, w).Fingerprint, ActID: "act", Workspace: w, Settings: settings})
			}
			opens := i >= min(j, len(Ladder)-1)
			if x.state.Approved(GatePlan) != opens {
				t.Errorf("%s, where %s is asked for: approved %t, want %t", channel, least, !opens, opens)
			}
			if g := x.state.Work.Gates[GatePlan]; opens && g.Assurance != Ladder[i] {
				t.Errorf("%s: assurance %q, want %q", channel, g.Assurance, Ladder[i])
			}
			if opens {
				continue
			}
			refused, is := x.last.Record[len(x.last.Record)-1].(schemas.ApprovalRefused)
			if !is || !strings.Contains(refused.Reason, "writ") || !strings.Contains(x.last.Notice, refused.Reason) {
				t.Errorf("%s, where %s is asked for: recorded %s, told %q", channel, least, x.recorded(), x.last.Notice)
			}
		}
	}
}

// TestWordsDoNotLoosenUnderTheLadder: where words do not approve, they do not let
// files in, go back to a plan, or leave work mode either, and a yes in the host does
// not pass a closed gate by. What asks more of agents they still may.
func TestWordsDoNotLoosenUnderTheLadder(t *testing.T) {
	strict := DefaultSettings()
	strict.Approval, strict.DenyToAsk = AssuranceTerminal, true
	say := func(x *session, prompt string) {
		x.do(SubmitPrompt{Prompt: prompt, Origin: OriginUser, ActID: prompt, Workspace: x.workspace(), Settings: strict})
	}
	x := newSession(t, ModeWork)
	x.write(PlanFile, goodPlan)
	for range 2 {
		d := x.do(RequestTool{Tool: "Write", ToolUseID: "use", Targets: []schemas.Target{Classify(caseLayout, "/p/"+codeFile)}, Workspace: x.workspace(), Settings: strict})
		if d.Verdict != Deny || !strings.Contains(d.Reason, "at a terminal or with a passkey") || strings.Contains(d.Reason, "/writ-approve") {
			t.Errorf("%s: %s", d.Verdict, d.Reason)
		}
	}
	x.prompt("approved")
	say(x, "add README.md to the plan")
	if len(x.state.Work.Added) > 0 {
		t.Errorf("a prompt let %v in", x.state.Work.Added)
	}
	say(x, "new task: a login page")
	if x.state.Work.Aside == nil {
		t.Fatal("a new task did not put the plan aside")
	}
	say(x, "continue with the plan")
	if x.state.Work.Aside == nil {
		t.Error("a prompt went back to the plan")
	}
	say(x, "/writ-mode conversation")
	if x.state.Mode != ModeWork || !strings.Contains(x.last.Notice, "writ mode set conversation") {
		t.Errorf("mode %s; told %q", x.state.Mode, x.last.Notice)
	}
	y := newSession(t, ModeReview)
	say(y, "/writ-mode work")
	if y.state.Mode != ModeWork {
		t.Error("a prompt may not ask for a stricter mode")
	}
}
