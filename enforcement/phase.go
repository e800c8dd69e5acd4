package enforcement

import (
	"fmt"
	"slices"
	"strings"

	"github.com/writbus/writ/enforcement/plan"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/excerpt"
)

// Diagnoses of repeated invalidations (persisted; never change).
const (
	DiagnosisSame      = "same_rule"       // one rule, again and again
	DiagnosisDifferent = "different_rules" // another rule each time
	DiagnosisMixed     = "mixed"           // neither, or no rule was named
)

// escalateAt is the number of invalidations of one gate that escalates.
const escalateAt = 3

func (c InvalidateGate) decide(s State) Decision {
	switch c.Gate {
	case GatePlan, GateTests, GateImplementation:
	default:
		return Decision{Reason: fmt.Sprintf("there is no gate %q; the gates are plan, tests and implementation.", excerpt.Runes(c.Gate, 40))}
	}
	if c.Reason == "" {
		return Decision{Gate: c.Gate, Reason: "an invalidation needs a reason: `writ session phase invalidate " + c.Gate + " --reason …`."}
	}
	if !s.Approved(c.Gate) && (s.Parked == nil || !s.Parked.approved(c.Gate)) {
		return Decision{Gate: c.Gate, Reason: "there is no approval of the " + c.Gate + " to take back."}
	}
	p := schemas.GateInvalidated{Gate: c.Gate, Reason: c.Reason, Rule: c.Rule, Diagnosis: s.diagnose(c)}
	after := Evolve(s, schemas.Event{Data: p})
	d := Decision{
		Verdict: Allow, Record: []schemas.Payload{p},
		Context: fmt.Sprintf("The approval of the %s was taken back: %s. %s", c.Gate, c.Reason, after.Guidance()),
	}
	if p.Diagnosis != "" {
		d.Notice = fmt.Sprintf("The approval of the %s was taken back %d times. %s", c.Gate, len(after.invalidationsOf(c.Gate)), diagnosisText[p.Diagnosis])
		d.Context += " " + d.Notice
	}
	return d
}

var diagnosisText = map[string]string{
	DiagnosisSame:      "It is the same rule every time: the plan does not take it up, or the rule does not fit here. Settle that with the user before planning again.",
	DiagnosisDifferent: "It is another rule each time: the plan was made without the rules that matter. Look them up for every planned file first.",
	DiagnosisMixed:     "The causes differ: the task may be too large for one plan. Propose to split it.",
}

func (s State) invalidationsOf(gate string) []string {
	var rules []string
	for _, i := range s.Invalidations {
		if i.Gate == gate {
			rules = append(rules, i.Rule)
		}
	}
	return rules
}

// diagnose compares the rules behind all invalidations of a gate, this one
// included; "" before the third.
func (s State) diagnose(c InvalidateGate) string {
	rules := append(s.invalidationsOf(c.Gate), c.Rule)
	if len(rules) < escalateAt {
		return ""
	}
	distinct := map[string]bool{}
	for _, r := range rules {
		distinct[r] = true
	}
	switch {
	case distinct[""]:
		return DiagnosisMixed
	case len(distinct) == 1:
		return DiagnosisSame
	case len(distinct) == len(rules):
		return DiagnosisDifferent
	}
	return DiagnosisMixed
}

func (c ReopenPhase) decide(s State) Decision {
	if s.Mode != ModeWork || s.Work.Phase != PhaseVerification {
		return Decision{Gate: GateImplementation, Reason: "only verification can be reopened. " + s.Guidance()}
	}
	p := schemas.PhaseChanged{From: PhaseVerification, To: PhaseImplementation, Reason: c.Reason}
	return Decision{Verdict: Allow, Record: []schemas.Payload{p}, Context: "Implementation is open again. " + mayWrite(PhaseImplementation)}
}

// decide answers an agent that wants to go on. Approvals act at once, so there
// is nothing to consume: either the user opened the gate, or the agent waits.
func (c AdvancePhase) decide(s State) Decision {
	if s.Mode != ModeWork {
		return Decision{Rule: RuleMode, Gate: "mode", Reason: "only work mode has phases. " + s.Guidance()}
	}
	if gate := firstDrifted(s.Drifted(c.Workspace)); gate != "" {
		return c.refused(gate, "approved files were changed after the approval of the "+gate)
	}
	if c.Gate == "" && s.ApprovedNow != "" || c.Gate != "" && s.Approved(c.Gate) {
		return Decision{Verdict: Allow, Context: s.Guidance()}
	}
	if s.Work.Phase == PhaseVerification && c.Gate == "" {
		return c.complete(s)
	}
	gate := c.Gate
	if gate == "" {
		gate = s.Waiting(c.Workspace)
	}
	return c.refused(gate, "the user has not approved the "+gate)
}

