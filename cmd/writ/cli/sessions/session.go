package sessions

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/schemas"
)

func (a *app) sessionCommand(more ...*cobra.Command) *cobra.Command {
	return client.Group("session", "List, show and sum up sessions, and send their work back",
		"  writ session list\n  writ session show 5e2c…\n  writ session phase invalidate plan --reason \"the API changed\"",
		append(more, a.sessionListCommand(), a.sessionShowCommand(), a.sessionAuditCommand(), a.phaseCommand())...)
}

func (a *app) sessionListCommand() *cobra.Command {
	var query schemas.SessionQuery
	var here bool
	c := &cobra.Command{
		Use: "list", Short: "List sessions, newest first",
		Example: "  writ session list --project .\n  writ session list --json | jq -r .session",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if here {
				query.Project = a.Env.Dir
			}
			if query.Project != "" {
				root, found := config.FindProject(a.Env.Absolute(query.Project))
				if !found && here {
					return client.Refused("session list", "no project that uses Writ is at or above "+a.Env.Dir, "`writ init` installs it.")
				}
				query.Project = cmp.Or(root, a.Env.Absolute(query.Project))
			}
			return client.AskThen(cmd.Context(), a.Client, client.RoleHook, "session list", schemas.SvcSessions, query, func(list schemas.SessionList) error { return a.showSessions(list.Sessions) })
		},
	}
	c.Flags().BoolVar(&here, "here", false, "only those of the project around this folder")
	c.Flags().Lookup("here").Hidden = true // --project . says the same
	c.Flags().StringVar(&query.Project, "project", "", "only those of the project at or above this folder")
	c.Flags().IntVar(&query.Limit, "limit", 50, "most sessions to list")
	return c
}

func (a *app) showSessions(sessions []schemas.SessionSummary) error {
	const none = "No session yet. One begins when an agent starts in a project that uses Writ."
	return client.Rows(a.Client, sessions, none, "session\tlast seen\tmode\tphase\trefused\tevents\tproject", func(s schemas.SessionSummary) string {
		seen := client.Age(a.Env.Now().Sub(s.LastSeen)) + " ago"
		if s.LastSeen.IsZero() {
			seen = "-"
		}
		if s.Ended {
			seen += ", ended"
		}
		return fmt.Sprintf("%s\t%s\t%s\t%s\t%d\t%d\t%s", s.Session, seen, client.Dash(s.Mode), client.Dash(s.Phase), s.Refusals, s.Events, client.Dash(s.Project))
	})
}

func (a *app) sessionShowCommand() *cobra.Command {
	var at string
	c := &cobra.Command{
		Use: "show [SESSION]", Short: "Show one session: mode, gates, files, what comes next",
		Long: `Shows a session as it stands, or with --at as it was: its events up to then,
folded by the same rules that decide. What lay in files is not in the log, so
drift is what had been noticed by then.`,
		Example: "  writ session show\n  writ session show 5e2c… --json\n  writ session show 5e2c… --at 15m\n  writ session show 5e2c… --at 812",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			when, err := a.ThenOf("session show", at)
			if err != nil {
				return err
			}
			session, err := a.ResolveSession(cmd.Context(), "session show", client.First(args))
			if err != nil {
				return err
			}
			return client.Show(cmd.Context(), a.Client, client.RoleHook, "session show", schemas.SvcSession, when.Query(session), a.showSession)
		},
	}
	c.Flags().StringVar(&at, "at", "", "as it was at this `moment`: a time, how long ago (15m), or a record's sequence")
	return c
}

func (a *app) showSession(v schemas.SessionView) {
	st := a.Env.Style(a.Out)
	a.showGates(v)
	row := func(name, value string) {
		if value != "" {
			a.Printf("  %s %s\n", st.Dim(fmt.Sprintf("%-9s", name)), value)
		}
	}
	row("project", v.Project)
	row("agent", client.JoinNonEmpty(", ", v.Host, v.Model))
	row("parent", v.Parent)
	if !v.Started.IsZero() {
		row("started", v.Started.Local().Format("2006-01-02 15:04:05"))
	}
	row("record", fmt.Sprintf("%s, %s", client.Plural(v.Events, "event", "events"), client.Plural(v.Refusals, "refusal", "refusals")))
	if v.Tokens > 0 {
		row("given", fmt.Sprintf("%s in %s", client.Plural(len(v.Shown), "rule", "rules"), client.Plural(v.Tokens, "token", "tokens")))
	}
	for i, id := range v.Shown {
		row(label(i, "rules"), id)
	}
	for i, path := range v.Written {
		row(label(i, "written"), path)
	}
}

func label(i int, name string) string {
	if i == 0 {
		return name
	}
	return " "
}

// showGates prints mode, phase and gates, and what comes next.
func (a *app) showGates(v schemas.SessionView) {
	st := a.Env.Style(a.Out)
	mode := client.Dash(v.Mode)
	if v.Mode == "" {
		mode = "no mode"
	}
	state := ""
	if v.Ended {
		state = " (ended)"
	}
	if past := client.AsOf(v); past != "" {
		state += "  " + st.Yellow(past)
	}
	a.Printf("%s  %s%s\n", st.Bold(client.JoinNonEmpty(", ", mode, v.Phase)), st.Dim("session "+v.Session), state)
	for _, g := range v.Gates {
		mark := st.Dim("·")
		switch g.State {
		case "approved":
			mark = st.Green("✓")
		case "drifted":
			mark = st.Red("!")
		}
		detail := g.State
		if g.Channel != "" {
			detail += " by " + g.Channel
		}
		a.Printf("  %s %-8s %s\n", mark, g.Gate, detail)
	}
	if v.Next != "" {
		a.Printf("  %s %s\n", st.Bold("next:"), v.Next)
	}
}
