package history

import (
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/writ/cli/agents"
	"github.com/writbus/writ/cmd/writ/cli/client"
)

// latestEvents are shown where nothing says how many.
const latestEvents = 50

func (a *app) logCommand(more ...*cobra.Command) *cobra.Command {
	var f replayFlags
	var follow, diff bool
	c := &cobra.Command{
		Use:   "log",
		Short: "Show what happened: one session, one rule, all of it, or as it comes",
		Long: `Shows the latest events of the log, or those of a stretch of it, in order: one
stream, or all of them merged by time. Times are RFC 3339, a date, or how long ago
(15m, 24h). Of one stream or session, --since and --until also take the sequences
of records; the record at --until is the last.

With --follow it goes on as events come. With --diff it shows what became of a
session's state from --since to --until. With --speed a stretch happens again, so
many times as fast as it did.`,
		Example: `  writ log
  writ log --follow --type tool.decided
  writ log --session 5e2c…
  writ log --session 5e2c… --diff --since 812 --until 840
  writ log --rule ENF-GATE-PLAN --since 24h
  writ log --since 15m --speed 10
  writ log --limit 0 --json > log.jsonl`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			changed := cmd.Flags().Changed
			whole, err := sessionOf(cmd, a, f)
			if err != nil {
				return err
			}
			f.session = whole
			switch {
			case follow && diff:
				return client.Usage("log: --follow and --diff exclude each other", "")
			case f.run != "":
				return agents.ShowRun(cmd.Context(), a.Client, "log", f.run)
			case follow:
				ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
				defer stop()
				return a.watch(ctx, f)
			case diff && f.since == "":
				return client.Usage("log: --diff needs --since", "`writ log --help` shows how to use it.")
			case diff:
				return a.diffBetween(cmd.Context(), f.session, f.since, f.until)
			}
			if f.latest = changed("limit") || f == (replayFlags{limit: f.limit, maxPause: f.maxPause, stream: f.stream, eventType: f.eventType, data: f.data}); !f.latest {
				f.limit = 0
			}
			return a.replay(cmd.Context(), "log", f)
		},
	}
	flags := c.Flags()
	f.rangeFlags(flags)
	f.onlyFlags(flags)
	flags.StringVar(&f.run, "run", "", "this run of an agent, as a conversation")
	flags.IntVar(&f.limit, "limit", latestEvents, "at most so many, the latest; 0 is all (default of a stretch, a session or a rule: all)")
	flags.BoolVarP(&follow, "follow", "f", false, "show events as they happen, until Ctrl-C")
	flags.BoolVar(&diff, "diff", false, "show what changed in the session, not its events")
	c.AddCommand(append([]*cobra.Command{a.emitCommand(), a.viewCommand(), exports{a}.command()}, more...)...)
	return c
}

// sessionOf is the whole id of the session that is asked for, "" for all.
func sessionOf(cmd *cobra.Command, a *app, f replayFlags) (string, error) {
	if f.session == "" {
		return "", nil
	}
	return a.ResolveSession(cmd.Context(), "log", f.session)
}

// findCommand looks for a text in what events say.
func (a *app) findCommand() *cobra.Command {
	var f replayFlags
	c := &cobra.Command{
		Use: "find TEXT", Args: cobra.MinimumNArgs(1),
		RunE: client.Only(a.NotAgents, func(cmd *cobra.Command, args []string) error {
			f.text, f.latest = strings.Join(args, " "), true
			whole, err := sessionOf(cmd, a, f)
			if err != nil {
				return err
			}
			f.session = whole
			return a.replay(cmd.Context(), "find", f)
		}),
	}
	f.rangeFlags(c.Flags())
	f.onlyFlags(c.Flags())
	c.Flags().IntVar(&f.limit, "limit", 10, "at most so many, the latest")
	return c
}
