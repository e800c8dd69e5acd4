package enforcement

import (
	"strings"
	"testing"
)

func TestDeclineTellsTheAgentWhatToChange(t *testing.T) {
	x := newSession(t, ModeWork)
	x.write(PlanFile, goodPlan)
	offer := x.state.Offer(GatePlan, x.workspace())
	no := DeclineGate{Channel: ChannelDashboard, ActID: "d1", Fingerprint: offer.Fingerprint, Reason: "  Say how errors are told apart.\n", Workspace: x.workspace()}
	d := x.do(no)
	if d.Verdict != Allow || x.recorded() != "gate.declined" {
		t.Fatalf("%s %q, recorded %s", d.Verdict, d.Reason, x.recorded())
	}
	x.phase(PhasePlanning)
	const wish = `The user declined the plan: "Say how errors are told apart."`
	if g := x.state.Guidance(); !strings.Contains(g, wish) {
		t.Errorf("the session's guidance does not say it: %s", g)
	}
	if d := x.write("main.go", "package main"); d.Verdict != Deny || !strings.Contains(d.Reason, wish) {
		t.Errorf("a refused write does not say it: %s %q", d.Verdict, d.Reason)
	}
	if d := x.do(SubmitPrompt{Prompt: "go on", ActID: "p", Origin: OriginUser, Workspace: x.workspace(), Settings: DefaultSettings()}); !strings.Contains(d.Context, wish) {
		t.Errorf("the next prompt does not say it: %q", d.Context)
	}

	if got := Calls(x.state, x.workspace(), DefaultSettings()); got != "" {
		t.Errorf("what was sent back calls the user: %q", got)
	}
	x.write(PlanFile, otherPlan)
	if got := Calls(x.state, x.workspace(), DefaultSettings()); !strings.Contains(got, "the plan waits for you") {
		t.Errorf("a changed plan calls nobody: %q", got)
	}
	x.do(ApproveGate{Gate: GatePlan, Channel: ChannelDashboard, ActID: "a1", Fingerprint: x.state.Offer(GatePlan, x.workspace()).Fingerprint, Workspace: x.workspace()})
	x.phase(PhaseTesting)
	if g := x.state.Guidance(); strings.Contains(g, "declined") {
		t.Errorf("an approval does not end it: %s", g)
	}
}

func TestDeclineRefused(t *testing.T) {
	x := newSession(t, ModeWork)
	x.write(PlanFile, goodPlan)
	seen := x.state.Offer(GatePlan, x.workspace()).Fingerprint
	for name, c := range map[string]DeclineGate{
		"other files":      {Channel: ChannelDashboard, ActID: "1", Fingerprint: "f", Reason: "no"},
		"other gate":       {Gate: GateTests, Channel: ChannelDashboard, ActID: "2", Fingerprint: seen, Reason: "no"},
		"an agent's wish":  {Channel: ChannelAgent, ActID: "3", Fingerprint: seen, Reason: "no"},
		"a long reason":    {Channel: ChannelDashboard, ActID: "4", Fingerprint: seen, Reason: strings.Repeat("x", maxWish+1)},
		"an unknown place": {Channel: "mcp", ActID: "5", Fingerprint: seen, Reason: "no"},
	} {
		c.Workspace = x.workspace()
		if d := x.do(c); d.Verdict != Deny || len(d.Record) != 0 || d.Reason == "" {
			t.Errorf("%s: %s, %q, %d events", name, d.Verdict, d.Reason, len(d.Record))
		}
	}
	if _, err := Decide(x.state, DeclineGate{Channel: ChannelDashboard, ActID: "6", Fingerprint: seen, Reason: " "}); err == nil {
		t.Error("a decline without a reason is taken")
	}
}
