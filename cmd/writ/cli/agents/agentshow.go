package agents

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/observer/agent/scanner"
	"github.com/writbus/writ/observer/agent/vocabulary"
	"github.com/writbus/writ/schemas"
)

func (a *app) agentListCommand() *cobra.Command {
	var q schemas.AgentQuery
	c := &cobra.Command{
		Use: "list", Short: "List runs, the latest first",
		Example: "  writ agent list\n  writ agent list --agent reviewer --json | jq -r .run",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if q.Workspace != "" {
				q.Workspace = a.Env.Absolute(q.Workspace)
			}
			return client.AskThen(cmd.Context(), a.Client, client.RoleAdmin, "agent list", schemas.SvcAgentList, q, func(list schemas.AgentList) error { return a.showRuns(list.Runs) })
		},
	}
	c.Flags().StringVar(&q.Agent, "agent", "", "only runs of the agent of this name")
	c.Flags().StringVar(&q.Workspace, "workspace", "", "only runs in this folder")
	c.Flags().IntVar(&q.Limit, "limit", 50, "most runs to list")
	return c
}

func (a *app) showRuns(runs []schemas.AgentSummary) error {
	const none = "No run yet. `writ agent run --agent FILE MESSAGE` starts one."
	return client.Rows(a.Client, runs, none, "run\tlast seen\tagent\toutcome\tcalls\tcommands\tdenied\tmessage", func(r schemas.AgentSummary) string {
		return fmt.Sprintf("%s\t%s ago\t%s\t%s\t%d\t%d\t%d\t%s", r.Run, client.Age(a.Env.Now().Sub(r.Last)), r.Agent, cmp.Or(r.Outcome, "at work"), r.Calls, r.Commands, r.Denied,
			client.Shorten(client.OneLine(r.Message), 50))
	})
}

func (a *app) agentShowCommand() *cobra.Command {
	return &cobra.Command{
		Use: "show RUN", Short: "Show a run as a conversation",
		Example: "  writ agent show 0190c2…\n  writ agent show 0190c2… --json | jq .events",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return ShowRun(cmd.Context(), a.Client, "agent show", args[0])
		},
	}
}

func (a *app) agentStopCommand() *cobra.Command {
	return &cobra.Command{
		Use: "stop RUN", Short: "Stop a run that is at work",
		Example: "  writ agent stop 0190c2…",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, err := client.Ask[struct{}](cmd.Context(), a.Client, client.RoleAdmin, "agent stop", schemas.SvcAgentStop, schemas.AgentQuery{Run: args[0]})
			return err
		},
	}
}

// ShowRun shows a run as a conversation.
func ShowRun(ctx context.Context, in *client.Client, what, run string) error {
	a := &app{in}
	return client.Show(ctx, a.Client, client.RoleAdmin, what, schemas.SvcAgentShow, schemas.AgentQuery{Run: run}, func(view schemas.AgentView) {
		c := &conversation{app: a, st: a.Env.Style(a.Out), terminal: client.IsTerminal(a.Out), results: map[string]schemas.CommandFinished{}}
		for _, e := range view.Events {
			if e.Type == (schemas.CommandFinished{}).EventType() {
				var f schemas.CommandFinished
				if json.Unmarshal(e.Data, &f) == nil {
					c.results[f.CommandID] = f
				}
			}
		}
		for _, e := range view.Events {
			c.event(e)
		}
	})
}

// conversation prints the events of a run as people talk.
type conversation struct {
	app      *app
	st       client.Style
	terminal bool // the output is one
	agent    string
	results  map[string]schemas.CommandFinished
}

// shown keeps what an agent or a page wrote from steering a terminal.
func (c *conversation) shown(text string) string {
	if c.terminal {
		return client.PrintableLines(text)
	}
	return text
}