func (c AdvancePhase) refused(gate, why string) Decision {
	d := Decision{
		Rule: ruleOfGate(gate), Gate: gate, Problems: []string{why},
		Reason: fmt.Sprintf("%s: %s, and a tool call cannot do it for them. Show what waits and stop. %s", ruleOfGate(gate), why, c.Settings.howToApprove(gate)),
	}
	d.Record = []schemas.Payload{schemas.ApprovalRefused{Gate: gate, Channel: ChannelAgent, Reason: why}}
	return d
}

func ruleOfGate(gate string) string {
	switch gate {
	case GateTests:
		return RuleTests
	case GateImplementation:
		return RuleVerify
	}
	return RulePlan
}

// complete tells whether verification is done: every capability of the plan is
// ticked, and the implementation is as it should be.
func (c AdvancePhase) complete(s State) Decision {
	problems := append(s.Work.unticked(c.Workspace), unbuilt(s, c.Workspace)...)
	if len(problems) > 0 {
		return Decision{Rule: RuleVerify, Gate: GateImplementation, Problems: problems, Reason: RuleVerify + ": verification is not done: " + strings.Join(problems, "; ") + "."}
	}
	return Decision{Verdict: Allow, Context: "Every capability is ticked and every planned file exists. Report to the user; `writ mode set work` begins the next piece of work."}
}

// unticked are the capabilities of the approved plan that nobody ticked.
func (w Work) unticked(ws Workspace) (problems []string) {
	ticked := map[string]bool{}
	for _, box := range plan.ParseCapabilities(ws.Capabilities) {
		ticked[box.Text] = ticked[box.Text] || box.Ticked
	}
	for _, text := range w.Gates[GatePlan].Capabilities {
		if !ticked[text] {
			problems = append(problems, "not ticked in capabilities.md: "+text)
		}
	}
	return problems
}

// absent are the files of the approved plan that do not exist.
func (w Work) absent(ws Workspace) (files []string) {
	for _, file := range w.Gates[GatePlan].Planned {
		if ws.Files[file].SHA256 == "" && !strings.ContainsAny(file, "*?[") {
			files = append(files, file)
		}
	}
	return files
}

// unbuilt says what of the implementation is missing: every planned file exists, and
// nothing that ran since the last change failed.
func unbuilt(s State, ws Workspace) (problems []string) {
	for _, file := range s.Work.absent(ws) {
		problems = append(problems, "planned and not there: "+file)
	}
	switch {
	case s.Failing:
		problems = append(problems, "the tests fail: `"+excerpt.Runes(s.Evidence.Command, 80)+"`")
	case len(s.Unverified) > 0:
		problems = append(problems, "no test or check ran since "+fileList(s.Unverified)+" changed")
	}
	return problems
}

// PlanningGap takes the approval of a plan back where a file that it plans breaks
// rules that it does not name. content is the plan as it stands: one that is not as
// approved has drifted, which other decisions find.
func PlanningGap(s State, file string, content []byte, broken []string) (Decision, error) {
	gate, approved := s.Work.Gates[GatePlan]
	if !approved || s.Phase() != PhaseImplementation || !slices.Contains(gate.Planned, file) ||
		len(gate.Files) == 0 || Hash(content) != gate.Files[0].SHA256 {
		return Decision{Verdict: Allow}, nil
	}
	cited, _ := plan.Parse(content)
	unnamed := slices.DeleteFunc(slices.Clone(broken), func(id string) bool { return slices.Contains(cited.Rules, id) })
	if len(unnamed) == 0 {
		return Decision{Verdict: Allow}, nil
	}
	return Decide(s, InvalidateGate{
		Gate: GatePlan, Rule: unnamed[0],
		Reason: fmt.Sprintf("a planning gap: %s breaks %s, which the plan does not name", file, strings.Join(unnamed, ", ")),
	})
}
