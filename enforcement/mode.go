package enforcement

import (
	"fmt"
	"slices"
	"strings"

	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/excerpt"
)

// strictness orders the modes by how much they refuse. An agent may declare a
// stricter one; a laxer one is the user's act, as leaving work always is. While
// none is set, less may be written than in a conversation, in debug or in small
// mode.
var strictness = map[string]int{ModeConversation: 1, ModeDebug: 2, ModeSmall: 3, "": 4, ModeReview: 5, ModeWork: 6}

func knownMode(mode string) bool { return mode != "" && strictness[mode] > 0 }

func (c SetMode) decide(s State) Decision {
	if !knownMode(c.Mode) {
		return Decision{Rule: RuleMode, Gate: "mode", Reason: fmt.Sprintf("there is no mode %q; the modes are work, small, debug, review and conversation.", excerpt.Runes(c.Mode, 40))}
	}
	if c.Settings.Approval == TwoPersons && (c.Orchestrator || c.Settings.Counts(c.Mode) == "") {
		why := "two persons have to approve before code is written here (`approval: two-person`), so that no other mode than work and review is chosen, and no orchestrator."
		return Decision{Rule: RuleMode, Gate: "mode", Reason: why, Problems: []string{why}}
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
	case c.Orchestrator && !(s.Orchestrator && s.Mode == c.Mode):
		return fmt.Sprintf("becoming an orchestrator is the user's act. Ask the user to type `/writ-mode %s --orchestrator`.", c.Mode)
	case c.Settings.RequireWork && c.Mode != ModeWork:
		return "this project requires work mode. Use `writ mode set work`, or ask the user to choose another."
	case strictness[c.Mode] < strictness[s.Mode]:
		than := s.Mode + " mode"
		if s.Mode == "" {
			than = "an agent may before a mode is chosen"
		}
		return fmt.Sprintf("%s mode allows more than %s, so it is the user who chooses it: they type `/writ-mode %s`.", c.Mode, than, c.Mode)
	case c.Mode == ModeDebug && slices.ContainsFunc(c.Repro, func(p string) bool { return !slices.Contains(s.Repro, p) }):
		return fmt.Sprintf("what a reproduction may change, the user says: they type `/writ-mode debug --repro %s`.", excerpt.Runes(strings.Join(c.Repro, " "), 100))
	}
	return ""
}

// inMode says in a few words where the session stands.
func inMode(s State) string {
	switch s.Mode {
	case "":
		return "no mode is chosen"
	case ModeWork:
		return "work mode, phase " + s.Work.Phase
	}
	return s.Mode + " mode"
}

// Position says where the session stands and what comes next.
func (s State) Position() string { return "Writ: " + s.Guidance() }

// Guidance tells an agent where the session stands and how to proceed.
func (s State) Guidance() string {
	if s.Closed != "" {
		why := textClosed(s)
		s.Closed = ""
		return strings.ToUpper(why[:1]) + why[1:] + ". " + s.Guidance()
	}
	switch s.Mode {
	case ModeConversation:
		return "Mode: conversation. Questions and small edits; to build something, `writ mode set work`."
	case ModeDebug:
		return "Mode: debug. Tests and scratch files may be written; other project files are asked for unless they belong to the declared reproduction."
	case ModeSmall:
		return s.Small.guidance()
	case ModeReview:
		return "Mode: review. Nothing in the project is changed but the findings file."
	case ModeWork:
		return fmt.Sprintf("Mode: work. Phase: %s. %s%s", s.Work.Phase, mayWrite(s.Work.Phase), s.wishes())
	}
	return "No mode is chosen: only plan.md and capabilities.md may be written. To build something, `writ mode set work`; every laxer mode is the user's to type: `/writ-mode small` for a small change, `/writ-mode conversation`, or debug."
}
