package enforcement

import (
	"maps"
	"slices"

	"github.com/writbus/writ/schemas"
)

// Audit sums a session up as it stands.
func (s State) Audit() schemas.SessionAudited {
	a := schemas.SessionAudited{
		Shown: s.Shown, Broken: s.Broken, Left: s.Violations,
		Denied: maps.Clone(s.Denials), Refusals: s.Refusals, Written: s.Written, Untested: s.PendingTests,
		TestRuns: s.Ran.Runs, TestFails: s.Ran.Fails, LastRun: s.Evidence.Outcome,
		Compacted: s.Compactions, Invalidated: len(s.Invalidations),
		Followed: slices.DeleteFunc(slices.Clone(s.Followed), func(id string) bool { return contains(s.Broken, id) }),
	}
	if len(s.Shown) > 0 {
		judged := 0
		for _, id := range s.Shown {
			if contains(s.Followed, id) || contains(s.Broken, id) {
				judged++
			}
		}
		a.Coverage = float64(judged) / float64(len(s.Shown))
	}
	for _, gate := range []string{GatePlan, GateTests, GateImplementation} {
		if g, approved := s.Work.Gates[gate]; approved {
			a.Approvals = append(a.Approvals, gate+" by "+g.Channel)
		}
	}
	return a
}

func contains(sorted []string, v string) bool {
	_, found := slices.BinarySearch(sorted, v)
	return found
}
