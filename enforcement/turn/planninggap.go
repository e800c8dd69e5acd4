package turn

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/enforcement/plan"
	"github.com/writbus/writ/enforcement/project"
	"github.com/writbus/writ/schemas"
)

// planningGap takes the approval of a plan back when a file that it plans breaks
// a rule of the two highest severities that it does not name: it was planned
// without that rule. Lesser rules are for the agent to keep to as it writes.
func (c *contents) planningGap(ctx context.Context, t turn, session string, target schemas.Target, record []schemas.Payload) (told string, err error) {
	var broken []string
	for _, p := range record {
		violated, is := p.(schemas.RuleViolated)
		if !is {
			continue
		}
		for _, v := range violated.Violations {
			if !slices.Contains(broken, v.Rule) && c.severe(v.Rule) {
				broken = append(broken, v.Rule)
			}
		}
	}
	if len(broken) == 0 || session != t.Session {
		return "", nil
	}
	decision, _, err := c.sessions.Act(ctx, t.Session, schemas.Writ("checks"), t.PromptID, func(s enforcement.State) (enforcement.Decision, error) {
		none := enforcement.Decision{Verdict: enforcement.Allow}
		gate, approved := s.Work.Gates[enforcement.GatePlan]
		if !approved || s.Phase() != enforcement.PhaseImplementation || !slices.Contains(gate.Planned, target.Rel) {
			return none, nil
		}
		content, err := project.ReadFile(filepath.Join(t.project.Root, enforcement.PlanFile))
		if err != nil || len(gate.Files) == 0 || enforcement.Hash(content) != gate.Files[0].SHA256 {
			return none, nil //nolint:nilerr // a plan that is not as approved has drifted, which is told elsewhere
		}
		cited, _ := plan.Parse(content)
		broken = slices.DeleteFunc(broken, func(id string) bool { return slices.Contains(cited.Rules, id) })
		if len(broken) == 0 {
			return none, nil
		}
		return enforcement.Decide(s, enforcement.InvalidateGate{
			Gate: enforcement.GatePlan, Rule: broken[0],
			Reason: fmt.Sprintf("a planning gap: %s breaks %s, which the plan does not name", target.Rel, strings.Join(broken, ", ")),
		})
	})
	return decision.Context, err
}

// severe reports a rule of the two highest severities.
func (c *contents) severe(id string) bool {
	doc, found := c.rules.Current().Document(id)
	return found && (doc.Rule.Severity == "critical" || doc.Rule.Severity == "high")
}
