package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/writbus/writ/schemas"
)

// then is a place in the past, as people write it: a record's sequence or a
// time. The zero then is now.
type then struct {
	seq  uint64
	time time.Time
}

// thenOf reads a sequence, or what moment reads.
func (a *app) thenOf(what, text string) (t then, err error) {
	text = strings.TrimSpace(text)
	if text == "" || text == "now" {
		return t, nil
	}
	if seq, err := strconv.ParseUint(text, 10, 64); err == nil {
		if seq == 0 {
			return t, usage(what+": records are numbered from 1", "`writ session replay` shows the numbers.")
		}
		return then{seq: seq}, nil
	}
	t.time, err = a.moment(what, text)
	return t, err
}

func (t then) query(session string) schemas.SessionQuery {
	return schemas.SessionQuery{Session: session, At: t.seq, Moment: t.time}
}

// asOf says which past a view shows, "" for the present.
func asOf(v schemas.SessionView) string {
	if v.Seq == 0 {
		return ""
	}
	return fmt.Sprintf("as of record %d, %s", v.Seq, v.AsOf.Local().Format("2006-01-02 15:04:05"))
}

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
			const what = "diff"
			if between == "" {
				return usage("diff: it needs --between A [B]", "`writ diff --help` shows how to use it.")
			}
			session, until := a.diffArguments(args)
			from, err := a.thenOf(what, between)
			if err != nil {
				return err
			}
			to, err := a.thenOf(what, until)
			if err != nil {
				return err
			}
			return a.diff(cmd.Context(), session, from, to)
		},
	}
	c.Flags().StringVar(&between, "between", "", "the first `moment`; the second follows it")
	return c
}

// diffArguments tells the session from the second moment: one argument alone is
// the moment where it can be read as one.
func (a *app) diffArguments(args []string) (session, until string) {
	switch len(args) {
	case 2:
		return args[0], args[1]
	case 1:
		if _, err := a.thenOf("diff", args[0]); err == nil {
			return "", args[0]
		}
		return args[0], ""
	}
	return "", ""
}

// difference is what writ diff --json prints.
type difference struct {
	Session string         `json:"session"`
	From    sessionThen    `json:"from"`
	To      sessionThen    `json:"to"`
	Changes []stateChange  `json:"changes"`
	Events  map[string]int `json:"events"` // between, by type
}

type sessionThen struct {
	Seq   uint64          `json:"seq,omitempty"` // absent for now
	AsOf  time.Time       `json:"as_of,omitzero"`
	State json.RawMessage `json:"state"`
}

// stateChange is one field of the folded state that is not the same.
type stateChange struct {
	Field   string   `json:"field"` // path in the state, "work.gates.plan.channel"
	Was     string   `json:"was,omitempty"`
	Is      string   `json:"is,omitempty"`
	Added   []string `json:"added,omitempty"` // of a list
	Removed []string `json:"removed,omitempty"`
}

func (a *app) diff(ctx context.Context, id string, from, to then) error {
	const what = "diff"
	session, err := a.resolveSession(ctx, what, id)
	if err != nil {
		return err
	}
	s, err := a.open(ctx, roleAdmin)
	if err != nil {
		return explain(what, err)
	}
	defer s.Close()
	var views [2]schemas.SessionView
	for i, at := range []then{from, to} {
		if views[i], err = call[schemas.SessionView](ctx, s, schemas.SvcSession, at.query(session)); err != nil {
			return explain(what, err)
		}
	}
	d := difference{Session: session, Events: map[string]int{}}
	d.From = sessionThen{views[0].Seq, views[0].AsOf, views[0].State}
	d.To = sessionThen{views[1].Seq, views[1].AsOf, views[1].State}
	if d.To.Seq != 0 && d.From.Seq > d.To.Seq {
		return usage(fmt.Sprintf("diff: A is later (record %d) than B (record %d)", d.From.Seq, d.To.Seq), "Give the earlier moment first.")
	}
	if d.Changes, err = stateChanges(d.From.State, d.To.State); err != nil {
		return explain(what, err)
	}
	events, err := between(ctx, s, session, d.From.Seq, d.To.Seq)
	if err != nil {
		return explain(what, err)
	}
	for _, e := range events {
		d.Events[string(e.Type)]++
	}
	if a.json {
		return a.printJSON(d)
	}
	a.showDifference(d, views, events)
	return nil
}

