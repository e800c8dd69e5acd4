package enforcement

import (
	"path"
	"slices"

	"github.com/writbus/writ/enforcement/phrase"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/lazyregexp"
)

// Why planning began again (persisted; never change).
const (
	reopenedDone  = "done"  // the work of the plan was done
	reopenedNamed = "named" // the user said that it is another task, or changed it
)

// resumption is a prompt that goes on under the plan put aside.
var resumption = lazyregexp.New(`(?i)^(?:no|yes|ok|okay|please|just|[,\s])*\b(?:continue|go on|carry on|proceed|stay|stick|keep going) with the (?:old |approved |current |same )?plan[\s.!]*$`)

// wish opens planning again for a prompt that asks for something new: one that
// says so or changes what was agreed, or one that asks for a change when the plan's work is done.
func (c SubmitPrompt) wish(s State) Decision {
	c.Late = false // what closes a gate counts whenever it is read
	_, refusal := c.channel(s)
	if refusal != "" || !s.Approved(GatePlan) {
		return Decision{}
	}
	reason := ""
	switch kind := phrase.Wish(c.Prompt, string(c.Workspace.Plan)); {
	case kind == phrase.OtherTask:
		reason = reopenedNamed
	case kind == phrase.Change && done(s):
		reason = reopenedDone
	default:
		return Decision{}
	}
	return Decision{
		Record: []schemas.Payload{
			schemas.PlanReopened{Reason: reason},
			schemas.PhaseChanged{From: s.Work.Phase, To: PhasePlanning, Reason: "the user wishes for something new"},
		},
		Context: "Writ: the user wishes for something new, so planning is open again. " + mayWrite(PhasePlanning) +
			" Where the wish belongs to the plan that was approved, the user answers `continue with the plan`.",
		Notice: "writ: this reads as a new wish, so planning is open again. To go on under the approved plan, answer: continue with the plan",
	}
}

// done reports whether the work of the approved plan is at its end: in
// verification, or when every planned file was written, nothing failed since, and
// the agent ended its turn.
func done(s State) bool {
	if s.Work.Phase == PhaseVerification {
		return true
	}
	if s.Work.Phase != PhaseImplementation || !s.Work.Rested || s.Failing || len(s.Unverified) > 0 || len(s.Work.Written) == 0 {
		return false
	}
	return !slices.ContainsFunc(s.Work.Gates[GatePlan].Planned, func(name string) bool {
		return !isTest(name) && !slices.ContainsFunc(s.Work.Written, func(file string) bool {
			return names(name, schemas.Target{Path: path.Join(s.Project, file), Rel: file})
		})
	})
}

// resume goes back to the approvals that a new wish put aside.
func (c SubmitPrompt) resume(s State) Decision {
	channel, refusal := c.channel(s)
	if refusal == "" {
		refusal = TooWeak(channel, c.Settings.Approval)
	}
	if refusal != "" {
		return s.refuse(Decision{Gate: GatePlan, Problems: []string{refusal}}, userAct{id: c.ActID, channel: channel, gate: GatePlan})
	}
	p := schemas.PlanResumed{Channel: channel, ActID: c.ActID}
	after := Evolve(s, schemas.Event{Data: p})
	return Decision{
		Record:  []schemas.Payload{p, schemas.PhaseChanged{From: s.Work.Phase, To: after.Work.Phase, Reason: "the user goes on with the plan"}},
		Context: "The user goes on under the approved plan. " + after.Guidance(),
		Notice:  "Back to the approved plan. Phase: " + after.Work.Phase + ".",
	}
}

func putAside(s State) State {
	if s.Mode != ModeWork || !s.Approved(GatePlan) {
		return s
	}
	aside := s.Work
	s = s.enterPhase(PhasePlanning)
	s.Work, s.ApprovedNow = Work{Phase: PhasePlanning, Aside: &aside}, ""
	return s
}

func resumed(s State, p schemas.PlanResumed) State {
	s = s.used(p.ActID, "resumed")
	if s.Mode != ModeWork || s.Work.Aside == nil {
		return s
	}
	s.Work, s.Streak = s.Work.Aside.changed(), Streak{}
	return s.forgetShown()
}
