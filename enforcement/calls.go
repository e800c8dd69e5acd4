package enforcement

import (
	"fmt"
	"strings"

	"github.com/writbus/writ/enforcement/plan"
	"github.com/writbus/writ/enforcement/skeleton"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/excerpt"
)

// maxNamed bounds the files that a line names.
const maxNamed = 6

// Calls says in a few lines what of a session waits for the user, where a plan or
// tests can be approved as they are: what it is about, what it covers, what running
// showed, and how to answer. "" where nothing waits.
func Calls(s State, w Workspace, set Settings) string {
	gate := s.Waiting(w)
	switch {
	case s.Parent != "" || s.Mode != ModeWork:
		return ""
	case gate == GateImplementation:
		return callsToLook(s, w, set)
	case gate == "":
		return callsDone(s, w)
	}
	o := s.Offer(gate, w)
	if o.Empty || len(o.Problems) > 0 || s.Work.SentBack(gate, o.Fingerprint) || fromBefore(s, o) {
		return ""
	}
	title := plan.Title(w.Plan)
	if title != "" {
		title = ": " + title
	}
	again := ""
	if s.Approved(gate) {
		again = ", changed since you approved it"
	}
	lines := []string{"writ: the plan waits for you" + title + again}
	how := wordsForPlan
	if gate == GatePlan {
		lines = append(lines, "It allows writing "+o.lets())
	} else {
		lines[0], how = "writ: the tests wait for you"+title+again, wordsForTests
		for _, f := range o.Files {
			if tests := skeleton.Outline(f.Path, w.Tests[f.Path]); len(tests) > 0 {
				lines = append(lines, fmt.Sprintf("%s: %s", f.Path, asserts(tests)))
			}
		}
		for _, one := range o.Seen {
			lines = append(lines, one.Text)
		}
	}
	return strings.Join(lines, "\n- ") + "\nApprove it " + set.approvable(how) + "; `writ approve` shows it whole."
}

// callsToLook says that the implementation is the user's to end, once its planned
// files exist and its tests passed since the last change.
func callsToLook(s State, w Workspace, set Settings) string {
	o := s.Offer(GateImplementation, w)
	if s.Evidence.Kind != KindTest || s.Evidence.Outcome != schemas.OutcomePassed || len(o.Problems)+len(unbuilt(s, w))+len(s.PendingTests) > 0 {
		return ""
	}
	return fmt.Sprintf("writ: every planned file exists and the tests pass (`%s`): the implementation is yours to end.\nEnd it %s; the agent then verifies what the plan promised.",
		excerpt.Runes(s.Evidence.Command, 80), set.approvable(wordsForImplementation))
}

// callsDone says in verification what was promised and is done, or is missing.
func callsDone(s State, w Workspace) string {
	if s.Work.Phase != PhaseVerification {
		return ""
	}
	promised := len(s.Work.Gates[GatePlan].Capabilities)
	unticked := s.Work.unticked(w)
	if missing := append(unticked, unbuilt(s, w)...); len(missing) > 0 {
		return fmt.Sprintf("writ: not done yet, %d of %d capabilities ticked:\n- ", promised-len(unticked), promised) + strings.Join(missing[:min(len(missing), maxNamed)], "\n- ")
	}
	return fmt.Sprintf("writ: done: all capabilities (%d) are ticked, the planned files exist, and what ran since the last change passed. What you ask for next begins the next piece of work.", promised)
}

// listed lists the first of some names.
func listed(names []string) string {
	if more := len(names) - maxNamed; more > 0 {
		return strings.Join(names[:maxNamed], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(names, ", ")
}

// asserts names the first tests of a file with what they assert first.
func asserts(tests []skeleton.Test) string {
	var parts []string
	for _, t := range tests {
		one := t.Name
		if len(t.Asserts) > 0 {
			one = strings.TrimSpace(one + " (" + excerpt.Runes(t.Asserts[0], 80) + ")")
		}
		parts = append(parts, one)
	}
	return listed(parts)
}
