package sessions

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

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
			return client.AskThen(cmd.Context(), a.Client, client.RoleHook, "session list", schemas.SvcSessions, query, func(list schemas.SessionList) error {
				if err := a.showSessions(list.Sessions); err != nil || a.JSON {
					return err
				}
				a.Printf("%s\n", a.Env.Style(a.Out).Dim(standing(list.Counts)))
				return nil
			})
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
	short := shortIDs(sessions)
	return client.Rows(a.Client, sessions, none, "session\tseen\tstands\tproject\twish", func(s schemas.SessionSummary) string {
		seen := "-"
		if !s.LastSeen.IsZero() {
			seen = client.Age(a.Env.Now().Sub(s.LastSeen))
		}
		stands := s.Standing
		if s.Mode != "" && !s.Ended {
			stands = client.JoinNonEmpty(" ", s.Standing, s.Mode)
			if s.Mode == "work" {
				stands = client.JoinNonEmpty(" ", s.Standing, s.Phase)
			}
		}
		project := "-"
		if s.Project != "" {
			project = client.Shorten(filepath.Base(s.Project), 16)
		}
		return fmt.Sprintf("%s\t%s\t%s\t%s\t%s", short[s.Session], seen, client.Dash(stands), project, client.Dash(client.Printable(client.JoinNonEmpty(": ", parentOf(s), s.Title))))
	})
}

func parentOf(s schemas.SessionSummary) string {
	if s.Parent == "" {
		return ""
	}
	return "sub-agent"
}

// shortIDs are beginnings of ids by which commands take the sessions of a list:
// as long as it needs to tell them apart.
func shortIDs(sessions []schemas.SessionSummary) map[string]string {
	short := map[string]string{}
	for _, s := range sessions {
		n := min(len(s.Session), 8)
		for slices.ContainsFunc(sessions, func(o schemas.SessionSummary) bool {
			return o.Session != s.Session && strings.HasPrefix(o.Session, s.Session[:n])
		}) && n < len(s.Session) {
			n++
		}
		short[s.Session] = s.Session[:n]
	}
	return short
}

// standing says how many sessions stand where.
func standing(c schemas.SessionCounts) string {
	text := fmt.Sprintf("%d live, %d idle, %d ended", c.Live, c.Idle, c.Ended)
	if c.Waiting > 0 {
		text += "; " + client.Plural(c.Waiting, "waits", "wait") + " for you"
	}
	return text
}

func (a *app) sessionShowCommand() *cobra.Command {
	var at string
	var diff bool
	c := &cobra.Command{
		Use: "show [SESSION]", Short: "Show one session: mode, gates, files, what comes next",
		Long: `Shows a session as it stands, or with --at as it was: its events up to then,
folded by the same rules that decide. What lay in files is not in the log, so
drift is what had been noticed by then.

With --diff it shows what the session changed, and what allowed it: the
difference from the last commit before the session to what is there.`,
		Example: "  writ session show\n  writ session show 5e2c… --diff\n  writ session show 5e2c… --json\n  writ session show 5e2c… --at 15m\n  writ session show 5e2c… --at 812",
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
			changes := schemas.ChangesRequest{Session: session, Diffs: diff}
			switch {
			case diff && at != "":
				return client.Usage("session show: --diff is about the present, --at about the past", "Give one of them.")
			case diff:
				return client.Show(cmd.Context(), a.Client, client.RoleHook, "session show", schemas.SvcChanges, changes, a.showDiffs)
			}
			if err := client.Show(cmd.Context(), a.Client, client.RoleHook, "session show", schemas.SvcSession, when.Query(session), a.showSession); err != nil || a.JSON || at != "" {
				return err
			}
			return client.Show(cmd.Context(), a.Client, client.RoleHook, "session show", schemas.SvcChanges, changes, a.showChanges)
		},
	}
	c.Flags().BoolVar(&diff, "diff", false, "what the session changed, and what allowed it")
	c.Flags().StringVar(&at, "at", "", "as it was at this `moment`: a time, how long ago (15m), or a record's sequence")
	return c
}

func (a *app) showSession(v schemas.SessionView) {
	st := a.Env.Style(a.Out)
	if v.Title != "" {
		a.Printf("%s\n", st.Bold(client.Printable(v.Title)))
	}
	a.showGates(v)
	a.fact("wish", client.Printable(v.Wish))
	a.fact("project", v.Project)
	a.fact("agent", client.JoinNonEmpty(", ", v.Host, v.Model))
	a.fact("parent", v.Parent)
	if !v.Started.IsZero() {
		a.fact("started", v.Started.Local().Format("2006-01-02 15:04:05"))
	}
	a.fact("record", fmt.Sprintf("%s, %s", client.Plural(v.Events, "event", "events"), client.Plural(v.Refusals, "refusal", "refusals")))
	a.fact("tokens", given(v))
	audit := cmp.Or(v.Audit, &schemas.SessionAudited{})
	a.fact("followed", strings.Join(audit.Followed, ", "))
	a.fact("broken", strings.Join(audit.Broken, ", "))
	a.fact("given", strings.Join(slices.DeleteFunc(slices.Clone(v.Shown), func(id string) bool { return slices.Contains(audit.Followed, id) || slices.Contains(audit.Broken, id) }), ", "))
	if v.Seq > 0 { // what follows of the present has more
		a.fact("written", strings.Join(v.Written, ", "))
	}
}

