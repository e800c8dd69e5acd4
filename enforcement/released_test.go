package enforcement

import (
	"errors"
	"strings"
	"testing"

	"github.com/writbus/writ/enforcement/shell"
	"github.com/writbus/writ/schemas"
)

// TestReleasedPolicyDecidesAlone: in any mode and phase, for sub-agents and workers too.
func TestReleasedPolicyDecidesAlone(t *testing.T) {
	file := func(rel, class string) schemas.Target {
		return schemas.Target{Path: "/p/" + rel, Rel: rel, Class: class, Result: "x"}
	}
	folder := func(rel string) schemas.Target { return schemas.Target{Path: "/p/" + rel, Rel: rel, Class: ClassCode} }
	orchestrator := State{Mode: ModeWork, Orchestrator: true}
	set := DefaultSettings().UnderPolicy("acme@3/deps", []string{"go.mod", "docs/**", "*.lock"}, nil)
	expired := DefaultSettings().UnderPolicy("", nil, errors.New("release acme@3 expired"))
	for name, c := range map[string]struct {
		request RequestTool
		set     Settings
		want    Verdict
		rule    string
	}{
		"a named file":                {RequestTool{Targets: []schemas.Target{file("go.mod", ClassCode)}}, set, Allow, ""},
		"in a named folder":           {RequestTool{Targets: []schemas.Target{file("docs/a/b.md", ClassCode)}}, set, Allow, ""},
		"by a pattern":                {RequestTool{Targets: []schemas.Target{file("web/yarn.lock", ClassCode)}}, set, Allow, ""},
		"another file":                {RequestTool{Targets: []schemas.Target{file("main.go", ClassCode)}}, set, Deny, RulePolicy},
		"a named one and another":     {RequestTool{Targets: []schemas.Target{file("go.mod", ClassCode), file("main.go", ClassCode)}}, set, Deny, RulePolicy},
		"a test":                      {RequestTool{Targets: []schemas.Target{file("main_test.go", ClassTest)}}, set, Deny, RulePolicy},
		"a plan":                      {RequestTool{Targets: []schemas.Target{file("plan.md", ClassPlan)}}, set, Deny, RulePolicy},
		"protected, in a named one":   {RequestTool{Targets: []schemas.Target{file("docs/.env", ClassProtected)}}, set, Deny, RuleProtected},
		"outside":                     {RequestTool{Targets: []schemas.Target{{Path: "/q/go.mod", Class: ClassOutside}}}, set, Deny, RuleOutside},
		"scratch":                     {RequestTool{Targets: []schemas.Target{{Path: "/tmp/x", Class: ClassScratch}}}, set, Allow, ""},
		"the whole project":           {RequestTool{Targets: []schemas.Target{folder(".")}}, set, Deny, RulePolicy},
		"what may be a folder":        {RequestTool{Targets: []schemas.Target{folder("x.lock")}}, set, Deny, RulePolicy},
		"a named folder":              {RequestTool{Targets: []schemas.Target{folder("docs/a")}}, set, Allow, ""},
		"a sub-agent":                 {RequestTool{Actor: Actor{Agent: "a", Parent: &State{Mode: ModeConversation}}, Targets: []schemas.Target{file("main.go", ClassCode)}}, set, Deny, RulePolicy},
		"a worker":                    {RequestTool{Actor: Actor{Agent: "a", Parent: &orchestrator}, Targets: []schemas.Target{file("main.go", ClassCode)}}, set, Deny, RulePolicy},
		"a worker's unknown command":  {RequestTool{Actor: Actor{Agent: "a", Parent: &orchestrator}, Shell: &ShellCommand{Text: "x", Effect: EffectCannotTell}}, set, Deny, RulePolicy},
		"an unknown command":          {RequestTool{Shell: &ShellCommand{Text: "x", Effect: EffectCannotTell}}, set, Deny, RulePolicy},
		"an unknown one that is held": {RequestTool{Confined: true, Shell: &ShellCommand{Text: "x", Effect: EffectCannotTell}}, set, Allow, ""},
		"what a user would be asked":  {RequestTool{Shell: &ShellCommand{Text: "docker run x", Effect: EffectReads, Elsewhere: []shell.Elsewhere{{Class: shell.Container, Program: "docker"}}}}, set, Deny, RuleElsewhere},
		"a server's unknown tool":     {RequestTool{Unproven: "nothing says that it only reads", Holds: "mcp__x__y"}, set, Deny, RulePolicy},
		"after its last day":          {RequestTool{Targets: []schemas.Target{file("go.mod", ClassCode)}}, expired, Deny, RulePolicy},
	} {
		for _, mode := range []string{"", ModeConversation, ModeDebug, ModeSmall, ModeReview, ModeWork} {
			c.request.Tool, c.request.Settings = "Write", c.set
			state := State{Mode: mode, Streak: Streak{Rule: c.rule, Count: 3}, Work: Work{Phase: PhaseImplementation, Gates: map[string]Gate{GatePlan: {Planned: []string{"main.go"}}, GateTests: {}}}}
			d, err := Decide(state, c.request)
			if err != nil || d.Verdict != c.want || d.Rule != c.rule {
				t.Errorf("%s, in mode %q: %v %s %q, %v, want %v %s", name, mode, d.Verdict, d.Rule, d.Reason, err, c.want, c.rule)
			}
			if e := d.Record[0].(schemas.ToolDecided); e.Policy != c.set.Under.Text {
				t.Errorf("%s: recorded under %q", name, e.Policy)
			}
		}
	}
}

