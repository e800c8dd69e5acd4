package cli

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/schemas"
)

func (a *app) sessionCommand() *cobra.Command {
	return group("session", "List, show, audit or replay sessions",
		"  writ session list\n  writ session show 5e2c…\n  writ session replay 5e2c…",
		a.sessionListCommand(), a.sessionShowCommand(), a.sessionAuditCommand(), a.sessionReplayCommand())
}

func (a *app) sessionListCommand() *cobra.Command {
	var query schemas.SessionQuery
	var here bool
	c := &cobra.Command{
		Use: "list", Short: "List sessions, newest first",
		Example: "  writ session list --here\n  writ session list --json | jq -r .session",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if query.Project != "" {
				query.Project = a.env.absolute(query.Project)
			}
			if here {
				root, found := config.FindProject(a.env.Dir)
				if !found {
					return refused("session list --here", "no project that uses Writ is at or above "+a.env.Dir, "`writ init` installs it.")
				}
				query.Project = root
			}
			list, err := ask[schemas.SessionList](cmd.Context(), a, roleHook, "session list", schemas.SvcSessions, query)
			if err != nil {
				return err
			}
			if a.json {
				for _, s := range list.Sessions {
					if err := a.printJSON(s); err != nil {
						return err
					}
				}
				return nil
			}
			a.showSessions(list.Sessions)
			return nil
		},
	}
	c.Flags().BoolVar(&here, "here", false, "only those of the project around this folder")
	c.Flags().StringVar(&query.Project, "project", "", "only those of the project with this root")
	c.Flags().IntVar(&query.Limit, "limit", 50, "most sessions to list")
	return c
}

func (a *app) showSessions(sessions []schemas.SessionSummary) {
	if len(sessions) == 0 {
		a.printf("No session yet. One begins when an agent starts in a project that uses Writ.\n")
		return
	}
	table := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "session\tlast seen\tmode\tphase\trefused\tevents\tproject")
	for _, s := range sessions {
		seen := age(a.env.Now().Sub(s.LastSeen)) + " ago"
		if s.LastSeen.IsZero() {
			seen = "-"
		}
		if s.Ended {
			seen += ", ended"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%d\t%d\t%s\n", s.Session, seen, dash(s.Mode), dash(s.Phase), s.Refusals, s.Events, dash(s.Project))
	}
	_ = table.Flush()
}

func dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
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
			when, err := a.thenOf("session show", at)
			if err != nil {
				return err
			}
			session, err := a.resolveSession(cmd.Context(), "session show", first(args))
			if err != nil {
				return err
			}
			view, err := ask[schemas.SessionView](cmd.Context(), a, roleHook, "session show", schemas.SvcSession, when.query(session))
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(view)
			}
			a.showSession(view)
			return nil
		},
	}
	c.Flags().StringVar(&at, "at", "", "as it was at this `moment`: a time, how long ago (15m), or a record's sequence")
	return c
}

func first(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

func (a *app) showSession(v schemas.SessionView) {
	st := a.env.style(a.out)
	a.showGates(v)
	row := func(name, value string) {
		if value != "" {
			a.printf("  %s %s\n", st.dim(fmt.Sprintf("%-9s", name)), value)
		}
	}
	row("project", v.Project)
	row("agent", joinNonEmpty(", ", v.Host, v.Model))
	row("parent", v.Parent)
	if !v.Started.IsZero() {
		row("started", v.Started.Local().Format("2006-01-02 15:04:05"))
	}
	row("record", fmt.Sprintf("%s, %s", plural(v.Events, "event", "events"), plural(v.Refusals, "refusal", "refusals")))
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
	st := a.env.style(a.out)
	mode := dash(v.Mode)
	if v.Mode == "" {
		mode = "no mode"
	}
	state := ""
	if v.Ended {
		state = " (ended)"
	}
	if past := asOf(v); past != "" {
		state += "  " + st.yellow(past)
	}
	a.printf("%s  %s%s\n", st.bold(joinNonEmpty(", ", mode, v.Phase)), st.dim("session "+v.Session), state)
	for _, g := range v.Gates {
		mark := st.dim("·")
		switch g.State {
		case "approved":
			mark = st.green("✓")
		case "drifted":
			mark = st.red("!")
		}
		detail := g.State
		if g.Channel != "" {
			detail += " by " + g.Channel
		}
		a.printf("  %s %-8s %s\n", mark, g.Gate, detail)
	}
	if v.Next != "" {
		a.printf("  %s %s\n", st.bold("next:"), v.Next)
	}
}

func joinNonEmpty(separator string, parts ...string) string {
	text := ""
	for _, part := range parts {
		switch {
		case part == "":
		case text == "":
			text = part
		default:
			text += separator + part
		}
	}
	return text
}

func (a *app) sessionReplayCommand() *cobra.Command {
	f := replayFlags{}
	c := &cobra.Command{
		Use: "replay [SESSION]", Short: "Show everything that happened in a session",
		Example: "  writ session replay 5e2c…\n  writ session replay --json | jq -r .type",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			session, err := a.resolveSession(cmd.Context(), "session replay", first(args))
			if err != nil {
				return err
			}
			f.session = session
			return a.replay(cmd.Context(), "session replay", f)
		},
	}
	f.rangeFlags(c.Flags())
	c.Flags().StringVar(&f.eventType, "type", "", "only events of this type")
	c.Flags().StringVar(&f.rule, "rule", "", "only events that name this rule")
	c.Flags().BoolVar(&f.data, "data", false, "show each event's data")
	return c
}
