package cli

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

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
			s, _, err := a.reach(cmd.Context(), roleHook)
			if err != nil {
				return explain("status", err)
			}
			defer s.Close()
			status, err := call[schemas.Status](cmd.Context(), s, schemas.SvcStatus, struct{}{})
			if err != nil {
				return explain("status", err)
			}
			if a.json {
				return a.printJSON(status)
			}
			a.showStatus(status)
			return nil
		},
	}
}

func (a *app) showStatus(s schemas.Status) {
	st := a.env.style(a.out)
	a.printf("%s %s  process %d, up %s, at %s\n", st.bold("writd"), s.Version, s.PID, age(a.env.Now().Sub(s.Started)), s.URL)
	where := s.DataDir
	if s.External {
		where += "; the log is on an external NATS"
	}
	var events, bytes uint64
	for _, stream := range s.Streams {
		events += stream.Messages
		bytes += stream.Bytes
	}
	row := func(name, value string) { a.printf("  %s %s\n", st.dim(fmt.Sprintf("%-12s", name)), value) }
	row("data", where)
	row("log", fmt.Sprintf("%s events, %s, durability %s", thousands(events), size(bytes), s.Durability))
	row("rules", fmt.Sprintf("%s, embedder %s", thousands(uint64(s.Rules)), s.Embedder))
	row("sessions", plural(s.Sessions, "live session", "live sessions"))
	if s.Metrics != "" {
		row("metrics", s.Metrics)
	}
	row("gate", fmt.Sprintf("fails %s; confinement: %s", s.FailMode, s.Confine))
	row("observing", observing(s))
	if s.Memory > 0 {
		row("memory", size(s.Memory))
	}
	a.printf("\n")
	table := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "  stream\tmessages\tlast\tsize")
	for _, stream := range s.Streams {
		fmt.Fprintf(table, "  %s\t%s\t%d\t%s\n", stream.Name, thousands(stream.Messages), stream.Last, size(stream.Bytes))
	}
	_ = table.Flush()
	a.printf("\n")
	fmt.Fprintln(table, "  view\tstate\tbehind")
	for _, v := range s.Views {
		fmt.Fprintf(table, "  %s\t%s\t%d%s\n", v.Name, v.State, v.Lag, viewRemark(v))
	}
	_ = table.Flush()
	for _, w := range s.Warnings {
		a.printf("%s %s\n", st.yellow("warning:"), w)
	}
}

// observing says who judges what has no annotation, and how the model fares.
func observing(s schemas.Status) string {
	text := "classifier " + s.Classifier
	if m := s.Model; m != nil {
		text += fmt.Sprintf("; model %s (%s), breaker %s", m.Name, m.API, m.Breaker)
		if m.Last != "" {
			text += ": " + oneLine(m.Last)
		}
	}
	return text
}

func viewRemark(v schemas.ViewStatus) string {
	var remarks []string
	if v.Quarantined > 0 {
		remarks = append(remarks, plural(v.Quarantined, "event in quarantine", "events in quarantine"))
	}
	if v.Error != "" {
		remarks = append(remarks, oneLine(v.Error))
	}
	if len(remarks) == 0 {
		return ""
	}
	return "  " + strings.Join(remarks, "; ")
}

// size is a number of bytes for people, in binary units.
func size(n uint64) string {
	if n < 1<<10 {
		return fmt.Sprintf("%d B", n)
	}
	value, unit := float64(n), ""
	for _, u := range []string{"KiB", "MiB", "GiB", "TiB"} {
		value, unit = value/1024, u
		if value < 1024 {
			break
		}
	}
	return fmt.Sprintf("%.1f %s", value, unit)
}

// age is a duration for people, to its largest unit and the next.
func age(d time.Duration) string {
	switch {
	case d < time.Second:
		return "under a second"
	case d < time.Minute:
		return d.Truncate(time.Second).String()
	case d < time.Hour:
		return fmt.Sprintf("%dm%ds", int(d.Minutes()), int(d.Seconds())%60)
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh%dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%dd%dh", int(d.Hours())/24, int(d.Hours())%24)
}