func (c *conversation) event(e schemas.ReplayEvent) {
	payload, err := schemas.DecodePayload(e.Type, max(e.Type.Version(), 1), e.Data)
	if err != nil {
		c.app.Printf("%s\n", c.st.Red(fmt.Sprintf("%s cannot be read: %v", e.Type, err)))
		return
	}
	switch p := payload.(type) {
	case schemas.AgentStarted:
		c.started(e.Time, p)
	case schemas.AgentMessaged:
		c.heading(e.Time, firstNonEmpty(p.From, "user"), "")
		c.text(p.Message)
	case schemas.AgentReplied:
		c.heading(e.Time, c.agent, client.JoinNonEmpty(", ", p.Model, client.Plural(p.OutputTokens, "token", "tokens")))
		c.replied(p)
	case schemas.CommandDispatched:
		c.dispatched(p)
	case schemas.CommandDenied:
		c.line(c.st.Red(c.shown("✗ /" + client.JoinNonEmpty(" ", p.Verb, p.Args))))
		c.detail(p.Reason)
	case schemas.DiagnosticReported:
		c.line(c.st.Yellow(c.shown("! " + firstNonEmpty(p.Note, p.Kind))))
	case schemas.AdviceGiven:
		c.line(c.st.Yellow(c.shown("advisor: " + client.JoinNonEmpty(" ", p.Verdict, p.Text))))
	case schemas.ArtifactKept:
		c.line(c.st.Dim(c.shown(fmt.Sprintf("kept as #%s: %s (%s)", p.ArtifactID, client.JoinNonEmpty(", ", p.Name, p.MIME), client.Size(uint64(p.Size))))))
	case schemas.AgentFinished:
		took := (time.Duration(p.Millis) * time.Millisecond).Round(100 * time.Millisecond)
		text := fmt.Sprintf("%s after %s, %s", client.JoinNonEmpty(": ", p.Outcome, p.Reason), client.Plural(p.Calls, "model call", "model calls"), took)
		if p.Outcome == "answered" {
			c.line(c.st.Green("✓ " + text))
		} else {
			c.line(c.st.Red("✗ " + text))
		}
	}
}

func firstNonEmpty(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

func (c *conversation) started(at time.Time, p schemas.AgentStarted) {
	c.agent = p.Agent
	by := "user"
	if len(p.Chain) > 0 {
		by = p.Chain[len(p.Chain)-1]
	}
	if p.Schedule != "" {
		by = "schedule " + p.Schedule
	}
	c.heading(at, by+" → "+p.Agent, client.JoinNonEmpty(", ", p.Trigger, p.Workspace))
	if p.Parent != "" {
		c.line(c.st.Dim("called in run " + p.Parent))
	}
	c.text(p.Message)
}

func (c *conversation) heading(at time.Time, who, note string) {
	c.app.Printf("\n%s %s\n", c.st.Bold(who), c.st.Dim(client.JoinNonEmpty("  ", at.Local().Format("2006-01-02 15:04:05"), note)))
}

func (c *conversation) line(text string) { c.app.Printf("  %s\n", text) }

func (c *conversation) text(text string) {
	for line := range strings.Lines(strings.TrimRight(c.shown(text), "\n")) {
		c.app.Printf("  %s\n", strings.TrimRight(line, "\r\n"))
	}
}

func (c *conversation) detail(text string) {
	for line := range strings.Lines(strings.TrimRight(c.shown(text), "\n")) {
		c.app.Printf("      %s\n", c.st.Dim(strings.TrimRight(line, "\r\n")))
	}
}

// replied shows the visible text of a response; its commands follow as they ran.
func (c *conversation) replied(p schemas.AgentReplied) {
	visible := &visibleText{}
	s := scanner.New(vocabulary.Table(), visible)
	_, _ = s.Write([]byte(p.Text))
	_ = s.Close()
	c.text(visible.String())
	if p.Problem != "" {
		c.line(c.st.Red("the response broke off: " + p.Problem))
	}
}

// visibleText is a Sink that keeps the prose.
type visibleText struct{ strings.Builder }

func (v *visibleText) Prose(text []byte)           { v.Write(text) }
func (*visibleText) Command(scanner.Command)       {}
func (*visibleText) Diagnostic(scanner.Diagnostic) {}

func (c *conversation) dispatched(p schemas.CommandDispatched) {
	command := "/" + client.JoinNonEmpty(" ", p.Verb, p.Args)
	if p.BodyBytes > 0 {
		command += fmt.Sprintf(" (%s)", client.Plural(p.BodyBytes, "byte", "bytes"))
	}
	r, ended := c.results[p.CommandID]
	note := "no result"
	if ended {
		note = firstNonEmpty(r.Outcome, "failed")
		if exit := r.Details["exit"]; exit != "" && exit != "0" {
			note = "exit " + exit
		}
		if r.Millis > 0 {
			note += fmt.Sprintf(", %s", time.Duration(r.Millis)*time.Millisecond)
		}
		if r.Reused {
			note += ", used again"
		}
		if r.Trust != "" {
			note += ", untrusted: " + r.Trust
		}
	}
	if p.Confirmed {
		note += ", confirmed"
	}
	c.line(c.st.Cyan(c.shown("▸ "+command)) + " " + c.st.Dim("("+note+")"))
	c.detail(shortenLines(r.Result, shownLines))
}

// shownLines is how much of a result a conversation shows; --json has all.
const shownLines = 12

func shortenLines(text string, most int) string {
	lines := strings.SplitAfter(text, "\n")
	if len(lines) <= most {
		return text
	}
	return strings.Join(lines[:most], "") + fmt.Sprintf("… %d more lines", len(lines)-most)
}