func (a *app) fact(name, value string) {
	if value != "" {
		a.Printf("  %s %s\n", a.Env.Style(a.Out).Dim(fmt.Sprintf("%-9s", name)), value)
	}
}

// showChanges lists the files that a session changed, each with what allowed it.
func (a *app) showChanges(c schemas.SessionChanges) {
	for i, f := range c.Files {
		a.fact(label(i, "changed"), client.Printable(f.Path)+"  "+a.allowed(f))
	}
}

// allowed says what allowed a change, and whether it is still there.
func (a *app) allowed(f schemas.SessionChange) string {
	st := a.Env.Style(a.Out)
	by := "in " + cmp.Or(client.JoinNonEmpty(", ", f.Mode, f.Phase), "no mode")
	if f.Gate != "" {
		by = "by the approved " + f.Gate + " (" + client.Shorten(f.Fingerprint, 13) + ")"
	}
	unapproved, since := "", ""
	if f.Unapproved {
		unapproved = st.Red("by a command that nothing allowed")
	}
	if f.Since {
		since = st.Yellow("changed since by others")
	}
	return client.JoinNonEmpty(", ", st.Dim(by), unapproved, since)
}

// showDiffs shows what a session changed in each file.
func (a *app) showDiffs(c schemas.SessionChanges) {
	st := a.Env.Style(a.Out)
	if c.Base != "" {
		a.Printf("%s\n", st.Dim("Compared with "+client.Shorten(c.Base, 13)+", the last commit before the session: what was not committed then is in it too."))
	}
	for _, f := range c.Files {
		a.Printf("\n%s  %s\n", st.Bold(client.Printable(f.Path)), a.allowed(f))
		if f.Unshown != "" {
			a.Printf("  not shown: %s\n", f.Unshown)
		}
		for line := range strings.Lines(f.Diff) {
			a.Printf("  %s\n", st.Diff(client.Printable(strings.TrimRight(line, "\r\n"))))
		}
	}
	if len(c.Files) == 0 {
		a.Printf("The session changed no file.\n")
	}
}

// given says how many tokens a session was given, of what, and how many for its
// last prompt.
func given(v schemas.SessionView) string {
	if v.Given.All() == 0 {
		return ""
	}
	var parts []string
	for _, kind := range []struct {
		name   string
		tokens int
	}{{"rules", v.Given.Rules}, {"memory", v.Given.Memory}, {"files", v.Given.Files}} {
		if kind.tokens > 0 {
			parts = append(parts, kind.name+" "+client.Thousands(uint64(kind.tokens)))
		}
	}
	text := client.Thousands(uint64(v.Given.All())) + " given (" + strings.Join(parts, ", ") + ")"
	if v.Prompts > 0 {
		text += fmt.Sprintf(", %s since the last of %s", client.Thousands(uint64(v.GivenSince)), client.Plural(v.Prompts, "prompt", "prompts"))
	}
	return text
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
	a.Printf("%s  %s%s\n", st.Bold(client.JoinNonEmpty(", ", mode, v.Phase)), st.Dim("session "+client.ShortSession(v.Session)), state)
	gated := v.Mode == "work" || slices.ContainsFunc(v.Gates, func(g schemas.SessionGate) bool { return g.State != "none" })
	for _, g := range v.Gates {
		if !gated {
			break
		}
		mark, detail := st.Dim("·"), "not yet"
		switch g.State {
		case "approved":
			mark, detail = st.Green("✓"), "approved"
		case "drifted":
			mark, detail = st.Red("!"), "changed since it was approved"
		}
		if g.Channel != "" {
			detail += " by " + schemas.ChannelText(g.Channel)
		}
		switch {
		case g.Waits && g.Gate == "implementation": // it calls nobody
			detail = "goes on until you approve it: `writ approve`"
		case g.Waits:
			v.Next = "" // is the user's, as this line says
			mark, detail = st.Yellow("●"), client.JoinNonEmpty(", ", strings.TrimSuffix(detail, "not yet"), "waits for you: `writ approve` shows it")
		case len(g.Problems) > 0:
			detail = "cannot be approved yet: " + client.Printable(strings.Join(g.Problems, "; "))
		}
		a.Printf("  %s %-14s %s\n", mark, g.Gate, detail)
	}
	if v.Next != "" {
		a.Printf("  %s %s\n", st.Bold("next:"), v.Next)
	}
}
