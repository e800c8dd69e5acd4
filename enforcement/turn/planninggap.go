package turn

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/writbus/writ/enforcement"
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
		// A plan that cannot be read is not as approved, which is told elsewhere.
		content, _ := project.ReadFile(filepath.Join(t.project.Root, enforcement.PlanFile))
		return enforcement.PlanningGap(s, target.Rel, content, broken)
	})
	return decision.Context, err
}

// severe reports a rule of the two highest severities.
func (c *contents) severe(id string) bool {
	doc, found := c.rules.Current().Document(id)
	return found && (doc.Rule.Severity == "critical" || doc.Rule.Severity == "high")
}
