package turn

import (
	"context"
	"slices"
	"strings"

	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/enforcement/host"
	"github.com/writbus/writ/schemas"
)

// readRules are the words of a call that shows rules whole, `writ rule show ID` or
// the query tool of Writ's MCP server: ids of rules are among them.
func (t turn) readRules() []string {
	switch {
	case t.Kind != host.AfterTool:
		return nil
	case t.Shell != nil:
		if _, shown, found := strings.Cut(*t.Shell, "writ rule show "); found {
			return idWords(shown)
		}
	case strings.HasPrefix(t.Tool, "mcp__writ__") && strings.HasSuffix(t.Tool, "query"):
		return idWords(string(t.Input))
	}
	return nil
}

// idWords are the words of a text as ids of rules are written.
func idWords(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool {
		return (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-'
	})
}

// noteRead records that an agent read rules whole: it has them then, and may cite
// them. Of a rule of which it had been given a line that is an outcome too.
func (v *Service) noteRead(ctx context.Context, t turn) error {
	ids := t.readRules()
	if len(ids) == 0 {
		return nil
	}
	session, _, err := v.actor(ctx, t)
	if err != nil {
		return err
	}
	var named []string
	_, _, err = v.Sessions.Act(ctx, session, t.agent(), t.PromptID, func(s enforcement.State) (enforcement.Decision, error) {
		var read []schemas.ShownRule
		named = nil
		for _, id := range ids {
			if _, known := v.Rules.Current().Document(id); !known || slices.Contains(s.Fresh, id) || slices.ContainsFunc(read, func(r schemas.ShownRule) bool { return r.ID == id }) {
				continue
			}
			read = append(read, schemas.ShownRule{ID: id, Score: 1, Band: "retrieved"})
			if slices.Contains(s.Named, id) {
				named = append(named, id)
			}
		}
		return v.in.withShown(t, s, enforcement.Decision{Verdict: enforcement.Allow}, "asked", read, 0)
	})
	for _, id := range named {
		if err == nil {
			err = v.Rules.Outcome(ctx, id, schemas.OutcomeRecorded{Session: session, Positive: true, Evidence: "read"})
		}
	}
	return err
}
