package lifecycle

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/schemas"
)

func (a *app) statusCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show the daemon's health: its log, views and rules",
		Example: `  writ status
  writ status --json | jq .streams`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, _, err := a.Reach(cmd.Context(), client.RoleHook)
			if err != nil {
				return client.Explain("status", err)
			}
			defer s.Close()
			status, err := client.Call[schemas.Status](cmd.Context(), s, schemas.SvcStatus, struct{}{})
			if err != nil {
				return client.Explain("status", err)
			}
			return a.Print(status, func() { a.showStatus(status) })
		},
	}
}

func (a *app) showStatus(s schemas.Status) {
	st := a.Env.Style(a.Out)
	a.Printf("%s %s  process %d, up %s, at %s\n", st.Bold("writd"), s.Version, s.PID, client.Age(a.Env.Now().Sub(s.Started)), s.URL)
	where := fmt.Sprintf("%s, format %d", s.DataDir, s.Format)
	if s.External {
		where += "; the log is on an external NATS"
	}
	var events, bytes, archived uint64
	for _, stream := range s.Streams {
		events += stream.Messages
		bytes += stream.Bytes
		archived += stream.Archived
	}
	row := func(name, value string) { a.Printf("  %s %s\n", st.Dim(fmt.Sprintf("%-12s", name)), value) }
	row("data", where)
	row("log", fmt.Sprintf("%s events, %s, durability %s", client.Thousands(events), client.Size(bytes), s.Durability))
	if archived > 0 {
		row("archive", client.Thousands(archived)+" of the events")
	}
	if s.Scrub != nil {
		row("read again", scrubText(s.Scrub, a.Env.Now()))
	}
	row("rules", rulesText(s))
	row("sessions", fmt.Sprintf("%d live, %d idle, %d ended; %s for you", s.Counts.Live, s.Counts.Idle, s.Counts.Ended, client.Plural(s.Counts.Waiting, "waits", "wait")))
	if s.Metrics != "" {
		row("metrics", s.Metrics)
	}
	row("gate", fmt.Sprintf("fails %s; confinement: %s", s.FailMode, s.Confine))
	row("observing", observing(s))
	if s.Memory > 0 {
		row("memory", client.Size(s.Memory))
	}
	a.Printf("\n")
	_ = client.Table(a.Client, "  stream\tmessages\tlast\tsize", s.Streams, func(stream schemas.StreamStatus) string {
		return fmt.Sprintf("  %s\t%s\t%d\t%s", stream.Name, client.Thousands(stream.Messages), stream.Last, client.Size(stream.Bytes))
	})
	a.Printf("\n")
	_ = client.Table(a.Client, "  view\tstate\tbehind", s.Views, func(v schemas.ViewStatus) string {
		return fmt.Sprintf("  %s\t%s\t%d%s", v.Name, v.State, v.Lag, viewRemark(v))
	})
	for _, w := range s.Warnings {
		a.Printf("%s %s\n", st.Yellow("warning:"), w)
	}
}

// rulesText says what is in force, and what finds it by meaning.
func rulesText(s schemas.Status) string {
	embedder, _, _ := strings.Cut(s.Embedder, "@") // what follows names its weights
	return fmt.Sprintf("%s in force and %s, found by %s", client.Plural(s.Rules-s.Nodes, "rule", "rules"), client.Plural(s.Nodes, "other node", "other nodes"), embedder)
}

// scrubText says how far the log was read to find damage.
func scrubText(s *schemas.ScrubStatus, now time.Time) string {
	text := "not yet as a whole"
	if !s.Ended.IsZero() {
		text = "all of it, " + client.Age(now.Sub(s.Ended)) + " ago"
	}
	if s.Stream != "" {
		text += fmt.Sprintf("; reading %s, file %d", s.Stream, s.Block)
	}
	if s.Damaged > 0 {
		text += "; " + client.Plural(int(s.Damaged), "record", "records") + " cannot be read" //nolint:gosec // a count
	}
	return text
}

// observing says who judges what has no annotation, and how the model fares.
func observing(s schemas.Status) string {
	text := "classifier " + s.Classifier
	if m := s.Model; m != nil {
		text += fmt.Sprintf("; model %s (%s), breaker %s", m.Name, m.API, m.Breaker)
		if m.Last != "" {
			text += ": " + client.OneLine(m.Last)
		}
	}
	return text
}

func viewRemark(v schemas.ViewStatus) string {
	var remarks []string
	if text := v.Progress(); text != "" {
		remarks = append(remarks, text)
	}
	if v.Quarantined > 0 {
		remarks = append(remarks, client.Plural(v.Quarantined, "event in quarantine", "events in quarantine"))
	}
	if v.Error != "" {
		remarks = append(remarks, client.OneLine(v.Error))
	}
	if len(remarks) == 0 {
		return ""
	}
	return "  " + strings.Join(remarks, "; ")
}
