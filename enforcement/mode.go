package enforcement

import (
	"fmt"
	"slices"

	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/excerpt"
)

// strictness orders the modes by how much they refuse. An agent may declare any
// mode while none is set, and a stricter one afterwards; a laxer one is the
// user's act, as leaving work always is.
var strictness = map[string]int{"": 0, ModeConversation: 1, ModeDebug: 2, ModeReview: 3, ModeWork: 4}

func knownMode(mode string) bool { return mode != "" && strictness[mode] > 0 }

func (c SetMode) decide(s State) Decision {
	if !knownMode(c.Mode) {
		return Decision{Rule: RuleMode, Gate: "mode", Reason: fmt.Sprintf("there is no mode %q; the modes are work, debug, review and conversation.", excerpt.Runes(c.Mode, 40))}
	}
	if refusal := c.refusal(s); refusal != "" && !c.ByUser {
		return Decision{
			Rule: RuleMode, Gate: "mode", Reason: refusal, Problems: []string{refusal},
			Record: []schemas.Payload{schemas.ApprovalRefused{Gate: "mode", Channel: ChannelAgent, Reason: refusal}},
		}
	}
	p := schemas.ModeChanged{From: s.Mode, To: c.Mode, Orchestrator: c.Orchestrator}
	if c.Mode == ModeDebug {
		p.Repro = slices.Clone(c.Repro)
	}
	p.Restored = c.Mode == ModeWork && s.Mode != ModeWork && s.Parked != nil
	after := Evolve(s, schemas.Event{Data: p})
	return Decision{Verdict: Allow, Record: []schemas.Payload{p}, Context: after.Guidance()}
}

// refusal says why the change of mode is not the agent's, "" where it is.
func (c SetMode) refusal(s State) string {
	switch {
	case s.Parent != "":
		return "a sub-agent works in its parent's mode; it does not choose one."
	case s.Mode == ModeWork && c.Mode != ModeWork:
		return fmt.Sprintf("leaving work mode is the user's act. Go on, or ask the user to type `/writ-mode %s`.", c.Mode)
	case slices.ContainsFunc(c.Repro, func(p string) bool { _, whole := within(p, s.Project, false); return whole && s.Project != "" }):
		return "a reproduction is a few files, not the whole project. Name those that the fault needs."
	case c.Orchestrator && !(s.Orchestrator && s.Mode == c.Mode):
		return fmt.Sprintf("becoming an orchestrator is the user's act. Ask the user to type `/writ-mode %s --orchestrator`.", c.Mode)
	case c.Settings.RequireWork && c.Mode != ModeWork:
		return "this project requires work mode. Use `writ mode set work`, or ask the user to choose another."
	case strictness[c.Mode] < strictness[s.Mode]:
		return fmt.Sprintf("%s mode allows more than %s mode, so it is the user who chooses it, with `/writ-mode %s`.", c.Mode, s.Mode, c.Mode)
	}
	return ""
}

// Position says where the session stands and what comes next.
func (s State) Position() string { return "Writ: " + s.Guidance() }

// Guidance tells an agent where the session stands and how to proceed.
func (s State) Guidance() string {
	switch s.Mode {
	case ModeConversation:
		return "Mode: conversation. Questions and small edits; to build something, `writ mode set work`."
	case ModeDebug:
		return "Mode: debug. Tests and scratch files may be written; other project files are asked for unless they belong to the declared reproduction."
	case ModeReview:
		return "Mode: review. Nothing in the project is changed but the findings file."
	case ModeWork:
		return fmt.Sprintf("Mode: work. Phase: %s. %s%s", s.Work.Phase, mayWrite(s.Work.Phase), s.wishes())
	}
	return "No mode is chosen: only plan.md and capabilities.md may be written. Choose one with `writ mode set work|debug|review|conversation`."
}
