package sessions

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/schemas"
)

func (a *app) sessionAuditCommand() *cobra.Command {
	return &cobra.Command{
		Use: "audit [SESSION]", Short: "Sum up a session: rules shown, followed and broken, refusals, tests, what is open",
		Long: `Sums up a session as it stands, or as it ended: which rules reached the agent and
what a mechanical check says of each, what was refused and by which rule, which
gates the user opened, the runs of tests, and what is left open. The same is
recorded when a session ends (session.audited).`,
		Example: "  writ session audit\n  writ session audit 5e2c… --json | jq .coverage",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			session, err := a.ResolveSession(cmd.Context(), "session audit", client.First(args))
			if err != nil {
				return err
			}
			view, err := client.Ask[schemas.SessionView](cmd.Context(), a.Client, client.RoleHook, "session audit", schemas.SvcSession, schemas.SessionQuery{Session: session})
			if err != nil {
				return err
			}
			if view.Audit == nil {
				return client.Refused("session audit", "the daemon is older than this program", "Restart it: `writ down`, then `writ up`.")
			}
			return a.Print(view.Audit, func() { a.showAudit(view) })
		},
	}
}

func (a *app) showAudit(v schemas.SessionView) {
	st, audit := a.Env.Style(a.Out), v.Audit
	a.Printf("%s  %s\n", st.Bold(client.JoinNonEmpty(", ", client.Dash(v.Mode), v.Phase)), st.Dim("session "+client.ShortSession(v.Session)))
	row := func(name, format string, args ...any) {
		a.Printf("  %s %s\n", st.Dim(fmt.Sprintf("%-10s", name)), fmt.Sprintf(format, args...))
	}
	list := func(name string, all []string) {
		if len(all) > 0 {
			row(name, "%s", strings.Join(all, ", "))
		}
	}
	row("rules", "%d shown, %d followed, %d broken; checks judged %.0f %%", len(audit.Shown), len(audit.Followed), len(audit.Broken), 100*audit.Coverage)
	list("followed", audit.Followed)
	list("broken", audit.Broken)
	for i, v := range audit.Left {
		row(label(i, "left"), "%s:%d: %s %s", v.Path, v.Line, v.Rule, v.Message)
	}
	var denied []string
	for _, rule := range slices.Sorted(maps.Keys(audit.Denied)) {
		denied = append(denied, fmt.Sprintf("%s ×%d", rule, audit.Denied[rule]))
	}
	row("refusals", "%d", audit.Refusals)
	list("refused by", denied)
	list("approvals", audit.Approvals)
	if audit.Invalidated > 0 {
		row("taken back", "%s", client.Plural(audit.Invalidated, "approval", "approvals"))
	}
	row("written", "%s", client.Plural(len(audit.Written), "file", "files"))
	row("tests", "%s, %d failed%s", client.Plural(audit.TestRuns, "run", "runs"), audit.TestFails, lastRun(audit.LastRun))
	list("untested", audit.Untested)
}

func lastRun(outcome string) string {
	if outcome == "" {
		return ""
	}
	return ", the last " + outcome
}