// TestTwoPersonsLeaveNoOtherWay: a laxer mode that a session is in already is none, and
// no single yes lets in what the plan does not name.
func TestTwoPersonsLeaveNoOtherWay(t *testing.T) {
	set := DefaultSettings()
	set.Approval, set.Subagents = TwoPersons, SubagentsInherit
	code := RequestTool{Tool: "Write", Settings: set, Targets: []schemas.Target{{Path: "/p/a.go", Rel: "a.go", Class: ClassCode, Result: "x"}}}
	open := map[string]Gate{GatePlan: {Planned: []string{"b.go"}}, GateTests: {}}
	for name, s := range map[string]State{
		"conversation": {Mode: ModeConversation}, "debug": {Mode: ModeDebug, Repro: []string{"a.go"}}, "small": {Mode: ModeSmall}, "none": {},
		"review": {Mode: ModeReview}, "planning": {Mode: ModeWork, Work: Work{Phase: PhasePlanning}},
		"another file than the plan's": {Mode: ModeWork, Work: Work{Phase: PhaseImplementation, Gates: open}},
	} {
		s.Streak = Streak{Rule: RulePlan, Count: 3}
		for _, actor := range []Actor{{}, {Agent: "a"}, {Agent: "a", Parent: &s}} {
			code.Actor = actor
			if d, err := Decide(s, code); err != nil || d.Verdict != Deny {
				t.Errorf("%s, %+v: %v %s, %v", name, actor.Agent, d.Verdict, d.Reason, err)
			}
		}
		for _, mode := range []string{ModeConversation, ModeDebug, ModeSmall} {
			if d, err := Decide(s, SetMode{Mode: mode, ByUser: true, Settings: set}); err != nil || d.Verdict != Deny {
				t.Errorf("%s to %s: %v, %v", name, mode, d.Verdict, err)
			}
		}
	}
	code.Targets[0].Rel, code.Actor = "b.go", Actor{}
	if d, err := Decide(State{Mode: ModeWork, Work: Work{Phase: PhaseImplementation, Gates: open}}, code); err != nil || d.Verdict != Allow {
		t.Errorf("what the plan names: %v %s, %v", d.Verdict, d.Reason, err)
	}
}

func TestNothingApprovesUnderAReleasedPolicy(t *testing.T) {
	set := DefaultSettings().UnderPolicy("acme@3/deps", []string{"go.mod"}, nil)
	for _, channel := range []string{ChannelCommand, ChannelDialog, ChannelPrompt, ChannelUnsourced, ChannelDashboard, ChannelTerminal, ChannelPasskey, ChannelAnswer} {
		if why := TooWeak(channel, set.Approval); !strings.Contains(why, "nobody approves") {
			t.Errorf("%s: %q", channel, why)
		}
		if why := TooWeak(channel, TwoPersons); (why == "") != (channel == ChannelTerminal) {
			t.Errorf("%s, of two persons: %q", channel, why)
		}
	}
}