// between reads the events after one record up to another, 0 for the end.
func between(ctx context.Context, s Service, session string, after, last uint64) (all []schemas.ReplayEvent, err error) {
	c := cursor{service: s, request: schemas.ReplayRequest{Stream: schemas.StreamSessions, Session: session, After: after}}
	for {
		e, err := c.head(ctx)
		if err != nil || e == nil || last != 0 && e.Position.Seq > last {
			return all, err
		}
		all = append(all, *e)
		c.page = c.page[1:]
	}
}

func (a *app) showDifference(d difference, views [2]schemas.SessionView, events []schemas.ReplayEvent) {
	st := a.env.style(a.out)
	until := asOf(views[1])
	if until == "" {
		until = "now"
	}
	a.printf("%s\n  %s %s\n  %s %s\n", st.dim("session "+d.Session), st.dim("from"), strings.TrimPrefix(asOf(views[0]), "as of "), st.dim("to  "), strings.TrimPrefix(until, "as of "))
	if len(d.Changes) == 0 {
		a.printf("Nothing changed.\n")
	}
	width := 0
	for _, c := range d.Changes {
		width = max(width, len(c.Field))
	}
	for _, c := range d.Changes {
		name := st.bold(fmt.Sprintf("%-*s", width, c.Field))
		if len(c.Added)+len(c.Removed) == 0 {
			a.printf("%s  %s → %s\n", name, st.red(dash(shorten(oneLine(c.Was), 60))), st.green(dash(shorten(oneLine(c.Is), 60))))
		}
		for _, text := range c.Removed {
			a.printf("%s  %s\n", name, st.red("- "+shorten(oneLine(text), 120)))
		}
		for _, text := range c.Added {
			a.printf("%s  %s\n", name, st.green("+ "+shorten(oneLine(text), 120)))
		}
	}
	if len(events) > 0 {
		a.printf("\n%s\n", plural(len(events), "event between", "events between"))
		for _, e := range events {
			_ = a.showEvent(e, false) // it prints lines and encodes nothing
		}
	}
}

// stateChanges compares two folded states field by field.
func stateChanges(was, is json.RawMessage) ([]stateChange, error) {
	var a, b any
	if err := json.Unmarshal(was, &a); err != nil {
		return nil, fmt.Errorf("the state before: %w", err)
	}
	if err := json.Unmarshal(is, &b); err != nil {
		return nil, fmt.Errorf("the state after: %w", err)
	}
	changes := []stateChange{}
	compareFields("", a, b, &changes)
	return changes, nil
}

func compareFields(path string, was, is any, into *[]stateChange) {
	wasMap, wasIs := was.(map[string]any)
	isMap, isIs := is.(map[string]any)
	if (wasIs || was == nil) && (isIs || is == nil) && (wasIs || isIs) {
		names := slices.Sorted(maps.Keys(wasMap))
		for name := range isMap {
			if _, also := wasMap[name]; !also {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		for _, name := range names {
			at := name
			if path != "" {
				at = path + "." + name
			}
			compareFields(at, wasMap[name], isMap[name], into)
		}
		return
	}
	wasList, wasMany := was.([]any)
	isList, isMany := is.([]any)
	if (wasMany || was == nil) && (isMany || is == nil) && (wasMany || isMany) {
		added, removed := listChanges(textsOf(wasList), textsOf(isList))
		if len(added)+len(removed) > 0 {
			*into = append(*into, stateChange{Field: path, Added: added, Removed: removed})
		}
		return
	}
	if before, after := textOf(was), textOf(is); before != after {
		*into = append(*into, stateChange{Field: path, Was: before, Is: after})
	}
}

// listChanges compares lists as multisets: what a state lists is sorted, or in
// the order of its events.
func listChanges(was, is []string) (added, removed []string) {
	count := map[string]int{}
	for _, text := range was {
		count[text]++
	}
	for _, text := range is {
		if count[text] > 0 {
			count[text]--
			continue
		}
		added = append(added, text)
	}
	for _, text := range was {
		if count[text] > 0 {
			count[text]--
			removed = append(removed, text)
		}
	}
	return added, removed
}

func textsOf(list []any) (texts []string) {
	for _, one := range list {
		texts = append(texts, textOf(one))
	}
	return texts
}

// textOf is a value as text: a string as it is, anything else as JSON.
func textOf(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	raw, err := marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(raw)
}
