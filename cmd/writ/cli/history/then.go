package history

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/enforcement/session/statediff"
	"github.com/writbus/writ/observer/replay"
	"github.com/writbus/writ/schemas"
)

func (a *app) diffCommand() *cobra.Command {
	var between string
	c := &cobra.Command{
		Use: "diff [SESSION] [B]", Short: "Show what changed in a session between two moments",
		Long: `Folds a session's events up to A and up to B, and shows what is not the same, and
which events lie between. A and B are times (RFC 3339, a date, or how long ago,
such as 15m) or sequences of records, as writ session replay shows them. Without B
it is the session as it stands now.`,
		Example: `  writ diff 5e2c… --between 812 840
  writ diff 5e2c… --between 1h
  writ diff --between 2026-11-21T09:00:00Z 2026-11-21T10:00:00Z --json`,
		Args: cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if between == "" {
				return client.Usage("diff: it needs --between A [B]", "`writ diff --help` shows how to use it.")
			}
			session, until := a.diffArguments(args)
			return a.diffBetween(cmd.Context(), session, between, until)
		},
	}
	c.Flags().StringVar(&between, "between", "", "the first `moment`; the second follows it")
	return c
}

// diffBetween shows what changed in a session from one moment to another.
func (a *app) diffBetween(ctx context.Context, session, since, until string) error {
	from, err := a.ThenOf("diff", since)
	if err != nil {
		return err
	}
	to, err := a.ThenOf("diff", until)
	if err != nil {
		return err
	}
	return a.diff(ctx, session, from, to)
}

// diffArguments tells the session from the second moment: one argument alone is
// the moment where it can be read as one.
func (a *app) diffArguments(args []string) (session, until string) {
	switch len(args) {
	case 2:
		return args[0], args[1]
	case 1:
		if _, err := a.ThenOf("diff", args[0]); err == nil {
			return "", args[0]
		}
		return args[0], ""
	}
	return "", ""
}

// difference is what writ diff --json prints.
type difference struct {
	Session string             `json:"session"`
	From    sessionThen        `json:"from"`
	To      sessionThen        `json:"to"`
	Changes []statediff.Change `json:"changes"`
	Events  map[string]int     `json:"events"` // between, by type
}

type sessionThen struct {
	Seq   uint64          `json:"seq,omitempty"` // absent for the session as it stands
	AsOf  time.Time       `json:"as_of,omitzero"`
	State json.RawMessage `json:"state"`
}

func (a *app) diff(ctx context.Context, id string, from, to client.Then) error {
	const what = "diff"
	session, err := a.ResolveSession(ctx, what, id)
	if err != nil {
		return err
	}
	s, err := a.Open(ctx, client.RoleAdmin)
	if err != nil {
		return client.Explain(what, err)
	}
	defer s.Close()
	var views [2]schemas.SessionView
	for i, at := range []client.Then{from, to} {
		if views[i], err = client.Call[schemas.SessionView](ctx, s, schemas.SvcSession, at.Query(session)); err != nil {
			return client.Explain(what, err)
		}
	}
	d := difference{Session: session, Events: map[string]int{}}
	d.From = sessionThen{views[0].Seq, views[0].AsOf, views[0].State}
	d.To = sessionThen{views[1].Seq, views[1].AsOf, views[1].State}
	if d.To.Seq != 0 && d.From.Seq > d.To.Seq {
		return client.Usage(fmt.Sprintf("diff: A is later (record %d) than B (record %d)", d.From.Seq, d.To.Seq), "Give the earlier moment first.")
	}
	if d.Changes, err = statediff.Between(d.From.State, d.To.State); err != nil {
		return client.Explain(what, err)
	}
	events, err := between(ctx, s, session, d.From.Seq, d.To.Seq)
	if err != nil {
		return client.Explain(what, err)
	}
	for _, e := range events {
		d.Events[string(e.Type)]++
	}
	return a.Print(d, func() { a.showDifference(d, views, events) })
}

// between reads the events after one record up to another, 0 for the end.
func between(ctx context.Context, s client.Service, session string, after, last uint64) (all []schemas.ReplayEvent, err error) {
	for e, err := range replay.Merged(ctx, pagesOf(s), schemas.ReplayRequest{Stream: schemas.StreamSessions, Session: session, After: after}) {
		if err != nil || last != 0 && e.Position.Seq > last {
			return all, err
		}
		all = append(all, e)
	}
	return all, nil
}

func (a *app) showDifference(d difference, views [2]schemas.SessionView, events []schemas.ReplayEvent) {
	st := a.Env.Style(a.Out)
	until := cmp.Or(client.AsOf(views[1]), "now")
	a.Printf("%s\n  %s %s\n  %s %s\n", st.Dim("session "+d.Session), st.Dim("from"), strings.TrimPrefix(client.AsOf(views[0]), "as of "), st.Dim("to  "), strings.TrimPrefix(until, "as of "))
	if len(d.Changes) == 0 {
		a.Printf("Nothing changed.\n")
	}
	width := 0
	for _, c := range d.Changes {
		width = max(width, len(c.Field))
	}
	for _, c := range d.Changes {
		name := st.Bold(fmt.Sprintf("%-*s", width, c.Field))
		if len(c.Added)+len(c.Removed) == 0 {
			a.Printf("%s  %s → %s\n", name, st.Red(client.Dash(client.Shorten(client.OneLine(c.Was), 60))), st.Green(client.Dash(client.Shorten(client.OneLine(c.Is), 60))))
		}
		for _, text := range c.Removed {
			a.Printf("%s  %s\n", name, st.Red("- "+client.Shorten(client.OneLine(text), 120)))
		}
		for _, text := range c.Added {
			a.Printf("%s  %s\n", name, st.Green("+ "+client.Shorten(client.OneLine(text), 120)))
		}
	}
	if len(events) > 0 {
		a.Printf("\n%s\n", client.Plural(len(events), "event between", "events between"))
		for _, e := range events {
			_ = a.showEvent(e, false) // it prints lines and encodes nothing
		}
	}
}
