package enforcement

import (
	"slices"
	"testing"

	"github.com/writbus/writ/schemas"
)

// brokenBy names the first invariant of State that does not hold, "" where all
// do. decided says that the events came from Decide, in the order of their
// decisions; else only what holds after any events is asked for.
func brokenBy(s State, decided bool) string {
	for _, i := range stateInvariants {
		if (decided || i.always) && !i.holds(s) {
			return i.what
		}
	}
	return ""
}

// stateInvariants are those in the comment of State, in its order.
var stateInvariants = []struct {
	what   string
	always bool // whatever the events are
	holds  func(State) bool
}{
	{"1: a phase or an open gate in another mode than work", true, func(s State) bool {
		return s.Mode == ModeWork || s.Work.Phase == "" && len(s.Work.Gates) == 0
	}},
	{"2: parked work in work mode", false, func(s State) bool { return s.Mode != ModeWork || s.Parked == nil }},
	{"3: a gate is open and the one before it is not", false, func(s State) bool {
		return inOrder(s.Work.Gates) && (s.Parked == nil || inOrder(s.Parked.Gates))
	}},
	{"4: an open gate whose act is not used up for it", false, func(s State) bool {
		for name, g := range s.Work.Gates {
			if g.ActID != "" && s.Acts[g.ActID] != name {
				return false
			}
		}
		return true
	}},
	{"5: a rule the model still has was never shown", true, func(s State) bool {
		return subset(s.Fresh, s.Shown) && subset(s.Instructed, s.Shown)
	}},
	{"6: refusals and denials differ, or a streak is longer than its denials", true, func(s State) bool {
		sum := 0
		for _, n := range s.Denials {
			sum += n
		}
		return sum == s.Refusals && s.Streak.Count <= s.Denials[s.Streak.Rule]
	}},
	{"7: rules from before a compaction, and none to resume from", true, func(s State) bool { return s.Resuming || len(s.Before) == 0 }},
	{"8: a role of a sub-agent that is not running", true, func(s State) bool {
		for id := range s.Roles {
			if !slices.Contains(s.Agents, id) {
				return false
			}
		}
		return true
	}},
	{"9: too many pending writes", true, func(s State) bool { return len(s.Pending) <= maxPending }},
	{"10: a list of names is not sorted, or has one twice", true, func(s State) bool {
		for _, names := range [][]string{
			s.Shown, s.Fresh, s.Named, s.Instructed, s.Before, s.Written, s.PendingTests, s.Unverified, s.Unreviewed, s.Followed, s.Broken, s.Agents, s.Work.TestFiles,
		} {
			if !slices.IsSorted(names) || len(slices.Compact(slices.Clone(names))) != len(names) {
				return false
			}
		}
		return slices.IsSortedFunc(s.Violations, func(a, b schemas.Violation) int {
			if a.Path != b.Path {
				return map[bool]int{true: -1, false: 1}[a.Path < b.Path]
			}
			return a.Line - b.Line
		})
	}},
	{"12: a gate is open in a session that a damaged log closed", true, func(s State) bool {
		return s.Closed == "" || len(s.Work.Gates) == 0 && s.Work.Aside == nil && (s.Parked == nil || len(s.Parked.Gates) == 0 && s.Parked.Aside == nil)
	}},
}

func inOrder(gates map[string]Gate) bool {
	_, plan := gates[GatePlan]
	_, tests := gates[GateTests]
	_, implementation := gates[GateImplementation]
	return (plan || !tests) && (tests || !implementation)
}

func subset(some, all []string) bool {
	return !slices.ContainsFunc(some, func(v string) bool { return !slices.Contains(all, v) })
}

// TestPendingIsBounded: a host that never reports back does not let a session
// grow.
func TestPendingIsBounded(t *testing.T) {
	var s State
	for range 2 * maxPending {
		s = Evolve(s, schemas.Event{Data: schemas.ToolDecided{Verdict: "allow", Effect: EffectCannotTell}})
	}
	if len(s.Pending) != maxPending || brokenBy(s, false) != "" {
		t.Errorf("%d pending writes, %s", len(s.Pending), brokenBy(s, false))
	}
}
